"""Checks: functions that use a real client and fail with an exception. Each has a log of its own."""

import os
import subprocess
import time
import traceback
from pathlib import Path

#: Ends a program that hangs. Long enough for a busy machine: no verdict depends on speed.
TIME_LIMIT_S = 10 * 60

#: The checks in the order in which they were defined. Later ones of a module may rely on earlier ones.
CHECKS = []


def check(function):
    """Registers a check. Its name is that of the function, with hyphens."""
    CHECKS.append(function)
    return function


def name_of(function) -> str:
    return function.__name__.replace("_", "-")


def run_one(function, folder: Path) -> bool:
    """Runs a check, prints its result, and prints its log if it failed."""
    name = name_of(function)
    path, started = folder / f"{name}.log", time.monotonic()
    with path.open("w", encoding="utf-8") as file:
        try:
            function(Log(file))
            failure = None
        except Exception as error:
            traceback.print_exc(file=file)
            failure = error
    took = f"{time.monotonic() - started:.1f} s"
    if failure is None:
        print(f"{name}: ok, {took}", flush=True)
    else:
        print(f"{name}: FAILED ({type(failure).__name__}), {took}\n{tail(path)}", flush=True)
    return failure is None


def run_checks(words: list[str], folder: Path, clean_up) -> int:
    """Runs the checks whose names contain one of the words, or all without words. Returns the exit status."""
    chosen = [function for function in CHECKS if any(word in name_of(function) for word in words or [""])]
    try:
        passed = sum(run_one(function, folder) for function in chosen)
    finally:
        clean_up()
    failed = len(chosen) - passed
    # The form of Rust's test programs, which the caller reads.
    print(f"test result: {'FAILED' if failed else 'ok'}. {passed} passed; {failed} failed;")
    return 1 if failed else 0


def tail(log: Path, lines: int = 60) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


class Log:
    """The log of a check, with the output of each program that it runs."""

    def __init__(self, file):
        self._file = file

    def write(self, text: str):
        self._file.write(f"{text}\n")
        self._file.flush()

    def run(self, *command, status: int | None = 0, stdin: str = "", cwd=None, **environment) -> str:
        """Runs a program and returns its output, stdout and stderr together.

        Fails if the exit status differs from `status`; `None` accepts every status. `environment` is added to the
        caller's.
        """
        words = [str(word) for word in command]
        self.write(f"$ {' '.join(words)[:2000]}")
        done = subprocess.run(
            words,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=TIME_LIMIT_S,
            cwd=cwd,
            env=os.environ | environment,
        )
        self.write(done.stdout)
        if status is not None and done.returncode != status:
            raise AssertionError(f"{words[0]} exited with {done.returncode}, not {status}:\n{done.stdout[-2000:]}")
        return done.stdout


def wait_until(condition, what: str):
    """Waits until `condition()` is true."""
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > TIME_LIMIT_S:
            raise AssertionError(f"timed out: {what}")
        time.sleep(0.05)
