import json

from loadtest.tally import Tally


def tally(route: str, times: list[float], failure: str | None = None) -> Tally:
    made = Tally()
    for milliseconds in times:
        made.add(route, milliseconds, failure)
    return made


def test_tallies_of_several_processes_add_up_also_through_json() -> None:
    total = tally("a", [1, 2, 3])
    other = tally("a", [4], "wrong region")
    other.merge(tally("b", [5, 6], "status 500"))
    other.add_age(7.5)
    other.cache_answers["hit"] += 2
    other.delayed_requests = 2
    total.merge(Tally.from_json(json.loads(json.dumps(other.to_json()))))
    assert total.requests == 6
    assert total.failures == {"wrong region": 1, "status 500": 2}
    assert total.routes["a"].latencies.count == 4
    assert total.latencies.max_ms == 6
    assert (total.oldest_seconds, total.hit_percent) == (7.5, 100)
    assert round(total.delayed_percent) == 33


def test_the_oldest_generation_counts() -> None:
    seen = Tally()
    for seconds in (3, 40, 5):
        seen.add_age(seconds)
    assert seen.oldest_seconds == 40


def test_nothing_seen_is_no_share() -> None:
    assert Tally().failed_percent is None
    assert Tally().hit_percent is None
