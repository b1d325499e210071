"""The user classes: first those that send valid requests, then those whose requests must be refused."""

from functools import partial

import gevent
from locust import task

from loadtest.context import context
from loadtest.contract import DEFAULT_LIMIT, LARGEST_LIMIT, REGIONS, WINDOWS
from loadtest.popularity import draw_window
from loadtest.responses import Page, PageRequest, Response, require, require_continued
from loadtest.users.base import TrendVaultUser

_PAGE_LIMITS = (DEFAULT_LIMIT // 2, DEFAULT_LIMIT, LARGEST_LIMIT)
_MOST_PAGES = 8


class VisitorUser(TrendVaultUser):
    """Opens the site: the first page of a region, sometimes of another window."""

    @task
    def open_site(self) -> None:
        self.fetch_page("/api/trending", PageRequest(context.draw_region(), draw_window(context.rng)))


class NewConnectionUser(TrendVaultUser):
    """A visitor that opens a new connection for each request, as in a stampede."""

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
        request = PageRequest(context.draw_region(), limit=context.rng.choice(_PAGE_LIMITS))
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


_LONG = "a" * 12_000

# Method, target, expected status, expected kind of problem.
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
    """Makes the mistakes of clients. The status and the problem of each are known."""

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
