"""The official MCP SDK of the 2.x line in each of its modes."""

import asyncio
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from person import REDIRECT_URI, TIMEOUT_S, Person
from photo_library import MCP_URL, STRUCTURED_URL, check_photos
from tools import GALLERY, check_gallery, check_tool_list, is_structured, use_prompts, use_tools

NEWEST = "2026-07-28"


class Storage(TokenStorage):
    """The app's store."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def use(url: str, mode: str, revision: str):
    person, storage = Person(), Storage()
    redirected = []

    async def open_browser(link):
        redirected.append(await asyncio.to_thread(person.allow, link))

    async def read_redirect():
        query = parse_qs(urlsplit(redirected[-1]).query)
        return AuthorizationCodeResult(**{name: query[name][0] for name in ("code", "state", "iss")})

    metadata = OAuthClientMetadata(
        client_name="An app with the MCP SDK",
        redirect_uris=[REDIRECT_URI],
        token_endpoint_auth_method="none",
    )
    provider = OAuthClientProvider(url, metadata, storage, open_browser, read_redirect)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=TIMEOUT_S) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):

        async def list_photos():
            result = await client.call_tool("list_images", {"limit": 1})
            assert not result.is_error, result
            await asyncio.to_thread(check_photos, result.content[0].text)

        assert client.protocol_version == revision, client.protocol_version
        check_tool_list((await client.list_tools()).tools, url)
        worked = await use_tools(client.call_tool, url)
        if is_structured(url):
            await check_validation(client)
        resources, page = await client.list_resources(), await client.read_resource(GALLERY)
        check_gallery(resources.resources, page.contents, url)
        await use_prompts((await client.list_prompts()).prompts, client.get_prompt)
        print(f"{url} in {client.protocol_version}, asked for {mode}: {worked} calls")

        # The client considers the token expired, so it refreshes without consent.
        first = storage.tokens
        provider.context.token_expiry_time = 1
        await list_photos()
        assert storage.tokens.access_token != first.access_token
        assert storage.tokens.refresh_token != first.refresh_token
        assert person.consents == 1

        # The client cannot revoke a grant. After a revocation, it asks for consent again.
        endpoint = str(provider.context.oauth_metadata.revocation_endpoint)
        token = storage.tokens.refresh_token
        revoked = await asyncio.to_thread(httpx2.post, endpoint, data={"token": token}, timeout=TIMEOUT_S)
        assert revoked.status_code == 200, revoked.text
        registered = storage.client.client_id
        await list_photos()
        assert person.consents == 2
        assert storage.client.client_id == registered, "the registration outlives the grant"


async def check_validation(client: Client):
    """The client validates results against the output schema and refuses an invalid one."""
    result = await client.call_tool("list_albums", {"limit": 1})
    result.structured_content["pagination"]["total"] = "many"
    try:
        await client.session.validate_tool_result("list_albums", result)
    except RuntimeError as error:
        assert "many" in str(error), error
    else:
        raise AssertionError("the client accepts invalid structured content")


async def main():
    await use(MCP_URL, "auto", NEWEST)
    await use(STRUCTURED_URL, "auto", NEWEST)
    await use(MCP_URL, "legacy", "2025-11-25")
    await use(STRUCTURED_URL, "legacy", "2025-11-25")
    await use(MCP_URL, NEWEST, NEWEST)


asyncio.run(main())
