"""The package is installed, the service starts in its sandbox, and the first account and photos come into the library."""

import re

import manual
from checking import Log, check, wait_until
from photos import FIXTURES
from steps import doctor, images, is_running, journal, library_size, load_renditions
from world import PACKAGES, PHOTOS, PORT, PREVIOUS_PACKAGE, Owner, guest, owner

DOCUMENT, HEADING = "operations.md", "Debian package"
#: Small ones, because an emulated machine is slow: text, a position, several formats, and what libheif reads.
NAMES = [
    *(f"samples/{name}" for name in ["cyclamen.jpg", "lorem-ipsum.png", "orange-lossless.webp", "restaurant-bill.jpg"]),
    *(f"media/{name}" for name in ["hopper.avif", "hopper.heif"]),
]
#: A word in one of them.
WRITTEN_WORD = "lorem"
#: The service cannot write into these folders, not even as root.
PROTECTED = ["/etc", "/opt", "/srv", "/usr/lib/photo-library", "/var/lib", "/var/log"]


@check
def the_package_installs_and_the_service_starts(log: Log):
    guest().run(log, f"mkdir {PACKAGES} {PHOTOS}")
    guest().copy(log, PREVIOUS_PACKAGE, to=PACKAGES)
    guest().copy(log, *(FIXTURES / name for name in NAMES), to=PHOTOS)
    install, show_link = manual.commands(DOCUMENT, HEADING)
    # It asks whether to continue.
    said = guest().run(log, f"cd {PACKAGES} && {install}", stdin="y\n")
    assert show_link in said, "the package does not name the command that shows the link"
    for package in ["libheif1", "tesseract-ocr"]:
        assert "install ok installed" in guest().run(log, f"dpkg-query --show --showformat='${{Status}}' {package}")
    state = guest().show(log, "Type", "ActiveState", "SubState", "User", "UnitFileState", "NRestarts", "StatusText")
    assert (state["Type"], state["ActiveState"], state["SubState"]) == ("notify", "active", "running"), state
    assert (state["User"], state["UnitFileState"], state["NRestarts"]) == ("photo-library", "enabled", "0"), state
    [Owner.link] = re.findall(r"http\S+/setup\?token=\S+", guest().run(log, show_link))


@check
def the_service_is_confined(log: Log):
    process = guest().show(log, "MainPID")["MainPID"]
    exposure = guest().run(log, "systemd-analyze --no-pager security photo-library")
    assert re.search(r"Overall exposure level for photo-library.service: \S+ OK", exposure)
    lines = guest().run(log, f"cat /proc/{process}/status").splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    user = guest().run(log, "id --user photo-library").strip()
    assert set(status["Uid"].split()) == {user} and user != "0", status["Uid"]
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2"), status
    for kind in ["Inh", "Prm", "Eff", "Bnd", "Amb"]:
        assert int(status[f"Cap{kind}"], 16) == 0, f"Cap{kind}: {status[f'Cap{kind}']}"

    # The file system as the service sees it.
    inside = f"nsenter --target {process} --mount"
    for folder in PROTECTED:
        assert "Read-only file system" in guest().run(log, f"{inside} touch {folder}/probe", status=1), folder
    as_user = f"{inside} setpriv --reuid=photo-library --regid=photo-library --clear-groups"
    guest().run(log, f"{as_user} touch /var/lib/photo-library/probe && rm /var/lib/photo-library/probe")
    assert guest().run(log, "ls -A /root").strip(), "root's home folder is empty, so it shows nothing"
    assert not guest().run(log, f"{inside} find /root /home -mindepth 1"), "the service sees home folders"
    guest().run(log, f"test -b /dev/vda && ! {inside} test -e /dev/vda")
    guest().run(log, f"touch /tmp/probe && ! {inside} test -e /tmp/probe")
    guest().run(log, f"test -d /proc/1 && ! {as_user} test -e /proc/1")


@check
def the_link_in_the_journal_creates_the_first_account(log: Log):
    with guest().forwarded(PORT):
        email = owner().email
    assert email in guest().run(log, "photo-library account list")


@check
def photos_are_imported_and_become_ready(log: Log):
    command = manual.span(DOCUMENT, HEADING, "photo-library import").removeprefix("sudo ")
    assert f" {owner().email} {PHOTOS}" in command, command
    report = guest().json(log, f"{command} --json")
    assert (report["imported"], report["duplicates"], report["failed"]) == (len(NAMES), 0, []), report
    with guest().forwarded(PORT):
        assert library_size() == len(images()) == len(NAMES)
        for image in images():
            load_renditions(image["id"])
        wait_until(lambda: images("search", query=WRITTEN_WORD, channels="text"), "no photo is found by its text")
    doctor(log)
    is_running(log)
    journal(log)
