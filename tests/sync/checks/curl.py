"""curl: single requests, limits and memory."""

import re
import subprocess
from functools import cache
from pathlib import Path

import photos
from checking import TIME_LIMIT_S, Log, check
from documented import EXAMPLE_URL, commands, with_values
from memory import watched
from service import FOLDER, Account, shared

MEGABYTE = 1_000_000
#: The server's default limit is 200 MB.
LARGE = 180 * MEGABYTE
TOO_LARGE = 5_000 * MEGABYTE
#: Far below the size of the files, so that the check fails if the server holds a file in memory.
MAX_GROWTH = 60 * MEGABYTE


@cache
def account() -> Account:
    return shared().account("curl")


@cache
def folder() -> Path:
    path = FOLDER / "curl"
    path.mkdir(exist_ok=True)
    return path


def curl(log: Log, *words, status: int | None = 0) -> str:
    """Runs curl with the credentials of the account. The output ends with the status of the response."""
    credentials = f"{account().handle}:{account().sync_password}"
    options = ["--silent", "--show-error", "--write-out", "\n%{http_code}"]
    return log.run("curl", *options, "--user", credentials, *words, status=status)


def http_status(output: str) -> int:
    return int(output.splitlines()[-1])


def put(log: Log, path: Path, name: str, *words) -> str:
    return curl(log, "--upload-file", path, *words, account().plain_url + name)


def written(name: str, content: bytes) -> Path:
    photos.write(folder() / name, content, 1_600_000_000)
    return folder() / name


@check
def curl_uploads_after_100_continue(log: Log):
    """curl waits for the interim response before it sends the file."""
    photo = written("first.jpg", photos.photo(50_000))
    output = put(log, photo, "first.jpg", "--verbose", "--header", "Expect: 100-continue", "--expect100-timeout", "60")
    assert "< HTTP/1.1 100 Continue" in output and http_status(output) == 201, output
    assert len(account().library()) == 1


@check
def curl_sends_no_file_with_wrong_credentials(log: Log):
    """The response comes before the file, because curl waits for it."""
    photo = written("unsent.jpg", photos.photo(50_001))
    options = ["--silent", "--verbose", "--header", "Expect: 100-continue", "--expect100-timeout", "60"]
    credentials = f"{account().handle}:wrong"
    url = account().plain_url + "unsent.jpg"
    output = log.run("curl", *options, "--user", credentials, "--upload-file", photo, url)
    assert "< HTTP/1.1 401" in output and "100 Continue" not in output, output


@check
def curl_is_refused_by_its_length(log: Log):
    """5 GB with a Content-Length are refused before they are sent."""
    zeros = folder() / "zeros.jpg"
    with zeros.open("wb") as file:
        file.truncate(TOO_LARGE)
    # Without `Expect`, curl begins to send the file at once.
    for more in (["--header", "Expect:"], ["--header", "Expect: 100-continue"]):
        with watched(account().service.process_id) as peak:
            output = put(log, zeros, "zeros.jpg", *more, "--write-out", "\n%{size_upload}\n%{http_code}")
        sent = int(output.splitlines()[-2])
        log.write(f"sent {sent} bytes; memory grew by {peak.growth} bytes")
        assert http_status(output) == 413 and sent < 20 * MEGABYTE, output
        assert peak.growth < MAX_GROWTH, f"memory grew by {peak.growth} bytes"
    zeros.unlink()


@check
def curl_is_refused_at_the_limit(log: Log):
    """5 GB without a Content-Length are refused once the limit has been passed, in constant memory."""
    with watched(account().service.process_id) as peak:
        status = _status_of_endless_photo(log)
    log.write(f"memory grew by {peak.growth} bytes")
    assert status == 413
    assert peak.growth < MAX_GROWTH, f"memory grew by {peak.growth} bytes"
    assert set(account().files.files()) == {"first.jpg"}


def _status_of_endless_photo(log: Log) -> int:
    """Sends a photo that is followed by zeros, in chunks without an end, until the service refuses it."""
    url = account().plain_url + "endless.jpg"
    credentials = f"{account().handle}:{account().sync_password}"
    command = ["curl", "--silent", "--show-error", "--write-out", "\n%{http_code}", "--user", credentials]
    command += ["--header", "Expect:", "--header", "Transfer-Encoding: chunked", "--upload-file", "-", url]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    sent, block = 0, bytes(MEGABYTE)
    try:
        process.stdin.write(photos.photo(50_002))
        while sent < TOO_LARGE:
            process.stdin.write(block)
            sent += len(block)
        process.stdin.close()
    except BrokenPipeError:
        # curl has exited, because the service refused the file.
        process.stdin = None
    output = process.communicate(timeout=TIME_LIMIT_S)[0].decode()
    log.write(f"curl read {sent} bytes\n{output}")
    assert sent < 1_000 * MEGABYTE, "the service has read far more than its limit"
    return http_status(output)


@check
def curl_uploads_a_large_photo(log: Log):
    """A photo of 180 MB is accepted in constant memory, and becomes an image."""
    photo = written("large.jpg", photos.photo(50_003, padding=LARGE))
    before = len(account().library())
    with watched(account().service.process_id) as peak:
        output = put(log, photo, "large.jpg")
    log.write(f"memory grew by {peak.growth} bytes")
    assert http_status(output) == 201, output
    assert peak.growth < MAX_GROWTH, f"memory grew by {peak.growth} bytes"
    assert len(account().library()) == before + 1
    photo.unlink()


@check
def curl_reads_no_original(log: Log):
    url = account().plain_url + "first.jpg"
    assert http_status(curl(log, url)) == 403
    head = curl(log, "--head", url)
    assert http_status(head) == 200 and "oc-fileid:" in head.lower() and "etag:" in head.lower(), head


@check
def curl_examples_of_the_manual_work(log: Log):
    """Runs the commands of `docs/sync.md`: a resumable upload, and the question which photos are known."""
    photos.write(folder() / "photo.jpg", photos.photo(50_004), 1_600_000_000)
    before, name = len(account().library()), ""
    examples = commands("curl")
    assert len(examples) == 3, examples
    outputs = []
    for example in examples:
        command = with_values(example, KEY=account().key, NAME=name).replace(EXAMPLE_URL, account().service.url)
        outputs.append(log.run("sh", "-c", command.replace("curl ", "curl --silent --show-error ", 1), cwd=folder()))
        if location := re.search(r"(?im)^location: .*/upload/(\S+)", outputs[-1]):
            name = location[1]
    begun, sent, known = outputs
    assert "201 Created" in begun and name, begun
    assert re.search("(?im)^photo-result: imported", sent), sent
    assert known.split() == ['{"known":[]}'], known
    assert len(account().library()) == before + 1
