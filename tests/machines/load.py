"""People and apps who use the service through the proxy all the time, and what they are answered."""

import hashlib
import itertools
import threading
import time
from collections import Counter
from dataclasses import dataclass

import niquests

import photos
from client import Person

UPLOADERS = 3
#: Bytes of each photo beyond its picture.
PADDING = 20_000
#: Time between two requests of a thread, in seconds.
PAUSE = 0.4
TIMEOUT_S = 120
#: The statuses of success by kind of request.
SUCCESSES = {"upload": {201, 204}, "list": {200}, "photo": {200}}
#: A request without a response, because the replica was killed while it sent one.
BROKEN = 0


@dataclass(frozen=True)
class Sample:
    """A request and its outcome."""

    kind: str
    status: int
    has_retry_after: bool
    #: What had failed when it was sent.
    fault: str
    seconds: float
    text: str

    @property
    def is_success(self) -> bool:
        return self.status in SUCCESSES[self.kind]


class Load:
    """Threads that send requests until `stop`."""

    def __init__(self, person: Person):
        self.samples: list[Sample] = []
        #: The SHA-256 of each photo whose upload was answered with success.
        self.uploaded: list[str] = []
        self.fault = ""
        self._person, self._numbers, self._ended = person, itertools.count(), threading.Event()
        self._errors: list[Exception] = []
        work = [self._upload] * UPLOADERS + [self._read]
        self._threads = [threading.Thread(target=self._repeat, args=(function,)) for function in work]
        for thread in self._threads:
            thread.start()

    def stop(self):
        """Waits until each upload that has begun has succeeded."""
        self._ended.set()
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]

    def counts(self, fault: str) -> dict[str, dict[int, int]]:
        """The number of responses during a fault by kind and status."""
        counts: dict[str, Counter] = {}
        for sample in self.samples:
            if sample.fault == fault:
                counts.setdefault(sample.kind, Counter())[sample.status] += 1
        return {kind: dict(sorted(by_status.items())) for kind, by_status in sorted(counts.items())}

    def slowest(self, fault: str) -> float:
        return max((sample.seconds for sample in self.samples if sample.fault == fault), default=0)

    def _repeat(self, function):
        session = niquests.Session()
        try:
            while not self._ended.is_set():
                function(session)
                time.sleep(PAUSE)
        except Exception as error:
            self._errors.append(error)

    def _upload(self, session: niquests.Session):
        """Sends a new photo until it is stored, as a sync app does."""
        number = next(self._numbers)
        content, credentials = photos.photo(number, PADDING), (self._person.email, self._person.key)
        while self._send(session, "upload", "PUT", f"/dav/{number}.jpg", data=content, auth=credentials) is None:
            time.sleep(PAUSE)
        self.uploaded.append(hashlib.sha256(content).hexdigest())

    def _read(self, session: niquests.Session):
        page = self._send(session, "list", "GET", "/api/ext/v2/images", params={"limit": 10}, headers=self._person.bearer)
        if page is not None and page.json()["results"]:
            self._send(session, "photo", "GET", page.json()["results"][0]["url"])

    def _send(self, session: niquests.Session, kind: str, method: str, path: str, **options) -> niquests.Response | None:
        """Returns the response if it is a success."""
        base, fault, started = self._person.machines.url, self.fault, time.monotonic()
        try:
            answer = session.request(method, base + path.removeprefix(base), timeout=TIMEOUT_S, **options)
            status, retry, text = answer.status_code, "retry-after" in answer.headers, answer.text[:200] if not answer.ok else ""
        except niquests.RequestException as error:
            answer, status, retry, text = None, BROKEN, False, repr(error)
        self.samples.append(Sample(kind, status, retry, fault, time.monotonic() - started, text))
        return answer if answer is not None and answer.ok else None
