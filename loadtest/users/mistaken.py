from locust import task

from loadtest.answers import Response, WrongAnswer
from loadtest.users.client import Client, run

# Method, target, the status that is due, the problem's type.
MISTAKES = (
    ("GET", "/api/trending?region=XX", 400, "invalid-parameter"),
    ("GET", "/api/trending?region=GB&region=DE", 400, "invalid-parameter"),
    ("GET", "/api/trending?limit=51", 400, "invalid-parameter"),
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


class Mistaken(Client):
    """Means well and gets it wrong. A 4xx that says why is the right answer; anything else is a failure."""

    @task
    def err(self) -> None:
        method, target, status, kind = run.dice.choice(MISTAKES)

        def check(response: Response) -> None:
            if response.status != status:
                raise WrongAnswer(f"status {response.status} instead of {status}")
            run.check.problem(kind, response)

        self.ask("mistaken (4xx is right)", target, check, method=method)
