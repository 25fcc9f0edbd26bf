"""The Python package nc_py_api, a client of Nextcloud's API."""

from functools import cache
from io import BytesIO

import photos
from checking import Log, check
from nc_py_api import Nextcloud, NextcloudException
from service import Account, shared
from sign_in import confirm

FIRST_PHOTO = 30_000


@cache
def account() -> Account:
    return shared().account("nextcloud-api")


@cache
def client() -> Nextcloud:
    """The client, signed in by its own login flow."""
    service = account().service
    anonymous = Nextcloud(nextcloud_url=service.url)
    flow = anonymous.loginflow_v2.init(user_agent="nc_py_api")
    confirm(flow.login, account().email, account().password)
    given = anonymous.loginflow_v2.poll(flow.token, timeout=60)
    return Nextcloud(nextcloud_url=service.url, nc_auth_user=given.login_name, nc_auth_pass=given.app_password)


@check
def nextcloud_api_signs_in(log: Log):
    assert client().user == account().handle
    assert client().srv_version["major"] >= 32
    log.write(str(client().capabilities))


@check
def nextcloud_api_uploads(log: Log):
    content = photos.photo(FIRST_PHOTO)
    client().files.makedirs("a b/ö#1", exist_ok=True)
    made = client().files.upload("a b/ö#1/photo 1.jpg", content)
    log.write(str(made))
    found = client().files.by_path("a b/ö#1/photo 1.jpg")
    assert (found.info.size, found.info.mimetype) == (len(content), "image/jpeg"), found
    assert (found.file_id, found.etag) == (made.file_id, made.etag), (found, made)


@check
def nextcloud_api_uploads_in_chunks(log: Log):
    content = photos.photo(FIRST_PHOTO + 1, padding=12_000_000)
    made = client().files.upload_stream("large.jpg", BytesIO(content))
    assert client().files.by_path("large.jpg").info.size == len(content), made
    assert len(account().library()) == 2


@check
def nextcloud_api_lists(log: Log):
    assert {node.user_path for node in client().files.listdir()} == {"a b/", "large.jpg"}
    assert [node.user_path for node in client().files.listdir("a b")] == ["a b/ö#1/"]


@check
def nextcloud_api_moves_and_copies(log: Log):
    before = client().files.by_path("large.jpg")
    moved = client().files.move("large.jpg", "a b/moved.jpg")
    assert (moved.user_path, moved.info.fileid) == ("a b/moved.jpg", before.info.fileid), moved
    copied = client().files.copy("a b/moved.jpg", "copy.jpg")
    assert (copied.user_path, copied.info.size) == ("copy.jpg", before.info.size), copied
    assert len(account().library()) == 2, "a copy is the same image"


@check
def nextcloud_api_finds(log: Log):
    def find(*condition, path=""):
        found = client().files.find(list(condition), path=path)
        log.write(f"{condition} in {path!r}: {found}")
        return [node.user_path for node in found]

    photo = client().files.by_path("a b/ö#1/photo 1.jpg")
    assert client().files.by_id(photo).user_path == photo.user_path
    assert client().files.by_id(photo.info.fileid).etag == photo.etag
    assert client().files.by_id(0) is None
    everything = {"a b/moved.jpg", "a b/ö#1/photo 1.jpg", "copy.jpg"}
    assert set(find("like", "mime", "image/%")) == everything
    assert find("like", "name", "%PHOTO%", path="a b/ö#1") == [photo.user_path]
    assert find("and", "eq", "mime", "image/jpeg", "lt", "size", 12_000_000) == [photo.user_path]
    assert set(find("gte", "last_modified", photo.info.last_modified)) >= {photo.user_path}
    assert find("eq", "favorite", 1) == []
    assert find("eq", "name", "ö#1") == ["a b/ö#1/"]


@check
def nextcloud_api_deletes(log: Log):
    client().files.delete("a b/moved.jpg")
    assert len(account().library()) == 2, "the copy still holds the image"
    client().files.delete("copy.jpg")
    assert len(account().library()) == 1


@check
def nextcloud_api_is_refused_after_revocation(log: Log):
    client().ocs("DELETE", "/ocs/v2.php/core/apppassword")
    assert _status_of(lambda: client().files.listdir()) == 401


def _status_of(call) -> int:
    """The status with which the service refuses a call."""
    try:
        call()
    except NextcloudException as error:
        return error.status_code
    raise AssertionError("the call succeeded")
