"""Keeps the server and the load generator off each other's core."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Cores:
    server: frozenset[int]
    driver: frozenset[int]

    @property
    def are_apart(self) -> bool:
        return self.server.isdisjoint(self.driver)


def available_cores() -> frozenset[int]:
    return frozenset(os.sched_getaffinity(0))


def divide_cores(available: frozenset[int], server_count: int = 1) -> Cores:
    """The last core drives, the ones before it serve; a single core has to do both."""
    ordered = sorted(available)
    if len(ordered) == 1:
        return Cores(available, available)
    return Cores(frozenset(ordered[-1 - server_count : -1] or ordered[:1]), frozenset(ordered[-1:]))


@contextmanager
def on_cores(cores: frozenset[int]) -> Iterator[None]:
    """What is started inside stays on these cores: a process inherits them from its parent."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
