"""The machine of all checks, started at the first call, and the library that is installed on it."""

import os
from functools import cache
from pathlib import Path

from checking import Log
from client import Client, Person
from disk import Disk
from documented import EXAMPLE_URL
from guest import Guest

FOLDER = Path(os.environ["INSTALL_FOLDER"])
PREVIOUS_PACKAGE = Path(os.environ["PREVIOUS_PACKAGE"])
PACKAGE = Path(os.environ["PACKAGE"])
#: Where the packages and the photos are on the machine.
PACKAGES, PHOTOS = "/srv/packages", "/srv/photos"
#: The base URL before it is set, and the port of the server.
FIRST_URL, PORT = "http://127.0.0.1:8080", 8080

_running: list[Guest] = []


def guest() -> Guest:
    if not _running:
        _running.append(Guest(Disk(Path(os.environ["INSTALL_NAMESPACES"])), FOLDER))
    return _running[0]


def stop():
    for running in _running:
        running.stop()


class Installed:
    """The installed server, in the form in which the requests of a person and an app expect one."""

    def __init__(self):
        self.url, self.replicas = FIRST_URL, [self]

    def command(self, *words: str, stdin: str = "") -> str:
        """Runs a command of the server and returns its output."""
        with (FOLDER / "commands.txt").open("a") as file:
            return guest().run(Log(file), f"photo-library {' '.join(words)} 2>/dev/null", stdin=stdin)

    def move_to_documented_url(self):
        """From now on, clients use the URL of the documents, with TLS."""
        self.url = EXAMPLE_URL


@cache
def installed() -> Installed:
    return Installed()


class Owner(Person):
    """The person who opens the link in the journal."""

    link: str

    def create(self):
        """Creates the account as a browser does."""
        client = Client(self.machines)
        page = client.request("GET", self.link)
        answer = client.submit(self.link, page, email=self.email, password=self.password)
        assert answer.status_code == 303, answer.text


@cache
def owner() -> Owner:
    return Owner(installed(), "ann")
