"""The database files that the servers read: made by the writer, as in production."""

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from loadtest.compare.progress import progress
from loadtest.contract import REGIONS
from loadtest.local_origin import run_writer

_HOUR = 3600

# As in real titles, some letters take two bytes, and some have to be escaped in JSON.
_WORDS = (
    "Concert", "Höhepunkte", "Interview", "Révélation", "Workshop", '"Live"', "Pronóstico",
    "Wiadomości", "Season finale", "Kraków", "Tutorial", "Föredrag", "Documentary",
)  # fmt: skip
_CATEGORIES = ("Music", "Sport", "News", "Film")


def writer_environment(database: Path) -> dict[str, str]:
    return {**os.environ, "DB_PATH": str(database)}


def make(path: Path, videos: int) -> None:
    """Makes a ranked database of this many videos, each observed once, in one region."""
    progress.log(f"database of {videos:,} videos")
    observations = path.with_suffix(".ndjson")
    write_observations(observations, videos, int(time.time()) - 60)
    environment = writer_environment(path)
    run_writer(["migrate"], environment)
    run_writer(["ingest", "-"], environment, observations)
    run_writer(["rank"], environment)
    observations.unlink()


def write_observations(file: Path, videos: int, observed_at: int) -> None:
    """Writes a line of NDJSON per video, observed at this Unix time in seconds."""
    with file.open("w") as lines:
        for observation in _observations(videos, observed_at):
            lines.write(json.dumps(observation, ensure_ascii=False) + "\n")


def copy(source: Path, to: Path) -> None:
    """Makes a consistent copy, also while another process writes."""
    read, write = sqlite3.connect(f"file:{source}?mode=ro", uri=True), sqlite3.connect(to)
    read.backup(write)
    write.execute("PRAGMA journal_mode = WAL")
    write.close()
    read.close()


def _observations(count: int, now: int) -> Iterator[dict[str, object]]:
    for number in range(count):
        first, second, third, channel = (_WORDS[number % modulus] for modulus in (7, 11, 13, 5))
        yield {
            "id": f"video{number:07}",
            "region": REGIONS[number % len(REGIONS)],
            "observed_at": _time(now),
            "views": 1000 + number * 7919 % 1_000_003,
            "title": f"{first} {second} {third} in {number % 90} minutes",
            "channel": f"{channel} {number % 5000}",
            "category": _CATEGORIES[number % len(_CATEGORIES)],
            "published_at": _time(now - (1 + number % 480) * _HOUR),
            "thumb_base": f"https://thumbs.example/{number:07}",
        }


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
