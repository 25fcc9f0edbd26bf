"""A server of the official MCP SDK of the 2.x line, with its default settings: `mcp_2.py PORT`.

It has the tools that every server in this folder has, for the client of `mcp-wire`.
"""

import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import EmptyResult, PingRequest

server = MCPServer("greeter")


@server.tool()
def greet(name: str) -> str:
    """Greets a person."""
    return f"Hello, {name}!"


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, and reports each number as progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to)
    return f"Counted to {to}."


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ToolError("It failed on purpose.")


@server.tool()
async def ping(ctx: Context) -> str:
    """Waits for the client's reply to a ping."""
    # In the stream of this call, and not in one that the client would have to open.
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    await ctx.session.send_request(PingRequest(), EmptyResult, metadata=related)
    return "The client replied."


server.run("streamable-http", port=int(sys.argv[1]))
