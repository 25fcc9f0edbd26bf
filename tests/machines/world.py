"""The machines of all checks, started at the first call. Tests of an upgrade begin with the previous program."""

import os
from pathlib import Path

from machines import PREVIOUS_PROGRAM, PROGRAM, Machines

FOLDER = Path(os.environ["MACHINES_FOLDER"])
FULL = os.environ.get("PHOTOS_TEST_FULL") == "1"

_running: list[Machines] = []


def machines() -> Machines:
    if not _running:
        _running.append(Machines(FOLDER, PREVIOUS_PROGRAM or PROGRAM))
    return _running[0]


def stop():
    for running in _running:
        running.stop()
