"""A server of the official MCP SDK of the 2.x line, with its default settings: `mcp_2.py PORT`."""

import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from greeter_tools import add_tools

server = MCPServer("greeter")
add_tools(server, Context, ToolError)
server.run("streamable-http", port=int(sys.argv[1]))
