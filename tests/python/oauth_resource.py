"""The resource that an OAuth client uses, as `../node/lib/resource.mjs`."""

import os

import httpx2

#: An example service of `oauth-core`, if that is tested.
EXAMPLE_URL = os.environ.get("EXAMPLE_URL")


def use(client: httpx2.Client) -> httpx2.Response:
    """Sends a request to the resource. Authlib only knows OAuth, so a tool is called without an MCP client."""
    if EXAMPLE_URL:
        return client.get(EXAMPLE_URL)
    from photo_library import MCP_URL

    params = {"name": "list_images", "arguments": {"limit": 1}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accept = "application/json, text/event-stream"
    return client.post(MCP_URL, json=message, headers={"accept": accept, "mcp-protocol-version": "2025-11-25"})


def check(answer: httpx2.Response):
    """Checks the response to a request with a valid token."""
    assert answer.status_code == 200, answer.text
    if EXAMPLE_URL:
        assert answer.text == "the photos of user 1", answer.text
    else:
        from photo_library import check_photos

        check_photos(answer.json()["result"]["content"][0]["text"])
