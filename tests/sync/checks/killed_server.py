"""A server that is killed at random moments of a sync loses nothing, once the client has tried again."""

import os
import random
import time
from pathlib import Path

import photos
from checking import Log, check
from checks.rclone_tool import Rclone
from service import FOLDER, Account, Service

PHOTOS = 300
KILLS = 50 if os.environ.get("PHOTOS_TEST_FULL") == "1" else 5
FIRST_PHOTO = 60_000
PADDING = 20_000
#: Range of the time from the start of the server or of rclone to the kill, in seconds.
MOMENTS = (0.05, 1.5)
#: Spreads the transfer over about five seconds.
BANDWIDTH = "1500k"
#: Fixed, so that a failure can be repeated if the timing is similar.
SEED = 20_261_123
#: Upper bound on runs of rclone after the last kill. Each run tries every file once more.
MAX_RUNS = 10


@check
def killed_server_loses_nothing(log: Log):
    """Kills the server while rclone syncs to it, and starts it again each time. The library then equals the source."""
    service = Service("killed")
    service.start()
    try:
        account = service.account("killed")
        source = FOLDER / "killed"
        photos.write_tree(source, PHOTOS, FIRST_PHOTO, PADDING)
        rclone = Rclone(account, "nextcloud")
        kill_during_syncs(log, service, rclone, source)
        sync_until_complete(log, rclone, source)
        compare(account, source)
        leaves_nothing(log, service)
    finally:
        service.stop()


def kill_during_syncs(log: Log, service: Service, rclone: Rclone, source: Path):
    """Kills the server `KILLS` times while rclone runs. rclone repeats failed requests, so it goes on after a kill."""
    moments = random.Random(SEED)
    running, kills = rclone.start(log, "sync", source, "--bwlimit", BANDWIDTH), 0
    while kills < KILLS:
        delay = moments.uniform(*MOMENTS)
        time.sleep(delay)
        if running.poll() is None:
            log.write(f"kill {kills} after {delay:.3f} s")
            service.kill()
            service.start()
            kills += 1
        else:
            log.write(f"rclone exited with {running.poll()}")
            if running.poll() == 0:
                # All photos have arrived. Deletes them, so that they are sent again.
                rclone.run(log, "delete", "photos:", "--rmdirs")
            running = rclone.start(log, "sync", source, "--bwlimit", BANDWIDTH)
    running.wait()


def sync_until_complete(log: Log, rclone: Rclone, source: Path):
    """Repeats the sync until rclone reports no error, as a user would."""
    for _ in range(MAX_RUNS):
        if rclone.transfer(log, "sync", source, status=None)["errors"] == 0:
            return
    raise AssertionError(f"{MAX_RUNS} runs of rclone have failed")


def compare(account: Account, source: Path):
    """Checks that the library equals the source: no photo is missing, none is there twice, no file has other bytes."""
    local = photos.files(source)
    remote = account.files.files()
    assert {name: entry.size for name, entry in remote.items()} == {
        name: path.stat().st_size for name, path in local.items()
    }
    assert account.library() == sorted(photos.hashes(source))


def leaves_nothing(log: Log, service: Service):
    """Checks the stores: no staged file, no part of an upload, and nothing that `fsck` finds."""
    assert service.rows("SELECT count(*) FROM upload_parts") == [(0,)]
    staged = [path for path in (service.data_dir / "blobs" / "staging").rglob("*") if path.is_file()]
    assert not staged, staged
    service.stop()
    log.write(service.command("fsck"))
