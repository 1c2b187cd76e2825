"""The stores of a single machine: chDB behind ClickHouse's HTTP protocol, and a Redis-protocol server.

Nothing here knows what is stored. Only `engine` imports chDB: a process that forks after that import hangs.
"""
