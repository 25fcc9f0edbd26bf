"""What one replica decides holds on all others from the next request on."""

import threading
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from itertools import permutations

from checking import Log, check
from client import App, Client, Person
from machines import REPLICA_CLOCKS, Machines, Replica
from world import FULL, machines

ROUNDS = 20 if FULL else 3
#: The contract's limit of failed sign-ins for an email address from one network address.
MAX_FAILED_SIGN_INS = 10
PHOTOS = 60
PHOTOS_MEANWHILE = 20


@check
def clocks_differ(log: Log):
    """Without this, the other checks would show less than they say."""
    dates = [parsedate_to_datetime(Client(machines()).request("GET", "/healthz", at).headers["date"]) for at in machines().replicas]
    seconds = [round((date - dates[0]).total_seconds()) for date in dates]
    log.write(f"the clocks of the replicas differ by {seconds} s")
    assert all(abs(real - expected) <= 5 for real, expected in zip(seconds, REPLICA_CLOCKS)), seconds


@check
def revoked_token_fails_on_the_others(log: Log):
    person = Person(machines(), "revoked")
    app = App(person)
    orders = list(permutations(machines().replicas))
    for number in range(ROUNDS):
        revoking, *others = orders[number % len(orders)]
        tokens = app.connect()
        access, refresh = tokens["access_token"], tokens["refresh_token"]
        assert [app.status(access, at) for at in machines().replicas] == [200, 200, 200]
        app.revoke(access if number % 2 else refresh, revoking)
        assert [app.status(access, at) for at in [*others, revoking]] == [401, 401, 401]
        assert [app.refresh(refresh, at).status_code for at in others] == [400, 400]


@check
def revoked_key_and_ended_session_fail_on_all(log: Log):
    person = Person(machines(), "keys")
    for _ in range(ROUNDS):
        assert library_statuses(person) == [200, 200, 200]
        machines().command("key", "revoke", person.email, "tests")
        assert library_statuses(person) == [401, 401, 401]
        person.key = machines().command("key", "create", person.email, "--name", "tests").split()[-1]
    for _ in range(ROUNDS):
        browser = Client(machines())
        assert person.sign_in(browser).status_code == 303
        # The browser forgets the cookie when it signs out.
        stolen = browser.copy()
        page = browser.request("GET", "/account")
        assert account_statuses(stolen) == [200, 200, 200]
        assert browser.submit("/account", page, action="/sign-out").status_code == 303
        assert account_statuses(stolen) == [302, 302, 302], "they lead to the sign-in page"


def account_statuses(browser: Client) -> list[int]:
    return [browser.request("GET", "/account", at).status_code for at in machines().replicas]


def library_statuses(person: Person) -> list[int]:
    return [person.api("GET", "library", at).status_code for at in machines().replicas]


@check
def one_of_two_redemptions_succeeds(log: Log):
    app = App(Person(machines(), "redeemed"))
    pairs = list(permutations(machines().replicas, 2))
    for number in range(ROUNDS):
        pair, code = pairs[number % len(pairs)], app.code()
        winner = one_of_two(lambda at: app.redeem(code, at), pair)
        assert [app.status(winner["access_token"], at) for at in machines().replicas] == [200, 200, 200]
        refresh = winner["refresh_token"]
        winner = one_of_two(lambda at: app.refresh(refresh, at), pair)
        # The one that lost was no attack, so the grant lives.
        assert [app.status(winner["access_token"], at) for at in machines().replicas] == [200, 200, 200]


def one_of_two(send, pair: tuple[Replica, Replica]) -> dict[str, str]:
    """Sends a request to two replicas at the same time. Returns the answer of the one that succeeded."""
    together = threading.Barrier(len(pair))

    def send_together(at: Replica):
        together.wait()
        return send(at)

    with ThreadPoolExecutor() as threads:
        answers = list(threads.map(send_together, pair))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200, 400], [answer.text for answer in answers]
    [winner] = [answer.json() for answer in answers if answer.status_code == 200]
    return winner


@check
def sign_in_and_consent_change_the_replica_with_every_request(log: Log):
    for number in range(ROUNDS):
        person = Person(machines(), f"consent-{number}")
        tokens = App(person).connect()
        assert tokens["refresh_token"]
        assert person.browser.request("GET", "/account").status_code == 200


@check
def lock_out_counts_on_all_replicas(log: Log):
    person, other = Person(machines(), "locked"), Person(machines(), "not-locked")
    browser = Client(machines())
    for _ in range(MAX_FAILED_SIGN_INS):
        refused = person.sign_in(browser, "a wrong password")
        assert refused.status_code not in (303, 429), refused.text
    for _ in machines().replicas:
        locked = person.sign_in(browser)
        assert locked.status_code == 429 and int(locked.headers["retry-after"]) > 0, locked.text
    assert other.sign_in(browser).status_code == 303


@check
def pages_are_complete_while_photos_arrive(log: Log):
    """Each page comes from another replica, and photos arrive through all of them meanwhile."""
    person = Person(machines(), "pages")
    person.upload_photos(range(PHOTOS))
    person.wait_until_indexed(PHOTOS)
    arriving = threading.Thread(target=person.upload_photos, args=(range(PHOTOS, PHOTOS + PHOTOS_MEANWHILE),))
    arriving.start()
    seen = person.image_ids()
    arriving.join()
    assert len(seen) == len(set(seen)), "a photo is on two pages"
    assert PHOTOS <= len(seen) <= PHOTOS + PHOTOS_MEANWHILE, len(seen)
    person.wait_until_indexed(PHOTOS + PHOTOS_MEANWHILE)
    assert len(person.image_ids()) == PHOTOS + PHOTOS_MEANWHILE


@check
def signed_urls_are_valid_on_all_replicas(log: Log):
    person = Person(machines(), "urls")
    person.upload_photos(range(3))
    person.wait_until_indexed(3)
    for at in machines().replicas:
        answer = person.api("GET", "images", at)
        for image in answer.json()["results"]:
            statuses = [person.browser.request("GET", image["url"], other).status_code for other in machines().replicas]
            assert statuses == [200, 200, 200], f"URLs of {at.url}: {statuses}"
