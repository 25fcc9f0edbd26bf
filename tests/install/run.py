"""Runs the checks of the Debian package: `run.py [WORD…]` runs those whose names contain one of the words, as root.

The environment names the folder for the disk and the logs (INSTALL_FOLDER), a package of an earlier version and the one
of this version (PREVIOUS_PACKAGE, PACKAGE), a Python with the packages of `tests/python` (CLIENTS_PYTHON), and the
fixtures (FIXTURES).
"""

import os
import sys
from importlib import import_module
from pathlib import Path

import disk

#: Ends a command that hangs. An emulated machine is slow.
TIME_LIMIT_S = 60 * 60
#: Set in the namespaces of the checks.
INSIDE = "INSTALL_NAMESPACES"
#: Runs a program in a network with nothing but a loopback interface, where the name of the documents leads to it.
ENTER = """
ip link set lo up
mount --bind "$1" /etc/hosts
shift
exec "$@"
"""


def main() -> int:
    folder = Path(os.environ["INSTALL_FOLDER"])
    if INSIDE not in os.environ:
        print("The disk with Debian is made if it is not there, which takes some minutes.", flush=True)
        made = disk.ensure(folder, Path(os.environ["PACKAGE"]))
        enter(folder, made)
    sys.path.append(str(Path(__file__).parents[1] / "machines"))
    import checking
    from world import stop

    checking.TIME_LIMIT_S = TIME_LIMIT_S

    # A module registers its checks. Each relies on those before.
    for module in ["installing", "serving", "keeping", "removing"]:
        import_module(module)
    return checking.run_checks(sys.argv[1:], folder, stop)


def enter(folder: Path, made: disk.Disk):
    """Replaces this process by one in namespaces of its own."""
    from documented import EXAMPLE_URL

    hosts = folder / "hosts"
    hosts.write_text(f"127.0.0.1 localhost {EXAMPLE_URL.removeprefix('https://')}\n")
    words = ["unshare", "--net", "--mount", "sh", "-ec", ENTER, "sh", str(hosts), sys.executable, "-B", *sys.argv]
    os.execvpe(words[0], words, os.environ | {INSIDE: str(made.folder)})


if __name__ == "__main__":
    sys.exit(main())
