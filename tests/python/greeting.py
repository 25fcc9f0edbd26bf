"""The steps of every client with the example server of `mcp-wire`, as `../node/lib/greeter.mjs`."""

import json
import os

#: The only address that a client gets.
GREETER_URL = os.environ["GREETER_URL"]
NEWEST = "2026-07-28"
#: The modes of the clients, and the revision that each leads to.
MODES = {"auto": NEWEST, NEWEST: NEWEST, "legacy": "2025-11-25"}


async def use_greeter(tools, call, error):
    """Checks the listed tools, calls the tool, and makes mistakes.

    `call(name, arguments)` returns the client's result of `tools/call`, or raises `error` for a JSON-RPC error.
    """
    [greet] = tools
    assert greet.name == "greet", greet
    assert (greet.input_schema["required"], greet.output_schema["required"]) == (["name"], ["text"]), greet

    greeted = await call("greet", {"name": "Ada"})
    assert greeted.structured_content == {"text": "Hello, Ada!"}, greeted
    assert json.loads(greeted.content[0].text) == greeted.structured_content, greeted

    for arguments, message in [({}, "name: is required"), ({"name": 1}, "name: ")]:
        refused = await call("greet", arguments)
        assert refused.is_error and refused.content[0].text.startswith(message), refused
    try:
        await call("leave", {})
    except error as refusal:
        assert refusal.error.code == -32602, refusal
    else:
        raise AssertionError("an unknown tool has a result")
