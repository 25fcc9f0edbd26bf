"""Runs rclone on an account."""

import json
import os
import signal
import subprocess
from functools import cache
from pathlib import Path

from checking import Log
from service import Account

#: rclone retries failed requests, but not whole runs. Checks that need it repeat a run themselves.
OPTIONS = ["--use-json-log", "-v", "--stats", "1h", "--retries", "1", "--low-level-retries", "3"]


class Rclone:
    """rclone with one remote, `photos:`, which is the tree of an account."""

    def __init__(self, account: Account, vendor: str, password: str | None = None, **settings: str):
        url = account.nextcloud_url if vendor == "nextcloud" else account.plain_url
        remote = {"type": "webdav", "url": url, "vendor": vendor, "user": account.handle}
        # rclone's default limits it to 100 requests a second.
        remote["pacer_min_sleep"] = "1ms"
        remote |= {"pass": _obscured(password or account.sync_password)} | settings
        self._environment = {f"RCLONE_CONFIG_PHOTOS_{name.upper()}": value for name, value in remote.items()}
        # Ignores the configuration file of the caller.
        self._environment["RCLONE_CONFIG"] = os.devnull

    def run(self, log: Log, *words, status: int | None = 0) -> str:
        """Runs a command and returns its output."""
        return log.run("rclone", *words, status=status, **self._environment)

    def transfer(self, log: Log, command: str, source: Path, *words, status: int | None = 0) -> dict:
        """Runs `copy` or `sync` of a folder to the root of the remote, and returns the statistics."""
        output = self.run(log, command, source, "photos:", *OPTIONS, *words, status=status)
        return statistics(output)

    def start(self, log: Log, command: str, source: Path, *words) -> subprocess.Popen:
        """Starts such a command in the background."""
        log.write(f"$ rclone {command} {source} in the background")
        return subprocess.Popen(
            ["rclone", command, source, "photos:", *OPTIONS, *words],
            env=os.environ | self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def listed(self, log: Log) -> list[dict]:
        """All files of the remote, with hashes if the vendor has any."""
        return json.loads(self.run(log, "lsjson", "photos:", "--recursive", "--files-only", "--hash"))


def statistics(output: str) -> dict:
    """The last statistics in a JSON log."""
    lines = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    return [line["stats"] for line in lines if "stats" in line][-1]


def errors(output: str) -> list[str]:
    """The messages of the errors in a JSON log."""
    lines = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    return [f"{line.get('object', '')}: {line['msg']}" for line in lines if line["level"] == "error"]


def kill(process: subprocess.Popen):
    process.send_signal(signal.SIGKILL)
    process.wait()


@cache
def _obscured(password: str) -> str:
    command = ["rclone", "obscure", "-"]
    return subprocess.run(command, input=password, capture_output=True, text=True, check=True).stdout.strip()
