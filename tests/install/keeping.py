"""Photos, accounts, tokens and settings outlive a restore of a backup, an upgrade, a reboot and a loss of power."""

import manual
import photos
from checking import Log, check
from client import App, Client
from serving import CONFIGURATION
from steps import doctor, images, is_running, load_renditions, wait_until_ready
from world import PACKAGE, PACKAGES, guest, installed, owner

DOCUMENT, HEADING = "operations.md", "Back up and restore"


class Belongings:
    """What people have in the library and on their devices."""

    def __init__(self, log: Log):
        self._app, self._browser = App(owner()), Client(installed())
        assert owner().sign_in(self._browser).status_code == 303
        self._tokens = self._app.connect()
        self._images = self._contents()
        assert self._images, "the library has no photos"
        self._settings = settings(log)

    def check(self, log: Log):
        """Checks that everything is still there and works."""
        wait_until_ready()
        assert self._contents() == self._images, "photos, their data or their renditions have changed"
        assert self._browser.request("GET", "/account").status_code == 200, "the browser is signed out"
        assert self._app.status(self._tokens["access_token"]) == 200
        answer = self._app.refresh(self._tokens["refresh_token"])
        assert answer.status_code == 200, answer.text
        self._tokens = answer.json()
        assert settings(log) == self._settings, "the configuration has changed"
        is_running(log)

    def _contents(self) -> dict:
        """Each photo with its data and renditions, without what changes by itself."""
        return {image["id"]: (image | {"url": None}, load_renditions(image["id"])) for image in images()}


def settings(log: Log) -> str:
    return guest().run(log, f"stat --format='%a %U %G' {CONFIGURATION} && cat {CONFIGURATION}")


def version(log: Log) -> str:
    return guest().run(log, "dpkg-query --show --showformat='${Version}' photo-library")


@check
def a_backup_is_restored(log: Log):
    belongings = Belongings(log)
    make, restore = (manual.commands(DOCUMENT, HEADING, f"photo-library {command} ") for command in ("backup", "restore"))
    run_all(log, make)
    # What is added later is gone after the restore.
    answer = owner().upload("after-the-backup.jpg", photos.photo(20))
    assert answer.status_code == 201, answer.text
    run_all(log, restore)
    belongings.check(log)
    guest().run(log, "photo-library fsck --checksums")


@check
def an_upgrade_restarts_the_service_and_keeps_everything(log: Log):
    belongings, before = Belongings(log), guest().show(log, "MainPID", "InvocationID")
    old, enabled = version(log), "systemctl is-enabled photo-library"
    guest().run(log, f"rm {PACKAGES}/*.deb")
    guest().copy(log, PACKAGE, to=PACKAGES)
    [install, _] = manual.commands(DOCUMENT, "Debian package")
    guest().run(log, f"cd {PACKAGES} && {install}", stdin="y\n")
    guest().run(log, f"dpkg --compare-versions '{version(log)}' gt '{old}'")
    after = guest().show(log, "MainPID", "InvocationID")
    assert after["MainPID"] != before["MainPID"] and after["InvocationID"] != before["InvocationID"], after
    assert guest().run(log, enabled).strip() == "enabled"
    belongings.check(log)
    doctor(log)


@check
def a_reboot_starts_the_service(log: Log):
    belongings = Belongings(log)
    guest().reboot(log)
    belongings.check(log)
    doctor(log)


@check
def a_loss_of_power_loses_no_photo(log: Log):
    belongings = Belongings(log)
    content = photos.photo(21)
    answer = owner().upload("before-the-loss.jpg", content)
    assert answer.status_code == 201, answer.text
    guest().lose_power()
    wait_until_ready()
    # The file was answered with success, so it is there.
    answer = owner().upload("before-the-loss.jpg", content)
    assert answer.status_code == 204, answer.text
    guest().run(log, "photo-library fsck --checksums")
    is_running(log)


def run_all(log: Log, commands: list[str]):
    for command in commands:
        guest().run(log, command)
