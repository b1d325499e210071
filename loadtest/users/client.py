"""What all users have in common: a request, its check, and what is noted of it."""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import gevent
from locust import FastHttpUser, between
from locust.contrib.fasthttp import ResponseContextManager
from locust.env import Environment

from loadtest import edge_signature
from loadtest.answers import Asked, Page, Response, WrongAnswer
from loadtest.cache_status import outcome
from loadtest.content_coding import UndecodableBody
from loadtest.run import require_current
from loadtest.users.decoding import DecodingAgent

Answer = TypeVar("Answer")

run = require_current()


class Client(FastHttpUser):
    abstract = True
    wait_time = between(0.5, 1.5)
    network_timeout = 10.0
    connection_timeout = 10.0

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.client.client.__class__ = DecodingAgent  # locust gives no way to choose it

    def on_start(self) -> None:
        """Lets locust make the other users first, which would be measured else; then comes at any moment."""
        gevent.sleep(run.dice.uniform(0.1, 1))

    def pause(self) -> None:
        """As long as between two tasks."""
        gevent.sleep(self.wait_time())

    def ask_page(self, route: str, asked: Asked) -> Page | None:
        """Asks for a page of a list; None when the answer was wrong, which has been counted then."""
        return self.ask(route, asked.target, lambda response: self.read_page(asked, response))

    def read_page(self, asked: Asked, response: Response) -> Page:
        page = run.check.page(asked, response)
        run.tally.add_age(run.check.age_seconds(page))
        return page

    def ask(
        self,
        route: str,
        target: str,
        check: Callable[[Response], Answer],
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
    ) -> Answer | None:
        """Sends a request and counts it under `route`; what `check` returns, or None when it objected."""
        sent = {"Accept-Encoding": "br, gzip", **(headers or {}), **_edge_headers(method, target)}
        with self.client.request(
            method, target, name=route, headers=sent, data=body, catch_response=True, allow_redirects=False
        ) as answer:
            try:
                result = check(_received(answer))
            except WrongAnswer as wrong:
                answer.failure(str(wrong))
                return None
            answer.success()
            return result


def _received(answer: ResponseContextManager) -> Response:
    error = getattr(answer, "error", None)
    if answer.status_code == 0:
        raise WrongAnswer(f"no answer: {type(error or answer.request_meta['exception']).__name__}")
    if isinstance(error, UndecodableBody):
        raise WrongAnswer("a body that cannot be decoded")
    headers = cast(Mapping[str, str], answer.headers or {})  # looks names up whatever their case
    if cache_status := headers.get("cache-status"):
        run.tally.cache_answers[outcome(cache_status)] += 1
    return Response(answer.status_code, headers, answer.content or b"")


def _edge_headers(method: str, target: str) -> dict[str, str]:
    if run.edge_keys is None:
        return {}
    return {edge_signature.HEADER: edge_signature.sign(method, target, run.edge_keys, int(time.time()))}
