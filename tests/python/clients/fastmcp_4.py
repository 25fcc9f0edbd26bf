"""FastMCP's client of the 4.x line with its own OAuth: it opens a browser and waits for the answer on a port of its own.

Only the browser is played, by the means that Python has for choosing one.
"""

import asyncio
import threading
import warnings
import webbrowser

import httpx2
from fastmcp import Client
from fastmcp.client.auth import OAuth

from person import MCP_URL, STRUCTURED_URL, Person, check_photos
from tools import GALLERY, check_gallery, check_tool_list, is_structured, use_tools

NEWEST = "2026-07-28"
# It keeps tokens in memory here, and says so each time.
warnings.filterwarnings("ignore", message="Using in-memory token storage")


class Browser(webbrowser.BaseBrowser):
    """A person at a browser, who is not waited for."""

    def __init__(self):
        super().__init__("person")
        self.person = Person()

    def open(self, url, new=0, autoraise=True):
        threading.Thread(target=self._follow, args=[url], daemon=True).start()
        return True

    def _follow(self, url):
        redirected = self.person.allow(url)
        # The client starts to listen when the browser is on its way.
        with httpx2.Client(transport=httpx2.HTTPTransport(retries=5)) as plain:
            plain.get(redirected).raise_for_status()


async def use(url: str, mode: str, revision: str):
    browser = Browser()
    webbrowser.register("person", None, browser, preferred=True)
    oauth = OAuth(callback_timeout=30)
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
            # It makes objects by the schema of what a tool gives.
            page = await call("list_albums", {"limit": 1})
            assert page.data.pagination.limit == 1, page
        check_gallery(await client.list_resources(), await client.read_resource(GALLERY), url)
        print(f"{url} in {client.protocol_version}, asked for {mode}: {worked} calls")

        # An hour later, as far as the client knows, it refreshes by itself and asks nobody.
        first = await oauth.token_storage_adapter.get_tokens()
        oauth.context.token_expiry_time = 1
        await list_photos()
        second = await oauth.token_storage_adapter.get_tokens()
        assert first.access_token != second.access_token
        assert first.refresh_token != second.refresh_token
        assert browser.person.consents == 1

        # It has no revocation of its own. After one, it asks its user again.
        endpoint = str(oauth.context.oauth_metadata.revocation_endpoint)
        revoked = await asyncio.to_thread(httpx2.post, endpoint, data={"token": second.refresh_token})
        assert revoked.status_code == 200, revoked.text
        await list_photos()
        assert browser.person.consents == 2


async def main():
    await use(MCP_URL, "auto", NEWEST)
    await use(STRUCTURED_URL, "auto", NEWEST)
    await use(MCP_URL, "legacy", "2025-11-25")


asyncio.run(main())
