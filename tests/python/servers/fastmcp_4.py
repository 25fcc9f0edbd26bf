"""A server of FastMCP's 4.x line with its default settings, except that it lists two tools per page: `fastmcp_4.py PORT`."""

import sys

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

from greeter_tools import add_tools

server = FastMCP("greeter", list_page_size=2)
add_tools(server, Context, ToolError)
server.run("http", port=int(sys.argv[1]), show_banner=False)
