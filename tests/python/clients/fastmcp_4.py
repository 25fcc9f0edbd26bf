"""FastMCP's client of the 4.x line with its own OAuth: it opens a browser and waits for the redirect on a port.

The test replaces only the browser, through Python's `webbrowser`.
"""

import asyncio
import threading
import time
import warnings
import webbrowser

import httpx2
from fastmcp import Client
from fastmcp.client.auth import OAuth

from person import TIMEOUT_S, Person
from photo_library import MCP_URL, STRUCTURED_URL, check_photos
from tools import GALLERY, check_gallery, check_tool_list, is_structured, use_prompts, use_tools

NEWEST = "2026-07-28"
POLL_S = 0.05
# The library warns each time that it keeps tokens in memory.
warnings.filterwarnings("ignore", message="Using in-memory token storage")


class Browser(webbrowser.BaseBrowser):
    """Follows the link in a thread of its own, as a real browser does."""

    def __init__(self):
        super().__init__("person")
        self.person = Person()

    def open(self, url, new=0, autoraise=True):
        threading.Thread(target=self._follow, args=[url], daemon=True).start()
        return True

    def _follow(self, url):
        redirected = self.person.allow(url)
        # The client may start to listen only after it has opened the browser.
        while True:
            try:
                httpx2.get(redirected, timeout=TIMEOUT_S).raise_for_status()
                return
            except httpx2.ConnectError:
                time.sleep(POLL_S)


async def use(url: str, mode: str, revision: str):
    browser = Browser()
    webbrowser.register("person", None, browser, preferred=True)
    oauth = OAuth(callback_timeout=TIMEOUT_S)
    async with Client(url, auth=oauth, mode=mode) as client:

        async def call(name, arguments):
            return await client.call_tool(name, arguments, raise_on_error=False)

        async def list_photos():
            photos = await call("list_images", {"limit": 1})
            await asyncio.to_thread(check_photos, photos.content[0].text)

        assert client.protocol_version == revision, client.protocol_version
        check_tool_list(await client.list_tools(), url)
        worked = await use_tools(call, url)
        if is_structured(url):
            # The client builds objects from the output schema.
            page = await call("list_albums", {"limit": 1})
            assert page.data.pagination.limit == 1, page
        check_gallery(await client.list_resources(), await client.read_resource(GALLERY), url)
        await use_prompts(await client.list_prompts(), client.get_prompt)
        print(f"{url} in {client.protocol_version}, asked for {mode}: {worked} calls")

        # The client considers the token expired, so it refreshes without consent.
        first = await oauth.token_storage_adapter.get_tokens()
        oauth.context.token_expiry_time = 1
        await list_photos()
        second = await oauth.token_storage_adapter.get_tokens()
        assert first.access_token != second.access_token
        assert first.refresh_token != second.refresh_token
        assert browser.person.consents == 1

        # The client cannot revoke a grant. After a revocation, it asks for consent again.
        endpoint = str(oauth.context.oauth_metadata.revocation_endpoint)
        revoked = await asyncio.to_thread(httpx2.post, endpoint, data={"token": second.refresh_token}, timeout=TIMEOUT_S)
        assert revoked.status_code == 200, revoked.text
        await list_photos()
        assert browser.person.consents == 2


async def main():
    await use(MCP_URL, "auto", NEWEST)
    await use(STRUCTURED_URL, "auto", NEWEST)
    await use(MCP_URL, "legacy", "2025-11-25")


asyncio.run(main())
