"""The database files that the servers read: made by the writer, as in production."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from loadtest.markets import CODES

ROOT = Path(__file__).parents[2]
WRITER = ROOT / "writer/bin/writer"
_HOUR = 3600

# As in real titles, some letters take two bytes, and some have to be escaped in JSON.
_WORDS = (
    "Concert", "Höhepunkte", "Interview", "Révélation", "Workshop", '"Live"', "Pronóstico",
    "Wiadomości", "Season finale", "Kraków", "Tutorial", "Föredrag", "Documentary",
)  # fmt: skip

_INSERT_VIDEO = """INSERT INTO videos (id, title, channel, category, published_at, thumb_base, first_seen_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)"""
_INSERT_VELOCITY = """INSERT INTO velocity (video_id, region, first_observed_at, last_observed_at,
    observation_count, views, views_per_hour, rated_at)
  VALUES (?, ?, ?, ?, 2, ?, ?, ?)"""


class WriterFailed(RuntimeError):
    """The message says which command failed, and the last it printed."""


def run_writer(arguments: list[str], database: Path) -> None:
    command = [str(WRITER), *arguments, "--db", str(database)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    if done.returncode != 0:
        raise WriterFailed(f"writer {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-400:]}")


def copy(source: Path, to: Path) -> None:
    """A copy that is whole, whatever is written meanwhile."""
    with sqlite3.connect(f"file:{source}?mode=ro", uri=True) as read, sqlite3.connect(to) as write:
        read.backup(write)
    write.execute("PRAGMA journal_mode = WAL")
    write.close()
    read.close()


def make(path: Path, videos: int) -> None:
    """A ranked database of so many videos, each in one market. Filled directly: ingesting takes longer."""
    run_writer(["migrate"], path)
    now = int(time.time()) - 60
    database = sqlite3.connect(path)
    with database:
        database.executemany(_INSERT_VIDEO, _videos(videos, now))
        database.executemany(_INSERT_VELOCITY, _velocities(videos, now))
    database.close()
    run_writer(["rank"], path)


def _videos(count: int, now: int) -> Iterator[tuple[object, ...]]:
    for number in range(count):
        published = now - number % 480 * _HOUR
        yield (
            f"video{number:07}",
            f"{_WORDS[number % 7]} {_WORDS[number % 11]} {_WORDS[number % 13]} in {number % 90 + 10} minutes",
            f"{_WORDS[number % 5]} {number % 5000}",
            ("Music", "Sport", "News", "Film")[number % 4],
            published,
            f"https://thumbs.example/{number:07}",
            published,
        )


def _velocities(count: int, now: int) -> Iterator[tuple[object, ...]]:
    for number in range(count):
        views = 1000 + number * 7919 % 1_000_003
        yield (
            f"video{number:07}",
            CODES[number % len(CODES)],
            now - _HOUR,
            now,
            views,
            views / 24,
            now - _HOUR / 2,
        )
