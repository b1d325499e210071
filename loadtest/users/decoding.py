"""Reads bodies itself: the HTTP client that locust uses fails on empty ones with a content coding."""

from locust.contrib.fasthttp import FastResponse, LocustUserAgent

from loadtest.content_coding import UndecodableBody, decode


class DecodedResponse(FastResponse):
    def _content(self) -> bytes:
        assert self._response is not None
        assert self.headers is not None
        body: bytes = self._response.read()
        self.release()
        try:
            return decode(body, str(self.headers.get("content-encoding", "identity")))
        except UndecodableBody as error:
            self.error = error  # for Client.ask, which counts it
            return b""


class DecodingAgent(LocustUserAgent):
    response_type = DecodedResponse
