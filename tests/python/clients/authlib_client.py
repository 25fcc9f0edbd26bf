"""Authlib, with each client authentication method that the server announces."""

import httpx2
from authlib.common.security import generate_token
from authlib.integrations.httpx_client import OAuth2Client, OAuthError
from authlib.oauth2 import rfc8414, rfc9207

from person import MCP_URL, REDIRECT_URI, TIMEOUT_S, Person, check_photos


def tool_call(client: httpx2.Client) -> httpx2.Response:
    """Calls a tool without an MCP client: Authlib only knows OAuth."""
    params = {"name": "list_images", "arguments": {"limit": 1}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accept = "application/json, text/event-stream"
    return client.post(MCP_URL, json=message, headers={"accept": accept, "mcp-protocol-version": "2025-11-25"})


def check(answer: httpx2.Response):
    assert answer.status_code == 200, answer.text
    check_photos(answer.json()["result"]["content"][0]["text"])


# Authlib leaves discovery and registration to the app.
plain = httpx2.Client(timeout=TIMEOUT_S)
challenge = tool_call(plain).headers["www-authenticate"]
resource = plain.get(challenge.split('resource_metadata="')[1].split('"')[0]).json()
issuer = resource["authorization_servers"][0]
server = rfc8414.AuthorizationServerMetadata(plain.get(rfc8414.get_well_known_url(issuer, external=True)).json())
assert server.issuer == issuer
# Authlib requires https, which a service on this machine lacks; everything else is checked.
https = rfc8414.AuthorizationServerMetadata(
    {name: value.replace("http:", "https:") if isinstance(value, str) else value for name, value in server.items()}
)
https.validate(metadata_classes=[rfc9207.AuthorizationServerMetadata])

person = Person()
for method in ("none", "client_secret_basic", "client_secret_post"):
    registration = {
        "client_name": f"Authlib with {method}",
        "redirect_uris": [REDIRECT_URI],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": method,
    }
    registered = plain.post(server["registration_endpoint"], json=registration)
    assert registered.status_code == 201, registered.text
    client = OAuth2Client(
        client_id=registered.json()["client_id"],
        client_secret=registered.json().get("client_secret"),
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method="none",
        scope=" ".join(resource["scopes_supported"]),
        redirect_uri=REDIRECT_URI,
        code_challenge_method="S256",
        timeout=TIMEOUT_S,
        token_endpoint=server["token_endpoint"],
    )
    verifier = generate_token(48)
    url, state = client.create_authorization_url(
        server["authorization_endpoint"], code_verifier=verifier, resource=MCP_URL
    )
    token = client.fetch_token(authorization_response=person.allow(url), state=state, code_verifier=verifier)
    check(tool_call(client))

    # The client takes the token for expired, so it refreshes before the call.
    client.token = {**token, "expires_at": 1}
    check(tool_call(client))
    refreshed = client.token
    assert refreshed["access_token"] != token["access_token"]
    assert refreshed["refresh_token"] != token["refresh_token"]

    client.revoke_token(server["revocation_endpoint"], token=refreshed["refresh_token"]).raise_for_status()
    assert tool_call(client).status_code == 401
    try:
        client.refresh_token()
    except OAuthError as error:
        assert error.error == "invalid_grant", error
    else:
        raise AssertionError("a revoked refresh token still works")
