"""Nextcloud's desktop client without a window: uploads of a folder to an account that was empty.

Its sync is two-way, and downloads are refused, so only the computer changes files here.
"""

from functools import cache

import photos
from checking import Log, check
from service import FOLDER, Account, shared

LOCAL = FOLDER / "nextcloudcmd"
FIRST_PHOTO = 20_000
#: Names that the client accepts on every system.
NAMES = [
    "Sommer/Straße 1.jpg",
    "Sommer/am See/b c.jpg",
    "Sommer/am See/50% #1 + ä&ö.jpg",
    "emoji 😀/1.jpg",
    "d.jpg",
]


@cache
def account() -> Account:
    return shared().account("nextcloudcmd")


def sync(log: Log) -> str:
    """Runs the client once. It keeps its database in the folder."""
    return log.run(
        "nextcloudcmd",
        *["--non-interactive", "--trust", "--max-sync-retries", "1"],
        *["--user", account().handle, "--password", account().sync_password, LOCAL, account().service.url],
        HOME=str(FOLDER),
        XDG_CONFIG_HOME=str(FOLDER / "nextcloudcmd-settings"),
        XDG_DATA_HOME=str(FOLDER / "nextcloudcmd-settings"),
        LC_ALL="C.UTF-8",
    )


def is_complete():
    """Checks that the account has exactly the files of the folder, and an image for each."""
    local, remote = photos.files(LOCAL), account().files.files()
    assert {name: entry.size for name, entry in remote.items()} == {
        name: path.stat().st_size for name, path in local.items()
    }
    assert account().library() == sorted(photos.hashes(LOCAL))


@check
def nextcloudcmd_first_upload(log: Log):
    for number, name in enumerate(NAMES, FIRST_PHOTO):
        photos.write(LOCAL / name, photos.photo(number), 1_600_000_000 + number)
    for number in range(FIRST_PHOTO + 100, FIRST_PHOTO + 160):
        photos.write(LOCAL / "many" / f"{number}.jpg", photos.photo(number), 1_600_000_000 + number)
    sync(log)
    is_complete()


@check
def nextcloudcmd_second_run_changes_nothing(log: Log):
    before = account().files.etag()
    sync(log)
    assert account().files.etag() == before
    is_complete()


@check
def nextcloudcmd_changed_file(log: Log):
    identity = account().files.files()["d.jpg"].file_id
    photos.write(LOCAL / "d.jpg", photos.photo(FIRST_PHOTO + 50, padding=50), 1_700_000_000)
    sync(log)
    is_complete()
    assert account().files.files()["d.jpg"].file_id == identity


@check
def nextcloudcmd_deleted_file(log: Log):
    (LOCAL / NAMES[1]).unlink()
    sync(log)
    is_complete()


@check
def nextcloudcmd_new_folder(log: Log):
    photos.write(LOCAL / "Herbst" / "neu" / "e.jpg", photos.photo(FIRST_PHOTO + 51), 1_700_000_001)
    (LOCAL / "leer").mkdir()
    sync(log)
    is_complete()
    assert account().files.entries()["leer"].is_folder


@check
def nextcloudcmd_renamed_file_and_folder(log: Log):
    before = account().files.files()
    (LOCAL / "Sommer").rename(LOCAL / "Winter")
    (LOCAL / "d.jpg").rename(LOCAL / "Herbst" / "ü.jpg")
    sync(log)
    is_complete()
    after = account().files.files()
    assert after["Herbst/ü.jpg"].file_id == before["d.jpg"].file_id
    assert after["Winter/Straße 1.jpg"].file_id == before["Sommer/Straße 1.jpg"].file_id


@check
def nextcloudcmd_large_file_in_chunks(log: Log):
    """The client sends files of more than 100 MiB in chunks."""
    photos.write(LOCAL / "large.jpg", photos.photo(FIRST_PHOTO + 52, padding=101 << 20), 1_700_000_002)
    sync(log)
    is_complete()
