"""rclone as with any WebDAV server: no modification times, no hashes."""

from checking import Log, check
from checks.rclone_scenarios import Scenario
from checks.rclone_tool import Rclone

SCENARIO = Scenario("other", first_photo=0)


@check
def rclone_plain_copy(log: Log):
    SCENARIO.copy(log)


@check
def rclone_plain_second_sync_changes_nothing(log: Log):
    SCENARIO.nothing_is_transferred(log)


@check
def rclone_plain_check_finds_equal_sizes(log: Log):
    SCENARIO.rclone.run(log, "check", SCENARIO.folder, "photos:", "--size-only")


@check
def rclone_plain_change_and_delete(log: Log):
    SCENARIO.changed_and_deleted(log)


@check
def rclone_plain_moved_folder(log: Log):
    # Without hashes and times, rclone recognises a moved file by its name and size.
    SCENARIO.moved(log, "--track-renames-strategy", "leaf")


@check
def rclone_plain_interrupted(log: Log):
    SCENARIO.interrupted(log)


@check
def rclone_plain_refuses_other_files(log: Log):
    SCENARIO.refused(log)


@check
def rclone_plain_reads_no_original(log: Log):
    name = SCENARIO.rclone.listed(log)[0]["Path"]
    output = SCENARIO.rclone.run(log, "cat", f"photos:{name}", "--retries", "1", status=None)
    assert "403" in output, output


@check
def rclone_plain_accepts_email_and_api_key(log: Log):
    account = SCENARIO.account
    by_email = Rclone(account, "other", user=account.email)
    by_key = Rclone(account, "other", password=account.key)
    assert len(by_email.listed(log)) == len(by_key.listed(log)) == len(SCENARIO.rclone.listed(log))


@check
def rclone_plain_refuses_account_password(log: Log):
    refused = Rclone(SCENARIO.account, "other", password=SCENARIO.account.password)
    output = refused.run(log, "lsjson", "photos:", "--retries", "1", status=None)
    assert "401" in output, output
