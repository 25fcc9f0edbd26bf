"""The second half of a rolling upgrade, and one step back to the previous release."""

from collections import Counter

from checking import Log, check
from machines import PREVIOUS_PROGRAM, PROGRAM
from versions import NEWER, earlier_library, in_use, migrations, replace, running
from world import FOLDER, machines


@check
def other_machines_are_replaced_while_people_use_them(log: Log):
    with in_use(log, "second-replacement"):
        replace(machines().replicas[1:], machines().workers[1:], PROGRAM)
    assert running(PREVIOUS_PROGRAM) == []
    earlier_library().check()
    log.write(machines().command("fsck", "--checksums"))


@check
def previous_release_runs_with_the_newer_schema(log: Log):
    """One step back: first one of the replicas and workers, then all."""
    with in_use(log, "step-back"):
        replace(machines().replicas[:1], machines().workers[:1], PREVIOUS_PROGRAM)
        earlier_library().check()
        replace(machines().replicas[1:], machines().workers[1:], PREVIOUS_PROGRAM)
    assert running(PROGRAM) == []
    earlier_library().check()


@check
def newer_migrations_are_reverted_while_the_previous_release_serves(log: Log):
    states = migrations(PREVIOUS_PROGRAM)
    newer = [name for name in migrations(PROGRAM) if name not in states]
    assert list(states.values()).count(NEWER) == len(newer), states
    log.write(f"newer migrations: {newer}")
    with in_use(log, "revert"):
        for _ in newer:
            # Only the current program has the statements.
            log.write(machines().command("migrate", "--revert"))
    assert [name for name, state in migrations(PROGRAM).items() if state == "pending"] == newer
    machines().program = PREVIOUS_PROGRAM
    earlier_library().check()
    log.write(machines().command("fsck", "--checksums"))


@check
def no_machine_has_logged_an_error(log: Log):
    lines = [line for file in FOLDER.glob("*/log.txt") for line in file.read_text().splitlines()]
    assert any(" INFO " in line for line in lines)
    messages = Counter(line.split(maxsplit=2)[2] for line in lines if " WARN " in line)
    for message, count in messages.most_common():
        log.write(f"{count} × {message}")
    errors = [line for line in lines if " ERROR " in line or "panicked" in line]
    assert not errors, errors
