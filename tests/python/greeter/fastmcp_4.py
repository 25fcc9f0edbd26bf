"""FastMCP's client of the 4.x line in each of its modes."""

import asyncio

from fastmcp import Client
from mcp import MCPError

from greeting import GREETER_URL, MODES, use_greeter


async def main():
    for mode, revision in MODES.items():
        async with Client(GREETER_URL, mode=mode) as client:

            async def call(name, arguments):
                return await client.call_tool(name, arguments, raise_on_error=False)

            assert client.protocol_version == revision, client.protocol_version
            await use_greeter(await client.list_tools(), call, MCPError)


asyncio.run(main())
