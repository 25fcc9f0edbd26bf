"""rclone as with Nextcloud: modification times, SHA-1 checksums and uploads in chunks."""

import hashlib
from datetime import datetime

import photos
from checking import Log, check, wait_until
from checks.rclone_scenarios import PHOTOS, Scenario
from checks.rclone_tool import Rclone, kill
from documented import commands, with_values
from service import FOLDER, shared

SCENARIO = Scenario("nextcloud", first_photo=10_000)


@check
def rclone_nextcloud_copy(log: Log):
    SCENARIO.copy(log)


@check
def rclone_nextcloud_keeps_times_and_checksums(log: Log):
    local = photos.files(SCENARIO.folder)
    for entry in SCENARIO.rclone.listed(log):
        path = local.pop(entry["Path"])
        assert datetime.fromisoformat(entry["ModTime"]).timestamp() == path.stat().st_mtime, entry
        assert entry["Hashes"]["sha1"] == hashlib.sha1(path.read_bytes()).hexdigest(), entry
    assert not local


@check
def rclone_nextcloud_second_sync_changes_nothing(log: Log):
    SCENARIO.nothing_is_transferred(log)


@check
def rclone_nextcloud_check_finds_equal_hashes(log: Log):
    output = SCENARIO.rclone.run(log, "check", SCENARIO.folder, "photos:")
    assert "hash" not in output.lower(), output


@check
def rclone_nextcloud_change_and_delete(log: Log):
    SCENARIO.changed_and_deleted(log)


@check
def rclone_nextcloud_moved_folder(log: Log):
    SCENARIO.moved(log)


@check
def rclone_nextcloud_interrupted(log: Log):
    SCENARIO.interrupted(log)


@check
def rclone_nextcloud_refuses_other_files(log: Log):
    SCENARIO.refused(log)


@check
def rclone_nextcloud_chunks(log: Log):
    """Uploads large photos in many chunks, once interrupted by a kill."""
    chunked = Rclone(SCENARIO.account, "nextcloud", nextcloud_chunk_size="200Ki")
    photos.write_tree(SCENARIO.folder / "chunked", 4, SCENARIO.first_photo + 2 * PHOTOS, padding=3_000_000)
    running = chunked.start(log, "sync", SCENARIO.folder, "--bwlimit", "2M")
    wait_until(lambda: _parts() > 4, "no chunks have arrived")
    kill(running)
    done = chunked.transfer(log, "sync", SCENARIO.folder)
    assert done["errors"] == 0, done
    SCENARIO.is_complete()


@check
def rclone_set_up_of_the_manual_works(log: Log):
    """Runs the commands of `docs/sync.md` with an empty configuration."""
    account = shared().account("rclone-manual")
    folder = FOLDER / "rclone-manual"
    photos.write_tree(folder / "photos", 8, SCENARIO.first_photo + 3 * PHOTOS)
    examples = commands("rclone")
    assert len(examples) == 2, examples
    for example in examples:
        command = with_values(example, USER=account.handle, PASSWORD=account.sync_password)
        command = command.replace("{base URL}", account.service.url).replace("/path/to/photos", str(folder / "photos"))
        log.run("sh", "-c", command, RCLONE_CONFIG=str(folder / "rclone.conf"))
    assert account.files.files().keys() == photos.files(folder / "photos").keys()


def _parts() -> int:
    return SCENARIO.account.service.rows("SELECT count(*) FROM upload_parts")[0][0]
