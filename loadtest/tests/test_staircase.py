from loadtest.journal import Moment, Step, add_up, finished_steps
from loadtest.shapes import step_count
from loadtest.staircase import find_knee
from loadtest.tally import Tally
from loadtest.verdict import conclude_limits

LEVELS = {"p99_ms": 100.0}


def tally(milliseconds: float, requests: int = 100) -> Tally:
    made = Tally()
    for _ in range(requests):
        made.add("/api/trending", milliseconds)
    return made


def climb(*milliseconds: float) -> list[Step]:
    return [Step((n + 1) * 10, 1, tally(time, (n + 1) * 100)) for n, time in enumerate(milliseconds)]


def test_the_knee_is_the_last_step_before_the_first_that_broke() -> None:
    knee = find_knee(climb(1, 5, 300, 2), LEVELS)
    assert knee.held is not None
    assert knee.broke is not None
    assert (knee.held.users, knee.broke.users) == (20, 30)


def test_stairs_that_end_before_anything_breaks_have_no_break() -> None:
    knee = find_knee(climb(1, 5), LEVELS)
    assert knee.held is not None
    assert knee.held.users == 20
    assert knee.broke is None


def test_a_first_step_that_breaks_leaves_nothing_that_held() -> None:
    assert find_knee(climb(300, 1), LEVELS).held is None


def test_the_conclusion_names_both_rates_and_what_broke() -> None:
    said = conclude_limits(climb(1, 5, 300), LEVELS)
    assert "holds at 200 requests a second and breaks at 300: p99 300 ms (at most 100 ms)" in said


def test_where_the_load_generator_was_late_the_conclusion_says_that_it_may_hold_more() -> None:
    steps = climb(1, 300)
    steps[1].tally.delayed_requests = steps[1].tally.requests
    assert "it may hold more" in conclude_limits(steps, LEVELS)


def test_a_step_leaves_out_what_was_seen_while_it_settled() -> None:
    moments = [
        Moment(at=second + 1, seconds=1, users=7, tally=tally(500 if second % 6 == 0 else 1, 10))
        for second in range(60)
    ]
    steps = finished_steps(moments, 60, now=60)
    assert len(steps) == step_count(60) == 10
    assert {(step.users, step.tally.requests, step.per_second) for step in steps} == {(7, 50, 10.0)}
    assert all(step.tally.latencies.max_ms == 1 for step in steps)


def test_a_step_that_still_runs_is_not_judged() -> None:
    moments = [Moment(second + 1, 1, 7, tally(1)) for second in range(9)]
    assert len(finished_steps(moments, 60, now=9)) == 1


def test_moments_add_up_to_their_time_and_requests() -> None:
    total = add_up([Moment(1, 1, 5, tally(1, 10)), Moment(3, 2, 5, tally(2, 50))])
    assert (total.seconds, total.tally.requests, total.per_second) == (3, 60, 20)
