"""The official MCP SDK of the 2.x line: asks for the newest revision, and takes an older one where there is none."""

import asyncio
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from person import MCP_URL, REDIRECT_URI, Person, check_photos


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


async def main():
    person, storage = Person(), Storage()
    redirected = []

    async def send_to(url):
        redirected.append(await asyncio.to_thread(person.allow, url))

    async def came_back():
        query = parse_qs(urlsplit(redirected[-1]).query)
        return AuthorizationCodeResult(**{name: query[name][0] for name in ("code", "state", "iss")})

    metadata = OAuthClientMetadata(
        client_name="An app with the MCP SDK",
        redirect_uris=[REDIRECT_URI],
        token_endpoint_auth_method="none",
    )
    provider = OAuthClientProvider(MCP_URL, metadata, storage, send_to, came_back)
    async with (
        httpx2.AsyncClient(auth=provider) as http,
        Client(streamable_http_client(MCP_URL, http_client=http), mode="auto") as client,
    ):

        async def call():
            result = await client.call_tool("list_images", {"limit": 1})
            assert not result.is_error, result
            await asyncio.to_thread(check_photos, result.content[0].text)

        print("connected with revision", client.protocol_version)
        assert "get_info" in [tool.name for tool in (await client.list_tools()).tools]
        await call()

        # An hour later, as far as the client knows, it refreshes by itself and asks nobody.
        first = storage.tokens
        provider.context.token_expiry_time = 1
        await call()
        assert storage.tokens.access_token != first.access_token
        assert storage.tokens.refresh_token != first.refresh_token
        assert person.consents == 1

        # It has no revocation of its own. After one, it asks its user again.
        endpoint = str(provider.context.oauth_metadata.revocation_endpoint)
        revoked = await asyncio.to_thread(httpx2.post, endpoint, data={"token": storage.tokens.refresh_token})
        assert revoked.status_code == 200, revoked.text
        registered = storage.client.client_id
        await call()
        assert person.consents == 2
        assert storage.client.client_id == registered, "the registration outlives the grant"


asyncio.run(main())
