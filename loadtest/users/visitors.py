"""Users whose requests are right: a browser, a reader, a cache, a partner's program."""

import gevent
from locust import task

from loadtest.context import context
from loadtest.contract import LARGEST_LIMIT, REGIONS, WINDOWS
from loadtest.responses import Page, PageRequest, Response, require, require_continued
from loadtest.users.base import TrendVaultUser

_WINDOW_WEIGHTS = {"day": 80, "now": 15, "week": 5}
_MOST_PAGES = 8


class VisitorUser(TrendVaultUser):
    """Opens the site: the first page of a region, sometimes of another window."""

    @task
    def open_site(self) -> None:
        window = context.rng.choices(list(_WINDOW_WEIGHTS), list(_WINDOW_WEIGHTS.values()))[0]
        self.fetch_page("/api/trending", PageRequest(context.draw_region(), window))


class NewConnectionUser(TrendVaultUser):
    """A visitor whose every request comes over a new connection, as in a stampede."""

    def on_start(self) -> None:
        gevent.sleep(0.5)  # all at the same moment

    @task
    def open_site(self) -> None:
        self.client.client.close()
        self.fetch_page("/api/trending (new connection)", PageRequest(context.draw_region()))


class PagingUser(TrendVaultUser):
    """Reads page after page of one list, while other generations are published."""

    @task
    def read_list(self) -> None:
        request = PageRequest(context.draw_region(), limit=context.rng.choice([12, 24, LARGEST_LIMIT]))
        page = self.fetch_page("/api/trending", request)
        seen: set[str] = set()
        for _ in range(_MOST_PAGES):
            if page is None or page.next is None:
                return
            seen.update(page.ids)
            self.wait()  # type: ignore[no-untyped-call]
            page = self._fetch_next(request, page, page.next, seen)

    def _fetch_next(self, request: PageRequest, page: Page, target: str, seen: set[str]) -> Page | None:
        next_request = request._replace(cursor=target.rpartition("cursor=")[2])

        def check(response: Response) -> Page | None:
            if response.status == 410:  # the user was slower than the generations are kept: rightly refused
                context.check.problem(410, "generation-gone", response)
                return None
            following = self.check_page(next_request, response)
            require_continued(page, following, seen)
            return following

        return self.fetch("/api/trending (next page)", target, check)


class RevalidatingUser(TrendVaultUser):
    """Keeps a page and revalidates it with If-None-Match, as browsers and proxies do."""

    def on_start(self) -> None:
        super().on_start()
        self.request = PageRequest(context.draw_region())
        self.etag = ""

    @task
    def revalidate(self) -> None:
        headers = {"If-None-Match": self.etag} if self.etag else {}
        self.fetch("/api/trending (if-none-match)", self.request.target, self._check, headers=headers)

    def _check(self, response: Response) -> None:
        if response.status == 304:
            context.check.not_modified(self.etag, response)
            return
        self.check_page(self.request, response)
        etag = response.headers.get("etag", "")
        require(etag != "", "a page without an entity tag")
        require(etag != self.etag, "200 for an unchanged entity tag")
        self.etag = etag


class PartnerUser(TrendVaultUser):
    """Polls all regions in turn, and looks videos up."""

    @task
    def poll(self) -> None:
        self.fetch("/api/regions", "/api/regions", _check_regions)
        for region in REGIONS:
            self.wait()  # type: ignore[no-untyped-call]
            request = PageRequest(region, context.rng.choice(WINDOWS), LARGEST_LIMIT)
            page = self.fetch_page("/api/trending", request)
            if page is not None and page.ids:
                self._look_up(context.rng.choice(page.ids))

    def _look_up(self, video: str) -> None:
        def check(response: Response) -> None:
            require(context.check.json("/api/videos/{id}", response)["id"] == video, "another video")

        self.fetch("/api/videos/{id}", f"/api/videos/{video}", check)


def _check_regions(response: Response) -> None:
    body = context.check.json("/api/regions", response)
    require([region["code"] for region in body["regions"]] == list(REGIONS), "other regions")
