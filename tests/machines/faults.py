"""Machines fail one after the other while people use the service. Nothing is lost, and all recovers by itself."""

import time
from contextlib import contextmanager

from checking import Log, check, wait_until
from client import App, Person
from load import BROKEN, Load
from world import FULL, machines

ROUNDS = 20 if FULL else 1
#: Time without the replica, the worker, Postgres and the bucket, in seconds.
PAUSE = 2
POSTGRES_PAUSE = 5
BUCKET_PAUSE = 20
#: Time with everything between two faults, in seconds.
CALM = 2


@check
def failing_machines_lose_nothing(log: Log):
    person = Person(machines(), "faults")
    app = App(person)
    ended, lives = app.connect(), app.connect()
    app.revoke(ended["refresh_token"], machines().replicas[0])
    # The API answers only to accounts that have synced.
    assert person.sync("PROPFIND", "/dav/").status_code == 207
    load = Load(person)
    try:
        for number in range(ROUNDS):
            run_round(log, load, number)
    finally:
        load.stop()
    judge(log, load)
    wait_until(lambda: not person.images("pending"), "photos are still pending")
    assert person.images("ready") == sorted(load.uploaded), "the library differs from the uploads that were answered"
    log.write(f"{len(load.uploaded)} photos, each there once")
    assert [app.status(ended["access_token"], at) for at in machines().replicas] == [401, 401, 401]
    assert app.refresh(lives["refresh_token"]).status_code == 200
    log.write(machines().command("fsck", "--checksums"))


def run_round(log: Log, load: Load, number: int):
    replica = machines().replicas[number % len(machines().replicas)]
    worker = machines().workers[number % len(machines().workers)]
    postgres = machines().postgres
    with fault(log, load, "replica killed", PAUSE, replica.start):
        replica.kill()
    with fault(log, load, "worker killed", PAUSE, worker.start):
        worker.kill()
    with fault(log, load, "replica restarted", PAUSE, replica.start):
        replica.stop()
    with fault(log, load, "Postgres restarted", POSTGRES_PAUSE, postgres.start):
        postgres.stop()
    with fault(log, load, "bucket away", BUCKET_PAUSE, machines().start_bucket):
        machines().bucket.stop()


@contextmanager
def fault(log: Log, load: Load, name: str, seconds: float, mend):
    """Runs the block, which breaks something, and mends it after this time. Waits until all works again."""
    time.sleep(CALM)
    load.fault, before = name, len(load.uploaded)
    yield
    time.sleep(seconds)
    mend()
    mended = time.monotonic()
    machines().wait_until_ready()
    ready = time.monotonic() - mended
    wait_until(lambda: len(load.uploaded) > before, f"no upload succeeds after: {name}")
    log.write(f"{name}: ready again after {ready:.1f} s")
    # Requests that were sent before may still end with an error.
    load.fault = f"after: {name}"


def judge(log: Log, load: Load):
    """Checks that each request succeeded, or failed in a way that tells the client to try again."""
    for name in sorted({sample.fault for sample in load.samples}):
        log.write(f"{name or 'before'}: {load.counts(name)}, slowest {load.slowest(name):.1f} s")
    for sample in load.samples:
        if sample.is_success:
            continue
        if sample.status == BROKEN:
            assert sample.kind == "photo" or "replica killed" in sample.fault, sample
        else:
            assert sample.status in (502, 503) and sample.has_retry_after, sample
        assert "worker" not in sample.fault, f"workers answer no requests: {sample}"
        assert not ("bucket" in sample.fault and sample.kind == "list"), f"lists need no bucket: {sample}"
