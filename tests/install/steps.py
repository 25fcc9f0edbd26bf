"""What several checks do with the installed library."""

import niquests

from checking import Log, wait_until
from world import guest, installed, owner

API = "/api/ext/v2"


def images(path: str = "images", **query) -> list[dict]:
    """The records that the API returns."""
    answer = owner().browser.request("GET", f"{API}/{path}", params={"limit": 100} | query, headers=owner().bearer)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def library_size() -> int:
    """The number of photos in the library."""
    answer = owner().browser.request("GET", f"{API}/library", headers=owner().bearer)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]["totalImages"]


def load_renditions(image_id: str) -> list[bytes]:
    """Loads all renditions of a photo by their signed URLs."""
    answer = owner().browser.request("GET", f"{API}/images/{image_id}", headers=owner().bearer)
    assert answer.status_code == 200, answer.text
    image = answer.json()["result"]
    assert image["renditions"], image
    loaded = [owner().browser.request("GET", url) for url in image["renditions"].values()]
    for rendition in loaded:
        assert (rendition.status_code, rendition.headers["content-type"]) == (200, "image/webp"), rendition.text
        assert rendition.content[:4] == b"RIFF" and rendition.content[8:12] == b"WEBP", image["fileName"]
    return [rendition.content for rendition in loaded]


def wait_until_ready():
    """Waits until the service answers. After a start of the machine, ssh works before the proxy does."""
    wait_until(is_ready, "the service is not ready")


def is_ready() -> bool:
    try:
        return owner().browser.request("GET", "/readyz").status_code == 200
    except niquests.RequestException:
        return False


def doctor(log: Log):
    """Checks that the server finds no problem with its installation."""
    report = guest().json(log, "photo-library doctor --json")
    problems = [finding for finding in report["findings"] if finding["verdict"] != "ok"]
    assert report["ok"] and not problems, problems


def is_running(log: Log):
    """Checks that the service runs, and that systemd never had to restart it."""
    state = guest().show(log, "ActiveState", "SubState", "NRestarts", "Result")
    assert state == {"ActiveState": "active", "SubState": "running", "NRestarts": "0", "Result": "success"}, state


def journal(log: Log) -> str:
    """The service's messages since its last start."""
    invocation = guest().show(log, "InvocationID")["InvocationID"]
    return guest().run(log, f"journalctl --no-pager -o cat _SYSTEMD_INVOCATION_ID={invocation}")
