"""What rclone does with a folder of photos, for any vendor."""

import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import photos
from checking import Log, wait_until
from checks.rclone_tool import Rclone, errors, kill
from service import FOLDER, shared

PHOTOS = 500
#: Enough that a transfer lasts until it is interrupted.
SLOW_PHOTOS = 24
SLOW_BYTES = 300_000


@dataclass
class Scenario:
    """A folder, the account that it is synced to, and rclone for one vendor."""

    vendor: str
    first_photo: int

    @cached_property
    def account(self):
        return shared().account(f"rclone-{self.vendor}")

    @cached_property
    def folder(self) -> Path:
        folder = FOLDER / f"rclone-{self.vendor}"
        photos.write_tree(folder, PHOTOS, self.first_photo)
        return folder

    @cached_property
    def rclone(self) -> Rclone:
        return Rclone(self.account, self.vendor)

    def is_complete(self):
        """Checks that the account has exactly the files of the folder, and an image for each."""
        local, remote = photos.files(self.folder), self.account.files.files()
        assert remote.keys() == local.keys(), f"differing names: {sorted(remote.keys() ^ local.keys())[:10]}"
        sizes = {name: path.stat().st_size for name, path in local.items()}
        assert {name: entry.size for name, entry in remote.items()} == sizes
        assert self.account.library() == sorted(photos.hashes(self.folder))

    def copy(self, log: Log):
        """Copies the folder to an empty account."""
        done = self.rclone.transfer(log, "copy", self.folder)
        assert (done["transfers"], done["errors"]) == (PHOTOS, 0), done
        self.is_complete()

    def nothing_is_transferred(self, log: Log):
        """Syncs an unchanged folder."""
        before = self.account.files.etag()
        done = self.rclone.transfer(log, "sync", self.folder)
        changes = [done[name] for name in ("transfers", "deletes", "renames", "errors")]
        assert changes == [0, 0, 0, 0], done
        assert self.account.files.etag() == before, "the second sync has changed a file"

    def changed_and_deleted(self, log: Log):
        """Syncs a folder after one photo was replaced and another deleted."""
        names = sorted(photos.files(self.folder))
        changed, deleted = self.folder / names[10], self.folder / names[20]
        photos.write(changed, photos.photo(self.first_photo + PHOTOS, padding=100), 1_700_000_000)
        deleted.unlink()
        done = self.rclone.transfer(log, "sync", self.folder)
        assert (done["transfers"], done["deletes"], done["errors"]) == (1, 1, 0), done
        self.is_complete()

    def moved(self, log: Log, *words):
        """Syncs a folder after a sub-folder was renamed: files are moved on the server and keep their identity."""
        before = {entry.file_id for entry in self.account.files.files().values()}
        old, new = self.folder / photos.FOLDERS[2], self.folder / "2019" / "Neuer Name ö"
        count = len(photos.files(old))
        shutil.move(old, new)
        done = self.rclone.transfer(log, "sync", self.folder, "--track-renames", *words)
        assert (done["renames"], done["transfers"], done["errors"]) == (count, 0, 0), done
        assert {entry.file_id for entry in self.account.files.files().values()} == before
        self.is_complete()

    def interrupted(self, log: Log):
        """Kills rclone in the middle of a transfer. The next run completes it."""
        more = self.folder / "interrupted"
        photos.write_tree(more, SLOW_PHOTOS, self.first_photo + PHOTOS + 1, padding=SLOW_BYTES)
        had = len(self.account.files.files())
        running = self.rclone.start(log, "sync", self.folder, "--bwlimit", "1500k", "--transfers", "2")
        wait_until(lambda: len(self.account.files.files()) >= had + 3, "rclone has not uploaded three photos")
        kill(running)
        partly = len(self.account.files.files())
        assert partly < had + SLOW_PHOTOS, "rclone ended before it was killed"
        # A request that was cut off has left nothing.
        sizes = {path.stat().st_size for path in photos.files(self.folder).values()}
        assert {entry.size for entry in self.account.files.files().values()} <= sizes
        self.rclone.transfer(log, "sync", self.folder)
        self.is_complete()

    def refused(self, log: Log):
        """Copies files that are no photos. Each is refused with a reason, and the others arrive."""
        other = FOLDER / f"rclone-{self.vendor}-refused"
        before = set(self.account.files.files())
        photos.write(other / "letter.txt", b"Dear Ann,\n" * 100, 1_600_000_000)
        photos.write(other / "clip.mp4", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + bytes(5000), 1_600_000_000)
        photos.write(other / "fake.jpg", b"<html>not a photo</html>" * 50, 1_600_000_000)
        photos.write(other / "photo.jpg", photos.photo(self.first_photo + PHOTOS + 100), 1_600_000_000)
        output = self.rclone.run(
            log, "copy", other, "photos:refused", "--use-json-log", "--retries", "1", status=None
        )
        reasons = errors(output)
        for name in ("letter.txt", "clip.mp4", "fake.jpg"):
            assert any(name in reason and "415" in reason for reason in reasons), f"{name} in {reasons}"
        assert set(self.account.files.files()) == before | {"refused/photo.jpg"}
        self.rclone.run(log, "purge", "photos:refused")
        self.is_complete()
