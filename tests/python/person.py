"""A person who signs in and consents in a browser."""

import os
from urllib.parse import urljoin, urlsplit

import httpx2

from forms import Form

#: A redirect URI of an app on this machine. Nothing listens there: tests pass the redirect to the client themselves.
REDIRECT_URI = "http://127.0.0.1:33417/callback"
#: Ends a request to a server that hangs. Long enough for a busy machine: no verdict depends on speed.
TIMEOUT_S = 120
#: Upper bound on pages and redirects in a sign-in; more mean a loop.
MAX_STEPS = 10


class Person:
    """Opens pages, keeps cookies, follows redirects and submits forms with their hidden fields."""

    def __init__(self):
        self._browser = httpx2.Client(timeout=TIMEOUT_S)
        self.consents = 0

    def allow(self, authorization_url: str) -> str:
        """Signs in if needed, allows the request and returns the URL of the redirect to the app."""
        origin = urlsplit(authorization_url)[:2]
        page = self._browser.get(authorization_url)
        for _ in range(MAX_STEPS):
            if page.has_redirect_location:
                location = urljoin(str(page.url), page.headers["location"])
                if urlsplit(location)[:2] != origin:
                    return location
                page = self._browser.get(location)
            else:
                assert page.status_code == 200, f"{page.url} shows: {page.text}"
                page = self._submit(page)
        raise AssertionError(f"no redirect to the app from {authorization_url}")

    def _submit(self, page: httpx2.Response) -> httpx2.Response:
        form = Form(page.text)
        assert form.method == "post", f"{page.url} has a form to send: {page.text}"
        if "password" in form.fields:
            form.fields |= {"email": os.environ["EMAIL"], "password": os.environ["PASSWORD"]}
        else:
            # A form without a choice has one button.
            allowing = [button for button in form.buttons if len(form.buttons) == 1 or button[1] == "allow"]
            assert allowing, f"{page.url} asks for a decision: {page.text}"
            form.fields |= dict(allowing)
            self.consents += 1
        return self._browser.post(urljoin(str(page.url), form.action), data=form.fields)
