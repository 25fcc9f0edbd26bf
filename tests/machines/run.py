"""Runs the checks of several machines: `run.py [WORD…]` runs those whose names contain one of the words.

`machines.py` and `postgres.py` name the variables that the environment must have. PHOTOS_TEST_FULL=1 runs 20 rounds of
each. With PREVIOUS_PROGRAM, the checks are those of an upgrade. Each relies on the ones before it, so words are for the others.
"""

import sys
from importlib import import_module

from checking import run_checks
from machines import PREVIOUS_PROGRAM
from world import FOLDER, stop

UPGRADE = ["rolling_upgrade", "shared_state", "mixed_versions", "end_of_upgrade"]

for module in UPGRADE if PREVIOUS_PROGRAM else ["shared_state", "faults"]:
    # A module registers its checks.
    import_module(module)

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1:], FOLDER, stop))
