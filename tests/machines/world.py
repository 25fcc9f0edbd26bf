"""The machines of all checks, started at the first call."""

import os
from pathlib import Path

from machines import Machines

FOLDER = Path(os.environ["MACHINES_FOLDER"])
FULL = os.environ.get("PHOTOS_TEST_FULL") == "1"

_running: list[Machines] = []


def machines() -> Machines:
    if not _running:
        _running.append(Machines(FOLDER))
    return _running[0]


def stop():
    for running in _running:
        running.stop()
