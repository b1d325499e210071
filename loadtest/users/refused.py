"""Users whose requests have to be refused: a 4xx that says why is the right response."""

from functools import partial

from locust import task

from loadtest.context import context
from loadtest.contract import LARGEST_LIMIT
from loadtest.responses import Response, require
from loadtest.users.base import TrendVaultUser

_LONG = "a" * 12_000

# Method, target, the status that is due, the kind of the problem.
INVALID_REQUESTS = (
    ("GET", "/api/trending?region=XX", 400, "invalid-parameter"),
    ("GET", "/api/trending?region=GB&region=DE", 400, "invalid-parameter"),
    ("GET", f"/api/trending?limit={LARGEST_LIMIT + 1}", 400, "invalid-parameter"),
    ("GET", "/api/trending?limit=many", 400, "invalid-parameter"),
    ("GET", "/api/trending?window=month", 400, "invalid-parameter"),
    ("GET", "/api/trending?page=2", 400, "invalid-parameter"),
    ("GET", "/api/trending?cursor=next", 400, "invalid-parameter"),
    ("GET", "/api/trending?category=No+such+category", 400, "invalid-parameter"),
    ("GET", "/api/trendin", 404, "not-found"),
    ("GET", "/api/videos/no-such-video", 404, "not-found"),
    ("POST", "/api/trending", 405, "method-not-allowed"),
    ("DELETE", "/api/regions", 405, "method-not-allowed"),
)

# Method, target, headers.
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


class InvalidRequestUser(TrendVaultUser):
    """Makes the mistakes of clients. Each has a status and a problem that is due."""

    @task
    def send_invalid_request(self) -> None:
        method, target, status, kind = context.rng.choice(INVALID_REQUESTS)
        check = partial(context.check.problem, status, kind)
        self.fetch("invalid request (4xx is right)", target, check, method=method)


class AttackUser(TrendVaultUser):
    """Sends what attackers send. Any refusal is right; a 2xx, a 5xx or no response is a failure."""

    @task
    def attack(self) -> None:
        method, target, headers = context.rng.choice(ATTACKS)
        self.fetch("attack (4xx is right)", target, _require_refused, method=method, headers=headers)


def _require_refused(response: Response) -> None:
    refused = response.status in {400, 404, 405, 410, 413, 414, 431}
    require(refused, f"status {response.status} instead of a refusal")
