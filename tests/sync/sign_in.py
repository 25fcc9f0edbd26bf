"""A user who connects a device: login flow v2 of Nextcloud's apps, with the pages opened over HTTP."""

from urllib.parse import urljoin

import niquests

from forms import Form

TIMEOUT_S = 120
#: Upper bound on pages of a sign-in; more mean a loop.
MAX_PAGES = 6


def device_password(url: str, email: str, password: str, device: str) -> tuple[str, str]:
    """Connects a device, and returns its user name and its sync password."""
    started = niquests.post(f"{url}/index.php/login/v2", headers={"User-Agent": device}, timeout=TIMEOUT_S)
    assert started.status_code == 200, f"login flow: {started.status_code} {started.text}"
    flow = started.json()
    confirm(flow["login"], email, password)
    polled = niquests.post(flow["poll"]["endpoint"], data={"token": flow["poll"]["token"]}, timeout=TIMEOUT_S)
    assert polled.status_code == 200, f"poll: {polled.status_code} {polled.text}"
    answer = polled.json()
    assert answer["server"] == url, answer
    return answer["loginName"], answer["appPassword"]


def confirm(login_url: str, email: str, password: str):
    """Opens the page of a login flow, signs in and confirms the device."""
    browser = niquests.Session()
    page = browser.get(login_url, timeout=TIMEOUT_S)
    for _ in range(MAX_PAGES):
        assert page.status_code == 200, f"{page.url} shows {page.status_code}: {page.text}"
        form = Form(page.text)
        if "password" in form.fields:
            form.fields |= {"email": email, "password": password}
        else:
            assert ("decision", "allow") in form.buttons, f"{page.url} asks for a decision: {page.text}"
            form.fields["decision"] = "allow"
        page = browser.post(urljoin(str(page.url), form.action), data=form.fields, timeout=TIMEOUT_S)
        if "password" not in form.fields:
            assert page.status_code == 200, f"{page.url} shows {page.status_code}: {page.text}"
            return
    raise AssertionError(f"{login_url} leads to no confirmation")
