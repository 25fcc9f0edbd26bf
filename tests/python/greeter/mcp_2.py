"""The official MCP SDK of the 2.x line in each of its modes."""

import asyncio

from mcp import Client, MCPError

from greeting import GREETER_URL, MODES, use_greeter


async def main():
    for mode, revision in MODES.items():
        async with Client(GREETER_URL, mode=mode) as client:
            assert client.protocol_version == revision, client.protocol_version
            await use_greeter((await client.list_tools()).tools, client.call_tool, MCPError)


asyncio.run(main())
