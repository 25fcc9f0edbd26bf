"""Two programs on one library: the machines change from one to the other while people use them."""

from contextlib import contextmanager
from functools import cache

from checking import Log, wait_until
from client import App, Person
from load import Load
from machines import PREVIOUS_PROGRAM, PROGRAM, Machine, Replica
from world import machines

PHOTOS = 12
#: A search by look that finds each of the photos.
LOOK = "square"
#: The state of a migration that the program does not have.
NEWER = "applied by a newer program"
#: Uploads before, and after, what happens while people use the machines.
UPLOADS = 6


class EarlierLibrary:
    """What a person and an app have stored before the upgrade."""

    def __init__(self):
        self.person = Person(machines(), "earlier")
        self.person.upload_photos(range(PHOTOS), prefix="orchard-")
        self.person.wait_until_indexed(PHOTOS)
        self._app = App(self.person)
        self._tokens = self._app.connect()
        self._images = self.person.image_ids()
        made = self.person.api("POST", "albums", json={"title": "Orchards", "imageIds": self._images[:5]})
        assert made.status_code == 201, made.text
        self._album = made.json()["result"]["id"]

    def check(self):
        """Checks that all of it is on each replica, and refreshes the app's token."""
        for at in machines().replicas:
            assert sorted(self.person.image_ids(at)) == sorted(self._images)
            assert self.person.api("GET", "library", at).json()["result"]["totalImages"] == PHOTOS
            assert self.person.browser.request("GET", "/account", at).status_code == 200
            assert self._app.status(self._tokens["access_token"], at) == 200
            assert sorted(found(self.person, at, albumId=self._album)) == sorted(self._images[:5])
            assert len(found(self.person, at, query="orchard")) == PHOTOS
            image = self.person.api("GET", f"images/{self._images[0]}", at).json()["result"]
            for url in image["renditions"].values():
                assert self.person.browser.request("GET", url).status_code == 200, url
            by_look = lambda: len(found(self.person, at, query=LOOK, channels="image"))
            wait_until(lambda: by_look() == PHOTOS, "photos are not found by their look")
            answer = self._app.refresh(self._tokens["refresh_token"], at)
            assert answer.status_code == 200, answer.text
            self._tokens = answer.json()


@cache
def earlier_library() -> EarlierLibrary:
    """Stored at the first call."""
    return EarlierLibrary()


def found(person: Person, at: Replica, **parameters: str) -> list[str]:
    """The ids of the images that a search returns."""
    answer = person.api("GET", "search", at, params={"limit": 100} | parameters)
    assert answer.status_code == 200, answer.text
    return [image["id"] for image in answer.json()["results"]]


def migrations(program: str) -> dict[str, str]:
    """The migrations that this program lists, and the state of each: applied, pending, or NEWER."""
    done = machines().run(program, "migrate", "--status")
    assert done.returncode == 0, done.stderr
    return {name: state for state, name in (line.rsplit(maxsplit=1) for line in done.stdout.splitlines())}


def pending() -> list[str]:
    """The migrations that only the current program has."""
    return [name for name, state in migrations(PROGRAM).items() if state == "pending"]


def replace(replicas: list[Replica], workers: list[Machine], program: str):
    """Restarts these with another program: the replicas first and one at a time."""
    for machine in [*replicas, *workers]:
        machine.stop()
        machine.program = program
        machine.start()
        machines().wait_until_ready()


def running(program: str) -> list[Machine]:
    """The replicas and workers with this program."""
    return [machine for machine in [*machines().replicas, *machines().workers] if machine.program == program]


@contextmanager
def only(program: str):
    """The others are stopped meanwhile, so that it indexes all photos."""
    others = [machine for machine in [*machines().replicas, *machines().workers] if machine.program != program]
    for machine in others:
        machine.stop()
    yield
    for machine in others:
        machine.start()
    machines().wait_until_ready()


@contextmanager
def in_use(log: Log, name: str):
    """People use the proxy meanwhile. Each response is a success or asks to try again, and no upload is lost."""
    person = Person(machines(), name)
    # The API answers only to accounts that have synced.
    assert person.sync("PROPFIND", "/dav/").status_code == 207
    load = Load(person)
    try:
        wait_for_uploads(load)
        load.fault = name
        yield
        wait_for_uploads(load)
    finally:
        load.stop()
    log.write(f"{name}: {load.counts(name)}, slowest {load.slowest(name):.1f} s")
    for sample in load.samples:
        assert sample.is_success or (sample.status == 503 and sample.has_retry_after), sample
    wait_until(lambda: not person.images("pending"), "photos are still pending")
    assert person.images("ready") == sorted(load.uploaded), "the library differs from the uploads that were answered"


def wait_for_uploads(load: Load):
    count = len(load.uploaded) + UPLOADS
    wait_until(lambda: len(load.uploaded) >= count, "uploads do not succeed")


assert PREVIOUS_PROGRAM, "PREVIOUS_PROGRAM is missing"
