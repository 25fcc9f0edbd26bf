"""The service under test: a server on a data folder of its own, and its accounts."""

import os
import secrets
import signal
import subprocess
import threading
from functools import cached_property
from pathlib import Path

import niquests

from checking import TIME_LIMIT_S, wait_until
from garage import free_port
from sign_in import device_password
from stores import stores
from webdav import Tree

PROGRAM = os.environ["SERVER_PROGRAM"]
FOLDER = Path(os.environ["SYNC_FOLDER"])

#: Without the caller's settings, and without OCR, which takes most of an import's time.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PHOTOS_")} | {
    "PHOTOS_OCR_LANGUAGES": "off"
}


class Service:
    """A server. It has the same port after each start."""

    def __init__(self, name: str):
        self.data_dir = FOLDER / f"data-{name}"
        self._stores = stores(name, self.data_dir)
        self._environment = ENVIRONMENT | self._stores.settings
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = (FOLDER / f"server-{name}.log").open("w")
        self._process = None
        if self._stores.needs_migration:
            self.command("migrate")

    def start(self):
        """Starts the server and waits until it is ready."""
        listen = ["serve", "--listen", f"127.0.0.1:{self.port}", "--base-url", self.url]
        self._process = subprocess.Popen(
            self._words(listen), env=self._environment, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log
        )
        wait_until(self._is_ready, "the server is not ready")

    def stop(self):
        """Asks the server to exit."""
        if self._process and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(TIME_LIMIT_S)

    def kill(self):
        """Kills the server, as a loss of power would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(TIME_LIMIT_S)

    @property
    def process_id(self) -> int:
        return self._process.pid

    def command(self, *words: str, stdin: str = "") -> str:
        """Runs a command of the server on the data folder, and returns its stdout."""
        done = subprocess.run(
            self._words(words),
            env=self._environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
        )
        assert done.returncode == 0, f"server {' '.join(words)} exited with {done.returncode}: {done.stderr}"
        return done.stdout

    def account(self, name: str) -> "Account":
        """Creates an account. Each name can be used once."""
        return Account(self, f"{name}@example.org")

    def rows(self, query: str, *values) -> list[tuple]:
        """Reads from the library's database what no response contains."""
        return self._stores.rows(query, *values)

    def _words(self, words) -> list[str]:
        return [PROGRAM, *words, "--data-dir", str(self.data_dir)]

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, f"the server exited with {self._process.poll()}"
        try:
            return niquests.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except niquests.RequestException:
            return False


class Account:
    """An account with a sync password, which it got by the login flow of Nextcloud's apps."""

    def __init__(self, service: Service, email: str):
        self.service, self.email, self.password = service, email, secrets.token_hex(12)
        service.command("account", "create", email, "--password-stdin", stdin=f"{self.password}\n")

    @cached_property
    def _credentials(self) -> tuple[str, str]:
        return device_password(self.service.url, self.email, self.password, "Test client")

    @property
    def handle(self) -> str:
        """The user name of sync clients."""
        return self._credentials[0]

    @property
    def sync_password(self) -> str:
        return self._credentials[1]

    @cached_property
    def key(self) -> str:
        """An API key."""
        return self.service.command("key", "create", self.email, "--name", "tests").split()[-1]

    @property
    def plain_url(self) -> str:
        """The URL for any WebDAV client."""
        return f"{self.service.url}/dav/"

    @property
    def nextcloud_url(self) -> str:
        """The URL for clients of Nextcloud's files."""
        return f"{self.service.url}/remote.php/dav/files/{self.handle}/"

    @property
    def files(self) -> Tree:
        """The files that the account has uploaded."""
        return Tree(self.nextcloud_url, self.handle, self.sync_password)

    def library(self) -> list[str]:
        """The SHA-256 of every visible image, sorted, once none waits to be indexed."""
        wait_until(lambda: not self._originals("state = 'pending'"), f"images of {self.email} are still pending")
        images = sorted(self._originals("state = 'ready'"))
        counted = niquests.get(f"{self.service.url}/api/ext/v2/library", headers=self._bearer(), timeout=60).json()["result"]
        assert counted["totalImages"] == len(images), f"the API counts {counted}, the database {len(images)}"
        return images

    def _originals(self, state: str) -> list[str]:
        query = f"""SELECT original FROM images JOIN accounts ON accounts.id = account_id
            WHERE email = ? AND images.deleted_at_ms IS NULL AND {state}"""
        return [original.hex() for (original,) in self.service.rows(query, self.email)]

    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


_started: list[Service] = []
_lock = threading.Lock()


def shared() -> Service:
    """The server that most checks share, started at the first call."""
    with _lock:
        if not _started:
            service = Service("shared")
            _started.append(service)
            service.start()
        return _started[0]


def stop_shared():
    for service in _started:
        service.stop()
