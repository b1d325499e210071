from dataclasses import replace

from locust import task

from loadtest.answers import Asked, Page, Response
from loadtest.paging import require_continued
from loadtest.users.client import Client, run

_MOST_PAGES = 8


class Reader(Client):
    """Reads page after page of one list, whatever is published meanwhile."""

    @task
    def read_on(self) -> None:
        asked = Asked(run.draw_market(), limit=run.dice.choice([12, 24, 50]))
        page = self.ask_page("/api/trending", asked)
        seen: set[str] = set()
        for _ in range(_MOST_PAGES):
            if page is None or page.next is None:
                return
            seen.update(page.ids)
            self.pause()
            page = self._turn_over(asked, page, seen)

    def _turn_over(self, asked: Asked, page: Page, seen: set[str]) -> Page | None:
        assert page.next is not None
        following = replace(asked, cursor=page.next.rpartition("cursor=")[2])

        def check(response: Response) -> Page | None:
            if response.status == 410:  # the reader was slower than the generations are kept: rightly refused
                run.check.problem("generation-gone", response)
                return None
            after = self.read_page(following, response)
            require_continued(page, after, seen)
            return after

        return self.ask("/api/trending (next page)", page.next, check)
