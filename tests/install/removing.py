"""Removing and purging the package deletes no photo, and installing it again finds the library."""

import manual
from checking import Log, check
from steps import doctor, images, is_running
from serving import CONFIGURATION
from world import PACKAGES, guest, installed, owner

LIBRARY = "/var/lib/photo-library"


def files(log: Log) -> str:
    """Owner, mode and checksum of each photo file."""
    find = "find . -type f -printf '%p %u %m\\n' -exec sha256sum {} + | sort"
    return guest().run(log, f"cd {LIBRARY}/blobs/originals && {find}")


def install(log: Log):
    [command, _] = manual.commands("operations.md", "Debian package")
    guest().run(log, f"cd {PACKAGES} && {command}", stdin="y\n")


@check
def removing_leaves_the_library_and_says_so(log: Log):
    before, ids = files(log), {image["id"] for image in images()}
    said = guest().run(log, "apt-get remove --yes photo-library")
    assert f"{LIBRARY} were not deleted" in said, "the package does not say that the photos stay"
    guest().run(log, "systemctl status photo-library", status=4)
    guest().run(log, f"! pgrep --euid photo-library && test -e {CONFIGURATION}")
    assert files(log) == before
    install(log)
    assert {image["id"] for image in images()} == ids
    doctor(log)


@check
def purging_leaves_the_library_and_says_so(log: Log):
    before, ids = files(log), {image["id"] for image in images()}
    settings = guest().run(log, f"cat {CONFIGURATION}")
    said = guest().run(log, "apt-get purge --yes photo-library")
    assert f"{LIBRARY} were not deleted" in said, "the package does not say that the photos stay"
    guest().run(log, f"! test -e {CONFIGURATION} && getent passwd photo-library")
    assert files(log) == before
    install(log)
    # The settings went with the package.
    guest().write(log, CONFIGURATION, settings)
    guest().run(log, "systemctl restart photo-library")
    assert {image["id"] for image in images()} == ids
    is_running(log)
    doctor(log)
