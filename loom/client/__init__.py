"""The async client: one method per op, over HTTP. It imports nothing of the server."""
