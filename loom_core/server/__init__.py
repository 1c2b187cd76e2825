"""The surface: one table of ops, served over HTTP and MCP."""
