"""Authlib, with each client authentication method that the server announces."""

import httpx2
from authlib.common.security import generate_token
from authlib.integrations.httpx_client import OAuth2Client, OAuthError
from authlib.oauth2 import rfc8414, rfc9207

import oauth_resource
from person import REDIRECT_URI, TIMEOUT_S, Person


def refuses_refresh(client: OAuth2Client, token: str) -> bool:
    """Whether the server answers `invalid_grant`; any other error is raised."""
    try:
        client.refresh_token(refresh_token=token)
    except OAuthError as error:
        assert error.error == "invalid_grant", error
        return True
    return False


# Authlib leaves discovery and registration to the app.
plain = httpx2.Client(timeout=TIMEOUT_S)
challenge = oauth_resource.use(plain).headers["www-authenticate"]
resource = plain.get(challenge.split('resource_metadata="')[1].split('"')[0]).json()
issuer = resource["authorization_servers"][0]
server = rfc8414.AuthorizationServerMetadata(plain.get(rfc8414.get_well_known_url(issuer, external=True)).json())
assert server.issuer == issuer
# Authlib requires https, which a service on this machine lacks, so the scheme is replaced. Authlib checks everything else.
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
        server["authorization_endpoint"], code_verifier=verifier, resource=resource["resource"]
    )
    token = client.fetch_token(authorization_response=person.allow(url), state=state, code_verifier=verifier)
    oauth_resource.check(oauth_resource.use(client))

    # The client considers the token expired, so it refreshes before the call.
    client.token = {**token, "expires_at": 1}
    oauth_resource.check(oauth_resource.use(client))
    refreshed = client.token
    assert refreshed["access_token"] != token["access_token"]
    assert refreshed["refresh_token"] != token["refresh_token"]

    # A replaced token that is used again at once, as by a concurrent process, is refused, but the grant stays.
    assert refuses_refresh(client, token["refresh_token"])
    oauth_resource.check(oauth_resource.use(client))

    client.revoke_token(server["revocation_endpoint"], token=refreshed["refresh_token"]).raise_for_status()
    assert oauth_resource.use(client).status_code == 401
    assert refuses_refresh(client, refreshed["refresh_token"])
