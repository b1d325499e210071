import gevent
from locust import task

from loadtest.answers import Asked
from loadtest.users.client import Client, run


class Visitor(Client):
    """Opens the site: the first page of the visitor's market, now and then of another window."""

    @task
    def open_site(self) -> None:
        window = run.dice.choices(["day", "now", "week"], [80, 15, 5])[0]
        self.ask_page("/api/trending", Asked(run.draw_market(), window))


class Newcomer(Client):
    """A visitor whose every request comes over a connection of its own, as in a stampede."""

    def on_start(self) -> None:
        gevent.sleep(0.5)  # all in the same moment

    @task
    def open_site(self) -> None:
        self.client.client.close()
        self.ask_page("/api/trending (new connection)", Asked(run.draw_market()))
