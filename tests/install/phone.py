"""What Nextcloud's app for Android sends: sign-in by login flow v2, then an upload, and one in parts."""

import niquests

from checking import Log
from client import Person
from sign_in import device_password

AGENT = "Mozilla/5.0 (Android) Nextcloud-android/3.34.0"
TIMEOUT_S = 120
#: Bytes of a part.
PART = 10_240_000
#: The properties that the app asks for (`WebdavUtils.getAllPropSet`), those that it reads after an upload.
PROPERTIES = """<?xml version="1.0" encoding="UTF-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/>
<D:getcontentlength/><D:getlastmodified/><D:getetag/><D:quota-available-bytes/><X1:permissions xmlns:X1="http://owncloud.org/ns"/>
<X2:id xmlns:X2="http://owncloud.org/ns"/><X3:size xmlns:X3="http://owncloud.org/ns"/></D:prop></D:propfind>"""
MODIFIED = {"X-OC-Mtime": "1700000000"}


class Phone:
    """A device that is connected to a person's library."""

    def __init__(self, log: Log, person: Person):
        self._log, self.url = log, person.machines.url
        self.user, password = device_password(self.url, person.email, person.password, AGENT)
        self._session = niquests.Session()
        self._session.auth = (self.user, password)
        self._session.headers["User-Agent"] = AGENT

    def expect(self, status: int, method: str, path: str, **options) -> niquests.Response:
        """Sends a request that must have a response with this status."""
        answer = self._session.request(method, f"{self.url}{path}", timeout=TIMEOUT_S, **options)
        self._log.write(f"{method} {path}: {answer.status_code}")
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer


def upload_from_phone(log: Log, person: Person, contents: list[bytes]):
    """Uploads the first photo in one request, and the second in parts."""
    whole, divided = contents
    phone = Phone(log, person)
    files, uploads = f"/remote.php/dav/files/{phone.user}", f"/remote.php/dav/uploads/{phone.user}/0123abcd"
    assert phone.expect(200, "GET", "/status.php").json()["installed"]
    phone.expect(200, "GET", "/ocs/v2.php/cloud/user?format=json", headers={"OCS-APIRequest": "true"})
    phone.expect(200, "GET", "/ocs/v2.php/cloud/capabilities?format=json", headers={"OCS-APIRequest": "true"})
    phone.expect(207, "PROPFIND", f"{files}/", headers={"Depth": "1"}, data=PROPERTIES)
    phone.expect(404, "HEAD", f"{files}/Camera")
    phone.expect(201, "MKCOL", f"{files}/Camera")
    phone.expect(404, "HEAD", f"{files}/Camera/IMG_1.jpg")
    length = {"OC-Total-Length": str(len(whole))}
    answer = phone.expect(201, "PUT", f"{files}/Camera/IMG_1.jpg", headers=MODIFIED | length, data=whole)
    assert answer.headers["oc-fileid"] and answer.headers["x-oc-mtime"] == "accepted", answer.headers
    found = phone.expect(207, "PROPFIND", f"{files}/Camera/IMG_1.jpg", headers={"Depth": "0"}, data=PROPERTIES)
    assert f"<oc:size>{len(whole)}</oc:size>" in found.text, found.text

    phone.expect(201, "MKCOL", uploads)
    for number, start in enumerate(range(0, len(divided), PART), start=1):
        phone.expect(201, "PUT", f"{uploads}/{number:06}", data=divided[start : start + PART])
    to = {"Destination": f"{phone.url}{files}/Camera/IMG_2.jpg"}
    phone.expect(201, "MOVE", f"{uploads}/.file", headers=MODIFIED | to)
    found = phone.expect(200, "HEAD", f"{files}/Camera/IMG_2.jpg")
    assert found.headers["content-length"] == str(len(divided)), found.headers
