"""Three replicas and two workers with different clocks, a proxy, one Postgres and one S3 server.

The environment names the server program (SERVER_PROGRAM), the library that shifts clocks (FAKETIME_LIBRARY), the folder
for logs and data (MACHINES_FOLDER) and, in tests of an upgrade, the program of the previous release (PREVIOUS_PROGRAM).
"""

import os
import secrets
import signal
import subprocess
from pathlib import Path

import niquests

from checking import TIME_LIMIT_S, wait_until
from garage import free_port
from postgres import Postgres
from proxy import Proxy
from stores import FolderServer

PROGRAM = os.environ["SERVER_PROGRAM"]
PREVIOUS_PROGRAM = os.environ.get("PREVIOUS_PROGRAM")
FAKETIME = os.environ["FAKETIME_LIBRARY"]
#: How far the clocks of the replicas, and of the workers, are from the right time, in seconds.
REPLICA_CLOCKS = [0, 45, -45]
WORKER_CLOCKS = [-45, 45]
#: Without the caller's settings.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PHOTOS_")}


class Machine:
    """A process of a server program, with a clock and a data folder of its own. Each start runs `program`."""

    def __init__(self, folder: Path, program: str, words: list[str], clock: int, environment: dict[str, str]):
        self.program, self._folder, self._words = program, folder, words
        folder.mkdir(parents=True)
        self._environment = environment | {"PHOTOS_DATA_DIR": str(folder / "data")}
        self._clock = {"LD_PRELOAD": FAKETIME, "FAKETIME": f"{clock:+d}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"} if clock else {}
        self._log = (folder / "log.txt").open("w")
        self._process = None

    def start(self):
        self._process = subprocess.Popen(
            [self.program, *self._words],
            env=self._environment | self._clock,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )

    def kill(self):
        """Kills the process, as a loss of power would."""
        self._end(signal.SIGKILL)

    def stop(self):
        """Asks the process to exit."""
        assert self._end(signal.SIGTERM) == 0, f"it exited with {self._process.returncode}, see {self._folder}"

    def ensure_stopped(self):
        if self._process and self._process.poll() is None:
            self._end(signal.SIGTERM)

    def is_running(self) -> bool:
        return self._process.poll() is None

    def _end(self, signal_number: int) -> int:
        assert self.is_running(), f"it exited with {self._process.returncode}, see {self._folder}"
        self._process.send_signal(signal_number)
        return self._process.wait(TIME_LIMIT_S)


class Replica(Machine):
    """A process that serves."""

    def __init__(self, folder: Path, program: str, clock: int, environment: dict[str, str], port: int):
        super().__init__(folder, program, ["serve", "--listen", f"127.0.0.1:{port}"], clock, environment)
        self.url = f"http://127.0.0.1:{port}"

    def is_ready(self) -> bool:
        assert self.is_running(), f"the replica exited with {self._process.returncode}, see {self._folder}"
        try:
            return niquests.get(f"{self.url}/readyz", timeout=30).status_code == 200
        except niquests.RequestException:
            return False


class Machines:
    """All of them, running this program."""

    def __init__(self, folder: Path, program: str):
        self.program = program
        self.postgres = Postgres(folder / "postgres.log")
        self._s3 = folder / "s3", free_port()
        self.start_bucket()
        ports, port = [free_port() for _ in REPLICA_CLOCKS], free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._environment = ENVIRONMENT | self.bucket.settings | {
            "PHOTOS_DATABASE_URL": self.postgres.url,
            "PHOTOS_DATABASE_CONNECTIONS": "8",
            "PHOTOS_BLOB_URL": "s3://photos/library",
            "PHOTOS_SECRET": secrets.token_hex(32),
            "PHOTOS_BASE_URL": self.url,
            "PHOTOS_TRUSTED_PROXY": "127.0.0.1/32",
            # OCR takes most of an import's time.
            "PHOTOS_OCR_LANGUAGES": "off",
            "PHOTOS_DECODE_WORKERS": "1",
        }
        self._data = folder / "operator"
        self.command("migrate")
        self.replicas = [
            Replica(folder / f"replica-{number}", program, clock, self._environment, port)
            for number, (clock, port) in enumerate(zip(REPLICA_CLOCKS, ports))
        ]
        self.workers = [
            Machine(folder / f"worker-{number}", program, ["worker"], clock, self._environment)
            for number, clock in enumerate(WORKER_CLOCKS)
        ]
        for machine in [*self.replicas, *self.workers]:
            machine.start()
        self.proxy = Proxy(folder / "proxy", ports, port)
        self.wait_until_ready()

    def wait_until_ready(self):
        wait_until(lambda: all(replica.is_ready() for replica in self.replicas), "the replicas are not ready")

    def command(self, *words: str, stdin: str = "") -> str:
        """Runs a command of the server on a machine of its own, and returns its stdout."""
        done = self.run(self.program, *words, stdin=stdin)
        assert done.returncode == 0, f"server {' '.join(words)} exited with {done.returncode}: {done.stderr}{done.stdout}"
        return done.stdout

    def run(self, program: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess:
        """Runs a command of a server program there."""
        return subprocess.run(
            [program, *words, "--data-dir", str(self._data)],
            env=self._environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
        )

    def start_bucket(self):
        folder, port = self._s3
        self.bucket = FolderServer(folder, port)

    def stop(self):
        for machine in [*self.replicas, *self.workers]:
            machine.ensure_stopped()
        self.proxy.stop()
        self.bucket.stop()
        self.postgres.remove()
