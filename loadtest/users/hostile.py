from locust import task

from loadtest.answers import Response, WrongAnswer
from loadtest.users.client import Client, run

_REFUSALS = {400, 404, 405, 413, 414, 431}
_LONG = "a" * 12_000

# Method, target, headers. Each is to be refused.
ATTACKS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("GET", f"/api/trending?region={_LONG}", {}),
    ("GET", "/api/trending?region=GB'--", {}),
    ("GET", "/api/trending?region=%00", {}),
    ("GET", "/api/trending?limit=-1", {}),
    ("GET", "/api/trending?limit=1e9", {}),
    ("GET", "/api/trending?cursor=999999999999999-999999", {}),
    ("GET", "/api/videos/..%2f..%2fetc%2fpasswd", {}),
    ("GET", "/api/videos/%zz", {}),
    ("GET", "/.env", {}),
    ("PUT", "/api/trending", {}),
    ("PROPFIND", "/api/trending", {}),
    ("GET", "/api/trending?region=XX", {"X-Forwarded-For": _LONG}),
)


class Hostile(Client):
    """Tries what attackers try. Any refusal is right; a 2xx, a 5xx or no answer is a failure."""

    @task
    def attack(self) -> None:
        method, target, headers = run.dice.choice(ATTACKS)
        self.ask("hostile (4xx is right)", target, _require_refused, method=method, headers=headers)


def _require_refused(response: Response) -> None:
    if response.status not in _REFUSALS | {410}:
        raise WrongAnswer(f"status {response.status} instead of a refusal")
