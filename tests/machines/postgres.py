"""A Postgres server that the checks stop and start.

POSTGRES_PROGRAMS is the folder of its programs. Unlike the server of the other tests, it loses nothing when it is killed.
"""

import os
import pwd
import subprocess
import tempfile
from pathlib import Path

import psycopg

from checking import TIME_LIMIT_S, wait_until
from garage import free_port

PROGRAMS = Path(os.environ["POSTGRES_PROGRAMS"])
SUPERUSER = "postgres"
SETTINGS = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"]


class Postgres:
    """A server with one database."""

    def __init__(self, log: Path):
        # Not in the build folder, which the server's user may be unable to read.
        self._folder = tempfile.TemporaryDirectory(prefix="photos-postgres-", ignore_cleanup_errors=True)
        self._data, self._log, self._port = f"{self._folder.name}/data", log.open("w"), free_port()
        self._user = server_user()
        if self._user:
            os.chown(self._folder.name, self._user.pw_uid, self._user.pw_gid)
        self._run("initdb", "--username", SUPERUSER, "--auth", "trust", "--locale", "C", "--encoding", "UTF8")
        self._process = None
        self.start()
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE photos")

    @property
    def url(self) -> str:
        return self._url("photos")

    def rows(self, query: str, *values) -> list[tuple]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(query, values).fetchall()

    def start(self):
        settings = [word for setting in [*SETTINGS, f"port={self._port}"] for word in ("-c", setting)]
        self._process = self._popen("postgres", "-D", self._data, *settings)
        wait_until(self._accepts, "Postgres does not start")

    def stop(self):
        """Ends the server at once, without a checkpoint. It recovers from its log when it starts again."""
        self._run("pg_ctl", "stop", "-m", "immediate")
        self._process.wait(TIME_LIMIT_S)

    def remove(self):
        """Stops the server, and deletes its data."""
        if self._process and self._process.poll() is None:
            self.stop()
        self._folder.cleanup()

    def _url(self, database: str) -> str:
        return f"postgres://{SUPERUSER}@127.0.0.1:{self._port}/{database}"

    def _accepts(self) -> bool:
        assert self._process.poll() is None, f"Postgres exited with {self._process.poll()}"
        try:
            psycopg.connect(self._url("postgres"), connect_timeout=5).close()
            return True
        except psycopg.OperationalError:
            return False

    def _run(self, program: str, *words: str):
        status = self._popen(program, "-D", self._data, *words).wait(TIME_LIMIT_S)
        assert status == 0, f"{program} exited with {status}"

    def _popen(self, program: str, *words: str) -> subprocess.Popen:
        user = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []} if self._user else {}
        command = [PROGRAMS / program, *words]
        return subprocess.Popen(command, cwd="/", stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, **user)


def server_user() -> pwd.struct_passwd | None:
    """The user of the server if this one is root, as whom it refuses to run."""
    if os.geteuid() != 0:
        return None
    users = {user.pw_name: user for user in pwd.getpwall()}
    return users.get("postgres") or users["nobody"]
