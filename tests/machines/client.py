"""A person's browser and apps, whose every request goes to another replica than the one before."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import niquests

import photos
from checking import wait_until
from forms import Form

if TYPE_CHECKING:
    from machines import Machines, Replica

TIMEOUT_S = 120
#: Nothing listens there: the checks read the code from the redirect.
REDIRECT_URI = "http://127.0.0.1:33417/callback"
MAX_PAGES = 6
#: Images of one page of the API.
PAGE = 7


class Client:
    """Keeps cookies. Replicas differ in their port only, and cookies do not depend on it."""

    def __init__(self, machines: Machines):
        self._machines, self._base, self._replicas = machines, machines.url, itertools.cycle(machines.replicas)
        self._session = niquests.Session()

    def request(self, method: str, path: str, at: Replica | None = None, **options) -> niquests.Response:
        """Sends a request to this replica, otherwise to the next. `path` may be a URL of the service."""
        url = urljoin((at or next(self._replicas)).url, path.removeprefix(self._base))
        return self._session.request(method, url, allow_redirects=False, timeout=TIMEOUT_S, **options)

    def copy(self) -> Client:
        """Another client with the same cookies."""
        copy = Client(self._machines)
        copy._session.cookies.update(self._session.cookies)
        return copy

    def submit(
        self,
        path: str,
        page: niquests.Response,
        at: Replica | None = None,
        action: str | None = None,
        **fields: str,
    ) -> niquests.Response:
        """Sends the first form of a page, or its first one with this action."""
        assert page.status_code == 200, f"{path}: {page.status_code} {page.text}"
        form = Form(page.text, action)
        assert form.method == "post", f"{path} has the form: {page.text}"
        return self.request("POST", urljoin(path, form.action), at, data=form.fields | fields)


class Person:
    """An account, its API key and its browser."""

    def __init__(self, machines: Machines, name: str):
        self.machines, self.email, self.password = machines, f"{name}@example.org", secrets.token_hex(12)
        self.create()
        self.key = machines.command("key", "create", self.email, "--name", "tests").split()[-1]
        self.browser = Client(machines)

    def create(self):
        self.machines.command("account", "create", self.email, "--password-stdin", stdin=f"{self.password}\n")

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def sign_in(self, browser: Client, password: str | None = None, at: Replica | None = None) -> niquests.Response:
        page = browser.request("GET", "/sign-in", at)
        return browser.submit("/sign-in", page, at, email=self.email, password=password or self.password)

    def api(self, method: str, path: str, at: Replica | None = None, **options) -> niquests.Response:
        return self.browser.request(method, f"/api/ext/v2/{path}", at, headers=self.bearer, **options)

    def sync(self, method: str, path: str, at: Replica | None = None, **options) -> niquests.Response:
        return self.browser.request(method, path, at, auth=(self.email, self.key), **options)

    def upload(self, name: str, content: bytes, at: Replica | None = None) -> niquests.Response:
        return self.sync("PUT", f"/dav/{name}", at, data=content)

    def upload_photos(self, numbers: range, at: Replica | None = None, prefix: str = ""):
        for number in numbers:
            answer = self.upload(f"{prefix}{number}.jpg", photos.photo(number), at)
            assert answer.status_code == 201, answer.text

    def wait_until_indexed(self, count: int):
        wait_until(lambda: len(self.images("ready")) == count, f"{count} photos of {self.email} are not indexed")

    def image_ids(self, at: Replica | None = None) -> list[str]:
        """The ids of all images, by the pages of the API."""
        ids, end = [], {}
        while True:
            answer = self.api("GET", "images", at, params={"limit": PAGE} | end)
            assert answer.status_code == 200, answer.text
            images = answer.json()["results"]
            new = [image["id"] for image in images if image["id"] not in ids[-1:]]
            ids += new
            if not new:
                return ids
            end = {"endDate": images[-1]["capturedAt"]}

    def images(self, state: str) -> list[str]:
        """The SHA-256 of each visible image in this state, sorted."""
        query = """SELECT original FROM images JOIN accounts ON accounts.id = account_id
            WHERE email = %s AND images.deleted_at_ms IS NULL AND state = %s"""
        rows = self.machines.postgres.rows(query, self.email, state)
        return sorted(original.hex() for (original,) in rows)


class App:
    """An OAuth client of a person."""

    def __init__(self, person: Person):
        self._person, self._client = person, Client(person.machines)
        self._resource = f"{person.machines.url}/api/mcp/v1"
        registration = {"client_name": "Test client", "redirect_uris": [REDIRECT_URI]}
        answer = self._client.request("POST", "/api/oauth/register", json=registration)
        assert answer.status_code == 201, answer.text
        self._id = answer.json()["client_id"]
        self._verifier = secrets.token_urlsafe(48)

    def connect(self) -> dict[str, str]:
        """Signs in, consents and redeems the code. Returns the token response."""
        answer = self.redeem(self.code())
        assert answer.status_code == 200, answer.text
        return answer.json()

    def code(self) -> str:
        """Opens the authorization page in the browser, and submits each form until there is a code."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self._verifier.encode()).digest()).rstrip(b"=")
        parameters = {
            "response_type": "code",
            "client_id": self._id,
            "redirect_uri": REDIRECT_URI,
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
            "resource": self._resource,
        }
        path, browser = f"/api/oauth/authorize?{urlencode(parameters)}", self._person.browser
        for _ in range(MAX_PAGES):
            page = browser.request("GET", path)
            if page.status_code == 200:
                is_sign_in = "password" in Form(page.text).fields
                answers = {"email": self._person.email, "password": self._person.password} if is_sign_in else {"decision": "allow"}
                page = browser.submit(path, page, **answers)
            assert page.status_code == 303, f"{path}: {page.status_code} {page.text}"
            path = urljoin(path, page.headers["location"])
            if path.startswith(REDIRECT_URI):
                return parse_qs(urlsplit(path).query)["code"][0]
        raise AssertionError(f"no code: {path}")

    def redeem(self, code: str, at: Replica | None = None) -> niquests.Response:
        grant = {"grant_type": "authorization_code", "code": code, "code_verifier": self._verifier, "redirect_uri": REDIRECT_URI}
        return self._token(grant, at)

    def refresh(self, token: str, at: Replica | None = None) -> niquests.Response:
        return self._token({"grant_type": "refresh_token", "refresh_token": token}, at)

    def _token(self, grant: dict[str, str], at: Replica | None) -> niquests.Response:
        return Client(self._person.machines).request("POST", "/api/oauth/token", at, data=grant | {"client_id": self._id})

    def revoke(self, token: str, at: Replica):
        answer = self._client.request("POST", "/api/oauth/revoke", at, data={"token": token})
        assert answer.status_code == 200, answer.text

    def status(self, access_token: str, at: Replica | None = None) -> int:
        """The status of a request with this access token."""
        return list_tools(self._client, access_token, at).status_code


def list_tools(client: Client, token: str, at: Replica | None = None) -> niquests.Response:
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2025-11-25",
    }
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    return client.request("POST", "/api/mcp/v1", at, data=message, headers=headers)
