"""nginx with the configuration that `docs/scale.md` shows, on this machine's addresses and without TLS."""

import os
import re
import subprocess
from pathlib import Path

from checking import TIME_LIMIT_S
from garage import free_port

DOCUMENT = Path(__file__).parents[2] / "docs" / "scale.md"
TEMPORARY_FOLDERS = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]


class Proxy:
    """A running nginx before replicas on these ports."""

    def __init__(self, folder: Path, replica_ports: list[int], port: int):
        folder.mkdir(parents=True)
        config = folder / "nginx.conf"
        config.write_text(f"{frame(folder)}\nhttp {{\n{temporary(folder)}{site(replica_ports, port)}}}\n")
        # Debian keeps it where only root's path leads to.
        search = {"PATH": f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"}
        with (folder / "nginx.log").open("w") as log:
            command = ["nginx", "-p", str(folder), "-c", str(config), "-e", str(folder / "error.log")]
            self._process = subprocess.Popen(command, env=os.environ | search, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop(self):
        self._process.terminate()
        self._process.wait(TIME_LIMIT_S)


def frame(folder: Path) -> str:
    """What a packaged nginx has around the sites."""
    # Its processes write into a folder of the caller.
    user = "user root;\n" if os.geteuid() == 0 else ""
    return f"daemon off;\n{user}pid {folder}/nginx.pid;\nevents {{}}"


def temporary(folder: Path) -> str:
    paths = (f"{name}_temp_path {folder}/{name};\n" for name in TEMPORARY_FOLDERS)
    return "access_log off;\n" + "".join(paths)


def site(replica_ports: list[int], port: int) -> str:
    """The documented site with these ports."""
    [documented] = re.findall(r"^```nginx\n(upstream photos \{\n    least_conn;.*?)^```", DOCUMENT.read_text(), re.M | re.S)
    for number, replica in enumerate(replica_ports, start=1):
        documented, found = re.subn(rf"10\.0\.0\.1{number}:8080", f"127.0.0.1:{replica}", documented)
        assert found == 1, f"docs/scale.md has no replica {number}"
    documented, found = re.subn(r"listen 443 ssl http2;", f"listen 127.0.0.1:{port};", documented)
    assert found == 1, "docs/scale.md does not listen on port 443"
    return re.sub(r"^ *ssl_certificate.*\n", "", documented, flags=re.M)
