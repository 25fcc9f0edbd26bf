"""The tools that every server in `servers` has, for the client of `mcp-wire`."""

from mcp.shared.message import ServerMessageMetadata
from mcp_types import EmptyResult, PingRequest


def add_tools(server, Context, ToolError):
    """Adds the tools to a server, with the types that its library has for the context and the failure of a tool."""

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
        # Sends the request in the stream of this call. The client has not opened another stream.
        related = ServerMessageMetadata(related_request_id=ctx.request_id)
        await ctx.session.send_request(PingRequest(), EmptyResult, metadata=related)
        return "The client replied."
