"""The stores of a service: embedded in its data folder, or a Postgres database and an S3 bucket.

SYNC_POSTGRES is the URL of a Postgres server; without it, stores are embedded. SYNC_PGBOUNCER is the URL of a PgBouncer
before it, which the service then uses. SYNC_S3_PROGRAM is an S3 server on a folder, and SYNC_GARAGE the program of Garage,
which is used instead if it is set.
"""

import os
import secrets
import sqlite3
import subprocess
from pathlib import Path

import psycopg

from checking import TIME_LIMIT_S
from garage import Garage

POSTGRES = os.environ.get("SYNC_POSTGRES")
PGBOUNCER = os.environ.get("SYNC_PGBOUNCER")


class Embedded:
    """SQLite and files in the data folder."""

    settings: dict[str, str] = {}
    needs_migration = False

    def __init__(self, data_dir: Path):
        self._file = data_dir / "library.sqlite"

    def rows(self, query: str, *values) -> list[tuple]:
        database = sqlite3.connect(f"file:{self._file}?mode=ro", uri=True, timeout=30)
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()


class Shared:
    """A database of its own, and a prefix of its own in the bucket."""

    #: A server does not migrate a shared database by itself, because other servers may use it.
    needs_migration = True

    def __init__(self, name: str):
        self._name = f"sync_{name}_{secrets.token_hex(4)}"
        with psycopg.connect(f"{POSTGRES}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self._name}")
        # PgBouncer gives each transaction another connection, and does not support prepared statements.
        url = f"{PGBOUNCER}/{self._name}?statement_cache=off" if PGBOUNCER else f"{POSTGRES}/{self._name}"
        self.settings = {
            "PHOTOS_DATABASE_URL": url,
            "PHOTOS_BLOB_URL": f"s3://photos/{self._name}",
            "PHOTOS_SECRET": secrets.token_hex(32),
            **bucket_server().settings,
        }

    def rows(self, query: str, *values) -> list[tuple]:
        with psycopg.connect(f"{POSTGRES}/{self._name}") as connection:
            return connection.execute(query.replace("?", "%s"), values).fetchall()


class FolderServer:
    """The S3 server of the tests, on a folder. It exits with this program, when its standard input ends."""

    def __init__(self, folder: Path, port: int = 0):
        command = [os.environ["SYNC_S3_PROGRAM"], str(folder), str(port)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.settings = {
            "AWS_ENDPOINT_URL_S3": self._process.stdout.readline().strip(),
            "AWS_ACCESS_KEY_ID": "test-key",
            "AWS_SECRET_ACCESS_KEY": "test-secret",
        }

    def stop(self):
        self._process.stdin.close()
        self._process.wait(TIME_LIMIT_S)


_bucket_servers: list[FolderServer | Garage] = []


def bucket_server() -> FolderServer | Garage:
    """The S3 server of all services, started at the first call."""
    if not _bucket_servers:
        folder = Path(os.environ["SYNC_FOLDER"]) / "s3"
        program = os.environ.get("SYNC_GARAGE")
        _bucket_servers.append(Garage(program, folder) if program else FolderServer(folder))
    return _bucket_servers[0]


def stop_bucket_server():
    for server in _bucket_servers:
        server.stop()


def stores(name: str, data_dir: Path) -> Embedded | Shared:
    """New stores for a service."""
    return Shared(name) if POSTGRES else Embedded(data_dir)
