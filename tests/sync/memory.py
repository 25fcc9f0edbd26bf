"""Measures the memory of a process and its descendants."""

import threading
from contextlib import contextmanager

import psutil

INTERVAL_S = 0.05


class Peak:
    """The highest sum of the unshared memory of all processes, in bytes, since the start."""

    def __init__(self, process_id: int):
        self._root = psutil.Process(process_id)
        self.before = self._sum()
        self.bytes = self.before
        self.done = threading.Event()

    @property
    def growth(self) -> int:
        return self.bytes - self.before

    def watch(self):
        while not self.done.wait(INTERVAL_S):
            self.bytes = max(self.bytes, self._sum())

    def _sum(self) -> int:
        return sum(_unshared(process) for process in [self._root, *self._root.children(recursive=True)])


@contextmanager
def watched(process_id: int):
    """Measures while the context is open."""
    peak = Peak(process_id)
    thread = threading.Thread(target=peak.watch)
    thread.start()
    try:
        yield peak
    finally:
        peak.done.set()
        thread.join()


def _unshared(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().uss
    except psutil.Error:
        # The process has exited.
        return 0
