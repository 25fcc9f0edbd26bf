"""litmus, a test suite of WebDAV servers, with photos as its files. Planned refusals are in `litmus-expected.txt`."""

from functools import cache
from pathlib import Path

from checking import Log, check
from litmus_proxy import LitmusProxy
from litmus_results import failures, judge
from service import FOLDER, Account, shared

EXPECTED = Path(__file__).parent.parent / "litmus-expected.txt"


@cache
def account() -> Account:
    return shared().account("litmus")


def run(log: Log, section: str):
    folder = FOLDER / "litmus"
    folder.mkdir(exist_ok=True)
    with LitmusProxy(account().service.port) as port:
        # litmus writes a file of the requests to the current folder.
        url, user = f"http://127.0.0.1:{port}/dav/", account().handle
        output = log.run(
            "litmus", "-k", url, user, account().sync_password, status=None, cwd=folder, TESTS=section
        )
    (folder / "debug.log").rename(folder / f"debug-{section}.log")
    judge(output, section, EXPECTED.read_text(encoding="utf-8"))


@check
def litmus_output_is_read(log: Log):
    """Checks the reader of the output."""
    output = """ 0. init..................\r 0. init.................. pass
11. mkcol_again...........\r11. mkcol_again........... FAIL (MKCOL should fail)
18. cond_put_corrupt_token\r18. cond_put_corrupt_token WARNING: PUT failed with 412 not 423
    ......................\r    ...................... FAIL (no)
19. complex_cond_put......\r19. complex_cond_put...... pass
24. notowner_modify.......\r24. notowner_modify....... SKIPPED
<- summary for `basic': of 6 tests run: 5 passed, 1 failed. 93.8%
"""
    assert set(failures(output)) == {"11-mkcol_again", "18-cond_put_corrupt_token", "24-notowner_modify"}
    lines = ["basic 11-mkcol_again: a", "basic 18-cond_put_corrupt_token: b", "basic 24-notowner_modify: c"]
    judge(output, "basic", "\n".join(lines))
    for text in ("\n".join(lines[1:]), "\n".join([*lines, "basic 0-init: d"])):
        try:
            judge(output, "basic", text)
        except AssertionError:
            continue
        raise RuntimeError(f"accepted with {text}")


@check
def litmus_basic(log: Log):
    run(log, "basic")


@check
def litmus_copymove(log: Log):
    run(log, "copymove")


@check
def litmus_props(log: Log):
    run(log, "props")


@check
def litmus_locks(log: Log):
    run(log, "locks")


@check
def litmus_http(log: Log):
    run(log, "http")
