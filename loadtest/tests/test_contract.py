import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = "from loadtest.contract import REGIONS, VIRAL_REGION; print(REGIONS, VIRAL_REGION)"


def run(regions_file: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"REGIONS_FILE": regions_file, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )


def test_regions_of_a_deployment_are_requested_in_the_order_of_their_file(tmp_path: Path) -> None:
    path = tmp_path / "regions.json"
    path.write_text(json.dumps({"default": "US", "regions": [{"code": code} for code in ("US", "CA", "JP")]}))
    assert run(str(path)).stdout == "('US', 'CA', 'JP') CA\n"


def test_one_region_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "regions.json"
    path.write_text(json.dumps({"default": "US", "regions": [{"code": "US"}]}))
    assert run(str(path)).stdout == "('US',) US\n"


def test_a_file_of_regions_that_cannot_be_read_is_named() -> None:
    assert "Cannot read REGIONS_FILE=/nowhere/regions.json" in run("/nowhere/regions.json").stderr
