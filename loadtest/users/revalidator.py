from locust import task

from loadtest.answers import Asked, Response, WrongAnswer
from loadtest.users.client import Client, run


class Revalidator(Client):
    """Keeps a page and asks again whether it is still the same, as browsers and proxies do."""

    def on_start(self) -> None:
        super().on_start()
        self.asked = Asked(run.draw_market())
        self.etag = ""

    @task
    def ask_again(self) -> None:
        headers = {"If-None-Match": self.etag} if self.etag else {}
        self.ask("/api/trending (if-none-match)", self.asked.target, self._check, headers=headers)

    def _check(self, response: Response) -> None:
        if response.status == 304:
            run.check.not_modified(self.etag, response)
            return
        self.read_page(self.asked, response)
        etag = response.headers.get("etag", "")
        if not etag:
            raise WrongAnswer("a page without an entity tag")
        if etag == self.etag:
            raise WrongAnswer("200 for an unchanged entity tag")
        self.etag = etag
