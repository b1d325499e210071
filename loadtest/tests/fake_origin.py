"""An origin that can be told to misbehave, over a real socket."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from loadtest.answers import Asked, Response
from loadtest.markets import CODES
from loadtest.tests.pages import page, problem, response


@dataclass(frozen=True)
class Behaviour:
    delay_seconds: float = 0
    spoil: Callable[[dict[str, Any]], object] = lambda body: None
    cache_status: str | None = None


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[str]:
    """Serves while the block runs; gives the URL."""
    server = _Server(("127.0.0.1", 0), _handler(behaviour))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # of 5 by default: the others of a stampede would wait a second

    def handle_error(self, *_: object) -> None:
        """The run ends while answers are on their way."""
        assert isinstance(sys.exception(), ConnectionError), sys.exception()


def _handler(behaviour: Behaviour) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            time.sleep(behaviour.delay_seconds)
            answer = _answer(self.path, self.headers.get("if-none-match"), behaviour)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            pass

    for method in ("POST", "PUT", "DELETE", "PROPFIND"):
        setattr(Handler, f"do_{method}", _refuse_method)
    return Handler


def _refuse_method(handler: BaseHTTPRequestHandler) -> None:
    answer = _problem("method-not-allowed", 405)
    handler.send_response(answer.status)
    handler.send_header("content-type", answer.headers["content-type"])
    handler.send_header("content-length", str(len(answer.body)))
    handler.end_headers()
    handler.wfile.write(answer.body)


def _answer(target: str, if_none_match: str | None, behaviour: Behaviour) -> Response:
    url = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
    if url.path == "/api/regions":
        return response(_regions())
    if url.path != "/api/trending":
        return _problem("not-found", 404)
    if not _is_valid(query, url.query):
        return _problem("invalid-parameter", 400)
    asked = Asked(
        query["region"], query.get("window", "day"), int(query.get("limit", 24)), query.get("cursor")
    )
    body = page(asked, time.time())
    behaviour.spoil(body)
    etag = f'"{body["token"][-22:]}"'
    if if_none_match == etag:
        return Response(304, {"etag": etag}, b"")
    cache = {"cache-status": behaviour.cache_status} if behaviour.cache_status else {}
    return response(body, headers={"etag": etag, **cache})


def _is_valid(query: dict[str, str], text: str) -> bool:
    return (
        set(query) <= {"region", "window", "limit", "cursor"}
        and text.count("region=") == 1
        and query.get("region") in CODES
        and query.get("window", "day") in ("now", "day", "week")
        and query.get("limit", "24").isdigit()
        and int(query.get("limit", "24")) in range(1, 51)
    )


def _regions() -> dict[str, Any]:
    market = {"name": "A market", "languages": ["en"], "video_count": 60, "newest_observed_at": None}
    regions = [{"code": code, **market} for code in CODES]
    time_text = "2026-11-20T10:00:00Z"
    return {"generation": 7, "generated_at": time_text, "categories": ["Music"], "regions": regions}


def _problem(kind: str, status: int) -> Response:
    return response(problem(kind, status), status, {"content-type": "application/problem+json"})
