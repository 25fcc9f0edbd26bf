"""A cluster of three Garage nodes on this machine, each with all objects."""

import secrets
import signal
import socket
import subprocess
from pathlib import Path

from checking import TIME_LIMIT_S, wait_until

NODES = 3
BUCKET = "photos"
#: A write succeeds when two of three nodes have the object, so one node may be down.
CONFIG = """
metadata_dir = "{folder}/meta"
data_dir = "{folder}/data"
db_engine = "sqlite"
replication_factor = 3
rpc_bind_addr = "127.0.0.1:{rpc}"
rpc_public_addr = "127.0.0.1:{rpc}"
rpc_secret = "{secret}"

[s3_api]
s3_region = "us-east-1"
api_bind_addr = "127.0.0.1:{s3}"
root_domain = ".localhost"
"""


class Node:
    """One process of the cluster, with a folder of its own."""

    def __init__(self, program: str, folder: Path, secret: str):
        folder.mkdir(parents=True)
        self._program, self._config, self._log = program, folder / "garage.toml", folder / "garage.log"
        self.s3_port, rpc_port = free_port(), free_port()
        self._config.write_text(CONFIG.format(folder=folder, rpc=rpc_port, s3=self.s3_port, secret=secret))
        self._process = None

    def start(self):
        with self._log.open("a") as log:
            command = [self._program, "-c", str(self._config), "server"]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._answers, f"a Garage node has not started, see {self._log}")

    def kill(self):
        """Kills the node, as a loss of power would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(TIME_LIMIT_S)

    def stop(self):
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(TIME_LIMIT_S)

    def command(self, *words: str, check=True) -> str:
        """Runs a command of Garage on this node, and returns its stdout."""
        done = subprocess.run(
            [self._program, "-c", str(self._config), *words], capture_output=True, text=True, timeout=TIME_LIMIT_S
        )
        assert not check or done.returncode == 0, f"garage {' '.join(words)}: {done.stderr}"
        return done.stdout

    def address(self) -> str:
        """The id of the node with its address."""
        return self.command("node", "id", "-q").strip()

    def _answers(self) -> bool:
        assert self._process.poll() is None, f"Garage exited with {self._process.poll()}, see {self._log}"
        return bool(self.command("status", check=False))


class Garage:
    """The running cluster with a bucket. Services use the last node, and others may be killed."""

    def __init__(self, program: str, folder: Path):
        secret = secrets.token_hex(32)
        self.nodes = [Node(program, folder / f"node-{number}", secret) for number in range(NODES)]
        for node in self.nodes:
            node.start()
        first = self.nodes[0]
        addresses = [node.address() for node in self.nodes]
        for address in addresses[1:]:
            first.command("node", "connect", address)
        for address in addresses:
            first.command("layout", "assign", address.split("@")[0], "-z", "here", "-c", "10G")
        first.command("layout", "apply", "--version", "1")
        first.command("bucket", "create", BUCKET)
        key = fields(first.command("key", "create", "tests"))
        first.command("bucket", "allow", "--read", "--write", BUCKET, "--key", "tests")
        self.settings = {
            "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.nodes[-1].s3_port}",
            "AWS_ACCESS_KEY_ID": key["Key ID"],
            "AWS_SECRET_ACCESS_KEY": key["Secret key"],
            "AWS_REGION": "us-east-1",
        }

    def stop(self):
        for node in self.nodes:
            node.stop()


def fields(output: str) -> dict[str, str]:
    """The lines `name: value` of an output."""
    lines = (line.split(":", 1) for line in output.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in lines}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
