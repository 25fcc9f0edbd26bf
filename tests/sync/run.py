"""Runs the checks of real sync clients: `run.py [WORD…]` runs those whose names contain one of the words.

The environment names the server program (SERVER_PROGRAM), the fixtures (FIXTURES) and the folder for logs and data
(SYNC_FOLDER). PHOTOS_TEST_FULL=1 runs the heavy checks with full counts. `stores.py` reads variables that name other stores
than the embedded ones.
"""

import os
import sys
from importlib import import_module

from checking import run_checks
from service import FOLDER, stop_shared
from stores import stop_bucket_server


MODULES = [
    "rclone_plain",
    "rclone_nextcloud",
    "nextcloudcmd",
    "nextcloud_api",
    "litmus",
    "cadaver",
    "curl",
    "killed_server",
]


def main() -> int:
    modules = MODULES + (["killed_node"] if "SYNC_GARAGE" in os.environ else [])
    for module in modules:
        # A module registers its checks.
        import_module(f"checks.{module}")
    return run_checks(sys.argv[1:], FOLDER, clean_up)


def clean_up():
    stop_shared()
    stop_bucket_server()


if __name__ == "__main__":
    sys.exit(main())
