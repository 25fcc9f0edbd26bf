"""The first half of a rolling upgrade, by the steps of `docs/scale.md`. The checks that follow find two programs at work."""

from checking import Log, check
from machines import PREVIOUS_PROGRAM, PROGRAM
from versions import earlier_library, in_use, migrations, pending, replace, running
from world import machines


@check
def previous_release_fills_a_library(log: Log):
    assert running(PREVIOUS_PROGRAM) == [*machines().replicas, *machines().workers]
    earlier_library().check()
    for program in [PREVIOUS_PROGRAM, PROGRAM]:
        version = machines().run(program, "--version").stdout.strip()
        log.write(f"{program}: {version}, migrations: {migrations(program)}")


@check
def current_release_waits_for_its_migrations(log: Log):
    names = pending()
    if not names:
        assert migrations(PROGRAM) == migrations(PREVIOUS_PROGRAM)
        log.write("both releases have the same migrations, so none is pending")
        return
    for words in [["serve", "--listen", "127.0.0.1:0"], ["worker"], ["account", "list"]]:
        done = machines().run(PROGRAM, *words)
        log.write(f"{words}: {done.returncode} {done.stderr}")
        assert done.returncode == 1 and all(name in done.stderr for name in names), words
    earlier_library().check()


@check
def migrations_run_while_the_previous_release_serves(log: Log):
    names = pending()
    with in_use(log, "migration"):
        done = machines().run(PROGRAM, "migrate")
        log.write(f"{names} were pending: {done.stdout}{done.stderr}")
        assert done.returncode == 0
    assert not pending()
    # Later commands, as on the machine where the new program was installed.
    machines().program = PROGRAM
    earlier_library().check()


@check
def first_machines_are_replaced_while_people_use_them(log: Log):
    with in_use(log, "first-replacement"):
        replace(machines().replicas[:1], machines().workers[:1], PROGRAM)
    assert [len(running(program)) for program in (PREVIOUS_PROGRAM, PROGRAM)] == [3, 2]
    earlier_library().check()
