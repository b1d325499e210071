from locust import task

from loadtest.answers import Asked, Response, WrongAnswer
from loadtest.markets import CODES
from loadtest.users.client import Client, run


class Partner(Client):
    """Polls all markets in turn, and looks up what it finds."""

    @task
    def poll(self) -> None:
        self.ask("/api/regions", "/api/regions", _check_regions)
        for region in CODES:
            self.pause()
            page = self.ask_page("/api/trending", Asked(region, run.dice.choice(["now", "day", "week"]), 50))
            if page is not None and page.ids:
                self._look_up(run.dice.choice(page.ids))

    def _look_up(self, video: str) -> None:
        def check(response: Response) -> None:
            body = run.check.json("/api/videos/{id}", response)
            if body["id"] != video:
                raise WrongAnswer("another video")

        self.ask("/api/videos/{id}", f"/api/videos/{video}", check)


def _check_regions(response: Response) -> None:
    body = run.check.json("/api/regions", response)
    if [region["code"] for region in body["regions"]] != list(CODES):
        raise WrongAnswer("other markets")
