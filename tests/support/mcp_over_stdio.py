"""Run as a script: the MCP server over this process's streams, with services that answer each op's example."""

from loom_core.server.mcp_stdio import serve
from loom_core.settings import Settings
from tests.support.fake_services import FakeServices

if __name__ == "__main__":
    serve(Settings(), FakeServices())
