"""What a run has seen so far. Tallies of several processes and of several seconds add up."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from loadtest.latency import Latencies


class Route:
    """The requests of one kind: how long they took and what went wrong with them."""

    def __init__(self) -> None:
        self.latencies = Latencies()
        self.failures: Counter[str] = Counter()

    def merge(self, other: "Route") -> None:
        self.latencies.merge(other.latencies)
        self.failures.update(other.failures)


class Tally:
    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        self.oldest_seconds: float | None = None  # age of the oldest generation served
        self.cache_answers: Counter[str] = Counter()  # "hit" or why not, from Cache-Status
        self.delayed_requests = 0  # measured while the load generator itself was late

    def add(self, route: str, milliseconds: float, failure: str | None = None) -> None:
        counted = self.routes.setdefault(route, Route())
        counted.latencies.add(milliseconds)
        if failure is not None:
            counted.failures[failure] += 1

    def add_age(self, seconds: float) -> None:
        self.oldest_seconds = max(self.oldest_seconds or 0.0, seconds)

    def merge(self, other: "Tally") -> None:
        for name, route in other.routes.items():
            self.routes.setdefault(name, Route()).merge(route)
        if other.oldest_seconds is not None:
            self.add_age(other.oldest_seconds)
        self.cache_answers.update(other.cache_answers)
        self.delayed_requests += other.delayed_requests

    @property
    def latencies(self) -> Latencies:
        """Of all routes together."""
        total = Latencies()
        for route in self.routes.values():
            total.merge(route.latencies)
        return total

    @property
    def requests(self) -> int:
        return sum(route.latencies.count for route in self.routes.values())

    @property
    def failures(self) -> Counter[str]:
        return sum((route.failures for route in self.routes.values()), Counter())

    @property
    def failed_percent(self) -> float | None:
        return 100 * self.failures.total() / self.requests if self.requests else None

    @property
    def hit_percent(self) -> float | None:
        """Share of answers from a cache, None where no answer said anything of one."""
        total = self.cache_answers.total()
        return 100 * self.cache_answers["hit"] / total if total else None

    @property
    def delayed_percent(self) -> float:
        """Share of requests whose times say as much of the load generator as of the origin."""
        return 100 * self.delayed_requests / self.requests if self.requests else 0.0

    def to_json(self) -> dict[str, object]:
        return {
            "routes": {
                name: {"latencies": route.latencies.to_json(), "failures": dict(route.failures)}
                for name, route in self.routes.items()
            },
            "oldest_seconds": self.oldest_seconds,
            "cache_answers": dict(self.cache_answers),
            "delayed_requests": self.delayed_requests,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Tally":
        tally = cls()
        for name, seen in data["routes"].items():
            route = tally.routes.setdefault(name, Route())
            route.latencies = Latencies.from_json(seen["latencies"])
            route.failures = Counter(seen["failures"])
        tally.oldest_seconds = data["oldest_seconds"]
        tally.cache_answers = Counter(data["cache_answers"])
        tally.delayed_requests = data["delayed_requests"]
        return tally
