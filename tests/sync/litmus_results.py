"""Reads litmus's output, and compares its failures with the expected ones."""

import re

#: `11. mkcol_again........... FAIL (reason)`. Between warnings, litmus prints the name in a line of its own.
RESULT = re.compile(r"^ *(\d+)\. (\w+)\.* (pass|FAIL|SKIPPED)(.*)$")
WARNED = re.compile(r"^ +\.+ (pass|FAIL)(.*)$")
STARTED = re.compile(r"^ *(\d+)\. (\w+)")


def failures(output: str) -> dict[str, str]:
    """The tests that failed or were skipped, as `NUMBER-NAME`, with litmus's reason."""
    failed, current = {}, None
    # litmus ends a line that it overwrites with a carriage return.
    for line in output.replace("\r", "\n").splitlines():
        if result := RESULT.match(line):
            number, name, verdict, reason = result.groups()
            if verdict != "pass":
                failed[f"{number}-{name}"] = f"{verdict}{reason}"
        elif started := STARTED.match(line):
            current = "-".join(started.groups())
        elif (warned := WARNED.match(line)) and warned[1] == "FAIL":
            failed[current] = f"{warned[1]}{warned[2]}"
    return failed


def expected(text: str, section: str) -> dict[str, str]:
    """The expected failures of a section. Lines of the file: `SECTION NUMBER-NAME: reason`."""
    entries = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            test, _, reason = line.partition(": ")
            assert reason.strip(), f"an expected failure without a reason: {line}"
            of, name = test.split(" ")
            if of == section:
                entries[name] = reason
    return entries


def judge(output: str, section: str, text: str):
    """Fails on a failure that is not expected, and on an expected one that did not happen."""
    summary = re.search(rf"<- summary for `{section}': of (\d+) tests run", output)
    assert summary and int(summary[1]) > 3, f"litmus did not finish:\n{output}"
    failed, listed = failures(output), expected(text, section)
    new = {name: reason for name, reason in failed.items() if name not in listed}
    assert not new, f"unexpected failures: {new}"
    not_needed = listed.keys() - failed.keys()
    assert not not_needed, f"these expected failures did not happen; remove them: {sorted(not_needed)}"
