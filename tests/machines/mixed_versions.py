"""Replicas and workers of two releases share one library: what a program of one does, the others continue."""

import hashlib
import secrets
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice, permutations

import niquests

import photos
from checking import Log, check, wait_until
from client import App, Client, Person
from machines import PREVIOUS_PROGRAM, PROGRAM, Replica
from versions import LOOK, found, only
from world import machines

#: Photos that each program indexes.
PHOTOS = 5
#: Bytes of a photo that is sent in parts, beyond its picture.
PADDING = 300_000
REFRESHES = 6
SIDECAR = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>
<rdf:li xml:lang="x-default">{}</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>"""


def pairs() -> list[tuple[Replica, Replica]]:
    """A replica of each release, in both orders."""
    return list(permutations(one_of_each(), 2))


def one_of_each() -> list[Replica]:
    """A replica of each release."""
    return [next(at for at in machines().replicas if at.program == program) for program in (PREVIOUS_PROGRAM, PROGRAM)]


def person_with_photos(name: str, count: int = PHOTOS, prefix: str = "") -> Person:
    person = Person(machines(), name)
    person.upload_photos(range(count), prefix=prefix)
    person.wait_until_indexed(count)
    return person


@check
def session_of_one_release_is_valid_on_the_other(log: Log):
    person = Person(machines(), "sessions")
    for one, other in pairs():
        browser = Client(machines())
        assert person.sign_in(browser, at=one).status_code == 303
        # The browser forgets the cookie when it signs out.
        stolen = browser.copy()
        page = browser.request("GET", "/account", other)
        assert page.status_code == 200
        assert browser.submit("/account", page, one, action="/sign-out").status_code == 303
        assert [stolen.request("GET", "/account", at).status_code for at in (other, one)] == [302, 302]


@check
def refresh_tokens_pass_between_releases(log: Log):
    app = App(Person(machines(), "refreshes"))
    tokens = app.connect()
    for at in islice(cycle(one_of_each()), REFRESHES):
        answer = app.refresh(tokens["refresh_token"], at)
        assert answer.status_code == 200, answer.text
        tokens = answer.json()
        assert [app.status(tokens["access_token"], at) for at in one_of_each()] == [200, 200]


@check
def chunked_upload_is_finished_by_the_other_release(log: Log):
    """By the protocol of Nextcloud's apps."""
    person = Person(machines(), "chunks")
    for number, (one, other) in enumerate(pairs()):
        content, name = photos.photo(number, PADDING), f"chunked-{number}.jpg"
        folder = f"/remote.php/dav/uploads/{person.email}/{secrets.token_hex(8)}"
        target = {"Destination": f"{machines().url}/remote.php/dav/files/{person.email}/{name}"}
        half = len(content) // 2
        steps = [
            ("MKCOL", folder, one, b""),
            ("PUT", f"{folder}/00001", one, content[:half]),
            ("PUT", f"{folder}/00002", other, content[half:]),
            ("MOVE", f"{folder}/.file", other, b""),
        ]
        for method, path, at, body in steps:
            answer = person.sync(method, path, at, headers=target, data=body)
            assert answer.status_code in (201, 204), f"{method} {path}: {answer.status_code} {answer.text}"
        assert_ready(person, number + 1, content)


@check
def resumable_upload_is_finished_by_the_other_release(log: Log):
    """By tus."""
    person = Person(machines(), "resumed")
    for number, (one, other) in enumerate(pairs()):
        content = photos.photo(number, PADDING)
        half, name = len(content) // 2, b64encode(f"resumed-{number}.jpg".encode()).decode()
        begin = {"Upload-Length": str(len(content)), "Upload-Metadata": f"filename {name}"}
        begun = send_part(person, "POST", "/upload/", one, begin)
        assert begun.status_code == 201, begun.text
        place = begun.headers["location"]
        part = {"Content-Type": "application/offset+octet-stream"}
        sent = send_part(person, "PATCH", place, one, part | {"Upload-Offset": "0"}, content[:half])
        assert sent.status_code == 204, sent.text
        reached = send_part(person, "HEAD", place, other, {}).headers["upload-offset"]
        assert int(reached) == half
        sent = send_part(person, "PATCH", place, other, part | {"Upload-Offset": reached}, content[half:])
        assert sent.status_code == 204 and sent.headers["photo-result"] == "imported", sent.text
        # The result stays known, on the replica that began it, too.
        assert send_part(person, "HEAD", place, one, {}).headers["photo-id"] == sent.headers["photo-id"]
        assert_ready(person, number + 1, content)


def send_part(
    person: Person, method: str, path: str, at: Replica, headers: dict[str, str], body: bytes = b""
) -> niquests.Response:
    headers = person.bearer | {"Tus-Resumable": "1.0.0"} | headers
    return person.browser.request(method, path, at, headers=headers, data=body)


def assert_ready(person: Person, count: int, content: bytes):
    """Waits until there are this many photos, and checks that this is one of them."""
    person.wait_until_indexed(count)
    assert hashlib.sha256(content).hexdigest() in person.images("ready")


@check
def album_of_one_release_is_changed_by_the_other(log: Log):
    person = person_with_photos("albums")
    ids = person.image_ids()
    for one, other in pairs():
        made = person.api("POST", "albums", one, json={"title": "Walks", "imageIds": ids[:2]})
        assert made.status_code == 201, made.text
        path = f"albums/{made.json()['result']['id']}"
        change = {"title": "Long walks", "addImageIds": ids[2:], "removeImageIds": ids[:1]}
        changed = person.api("PATCH", path, other, json=change)
        assert changed.status_code == 200, changed.text
        for at in (one, other):
            album = person.api("GET", path, at).json()["result"]
            assert (album["title"], album["imageCount"]) == ("Long walks", PHOTOS - 1), album
            assert sorted(found(person, at, albumId=album["id"])) == sorted(ids[1:])
            assert [listed["id"] for listed in person.api("GET", "albums", at).json()["results"]] == [album["id"]]
        assert person.api("DELETE", path, one).status_code == 204
        assert [person.api("GET", path, at).status_code for at in (other, one)] == [404, 404]


@check
def photos_indexed_by_either_release_are_found_by_both(log: Log):
    person = Person(machines(), "indexed")
    words = {PREVIOUS_PROGRAM: "lighthouse", PROGRAM: "windmill"}
    for number, (program, word) in enumerate(words.items()):
        with only(program):
            at = next(at for at in machines().replicas if at.program == program)
            person.upload_photos(range(PHOTOS * number, PHOTOS * (number + 1)), at, f"{word}-")
            person.wait_until_indexed(PHOTOS * (number + 1))
            # A sidecar is read after its photo.
            sidecar = SIDECAR.format(word).encode()
            assert person.upload(f"{word}-{PHOTOS * number}.jpg.xmp", sidecar, at).status_code == 201
            wait_until(lambda: found(person, at, query=word, channels="text"), "the sidecar is not read")
    for at in machines().replicas:
        for word in words.values():
            assert len(found(person, at, query=word)) == PHOTOS, f"{word} on {at.url}"
            assert len(found(person, at, query=word, channels="text")) == 1, "it searches descriptions, not names"
        by_look = lambda: len(found(person, at, query=LOOK, channels="image"))
        wait_until(lambda: by_look() == 2 * PHOTOS, "photos are not found by their look")
        check_renditions(person, at)


def check_renditions(person: Person, at: Replica):
    """Checks that each replica serves all renditions that this one links to."""
    for image in person.image_ids(at):
        for url in person.api("GET", f"images/{image}", at).json()["result"]["renditions"].values():
            statuses = [person.browser.request("GET", url, other).status_code for other in machines().replicas]
            assert statuses == [200, 200, 200], f"{url} of {at.url}: {statuses}"


@check
def sidecar_sent_to_the_other_release_describes_the_photo(log: Log):
    person = Person(machines(), "sidecars")
    for number, (one, other) in enumerate(pairs()):
        word = f"ferry{number}"
        assert person.upload(f"{number}.jpg", photos.photo(number), one).status_code == 201
        assert person.upload(f"{number}.jpg.xmp", SIDECAR.format(word).encode(), other).status_code == 201
        for at in (one, other):
            wait_until(lambda: len(found(person, at, query=word, channels="text")) == 1, f"{word} is not found")


@check
def same_photo_sent_to_both_is_there_once(log: Log):
    person = Person(machines(), "twice")
    contents = [photos.photo(number) for number in range(3 * PHOTOS)]
    with ThreadPoolExecutor(4) as threads:
        order = [(number, content, at) for number, content in enumerate(contents) for at in one_of_each()]
        sent = [threads.submit(send, person, *what) for what in order]
        answers = [answer.result() for answer in sent]
    assert {answer.status_code for answer in answers} == {201}, [answer.text for answer in answers]
    person.wait_until_indexed(len(contents))
    assert person.images("ready") == sorted(hashlib.sha256(content).hexdigest() for content in contents)
    for at in machines().replicas:
        assert len(person.image_ids(at)) == len(contents)


def send(person: Person, number: int, content: bytes, at: Replica) -> niquests.Response:
    """Uploads in a session of its own, because others do at the same time."""
    name = f"{at.program == PROGRAM}-{number}.jpg"
    return Client(machines()).request("PUT", f"/dav/{name}", at, data=content, auth=(person.email, person.key))


@check
def photo_deleted_on_one_is_gone_on_the_other(log: Log):
    person = person_with_photos("deleted", prefix="heron-")
    ids = {image["fileName"]: image["id"] for image in person.api("GET", "images").json()["results"]}
    for number, (one, other) in enumerate(pairs()):
        by_api, by_sync = f"heron-{2 * number}.jpg", f"heron-{2 * number + 1}.jpg"
        assert person.api("DELETE", f"images/{ids[by_api]}", one).status_code == 204
        assert person.sync("DELETE", f"/dav/{by_sync}", one).status_code == 204
        for gone in (ids[by_api], ids[by_sync]):
            assert person.api("GET", f"images/{gone}", other).status_code == 404
            assert gone not in person.image_ids(other) + found(person, other, query="heron")
        # The same bytes restore it.
        assert person.upload(by_sync, photos.photo(2 * number + 1), other).status_code == 201
        wait_until(lambda: ids[by_sync] in found(person, one, query="heron"), f"{by_sync} is not restored")


@check
def account_deleted_by_either_release_is_gone_on_both(log: Log):
    for number, program in enumerate((PREVIOUS_PROGRAM, PROGRAM)):
        person = person_with_photos(f"leaving-{number}")
        done = machines().run(program, "account", "delete", person.email, "--yes")
        assert done.returncode == 0, f"{program}: {done.stderr}"
        assert [person.api("GET", "library", at).status_code for at in machines().replicas] == [401, 401, 401]


@check
def both_programs_find_the_library_consistent(log: Log):
    for program in (PREVIOUS_PROGRAM, PROGRAM):
        done = machines().run(program, "fsck", "--checksums")
        log.write(f"{program}: {done.stdout}{done.stderr}")
        assert done.returncode == 0 and done.stdout.endswith("Everything agrees.\n"), done.stdout
