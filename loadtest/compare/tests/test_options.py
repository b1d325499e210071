import shutil
import subprocess
from pathlib import Path

import pytest

from loadtest.compare.options import PUBLISHED, SCENARIOS, parse_options
from loadtest.compare.pages import PAGES
from loadtest.compare.scenarios import SCHEDULE, servers_of
from loadtest.compare.servers import SERVERS
from loadtest.processes import ROOT


def test_every_scenario_can_be_named_and_a_single_one_starts_only_its_servers() -> None:
    assert [*SCENARIOS] == [*PAGES, *SCHEDULE]
    assert parse_options(["flood", "memory"]).scenarios == ["memory", "flood"]
    assert servers_of(["visible"]) == {"TrendVault"}
    assert servers_of(list(SCENARIOS)) == set(SERVERS)


def test_without_a_name_all_are_measured() -> None:
    assert parse_options(["--publish"]).scenarios == parse_options([]).scenarios == [*SCENARIOS]


def test_only_a_full_run_that_is_to_be_published_replaces_the_published_one() -> None:
    assert parse_options(["--publish"]).output == PUBLISHED
    for arguments in ([], ["--quick"], ["plain"], ["--output", "somewhere"]):
        assert parse_options(arguments).output != PUBLISHED
    for arguments in (
        ["--publish", "--quick"],
        ["--publish", "plain"],
        ["--publish", "--output", "x"],
        ["--busy"],
    ):
        with pytest.raises(SystemExit):
            parse_options(arguments)


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("--qick", 2), ("flod", 2)])
def test_help_and_mistakes_need_nothing_installed(argument: str, code: int, tmp_path: Path) -> None:
    command = shutil.copytree(ROOT / "bin", tmp_path / "bin") / "bench"
    for file in ("loadtest/compare/options.py", "tools/setup/program.sh"):
        (tmp_path / file).parent.mkdir(parents=True)
        shutil.copy(ROOT / file, tmp_path / file)
    done = subprocess.run([command, argument], capture_output=True, text=True)
    assert done.returncode == code
    assert "usage: bin/bench" in done.stdout + done.stderr
    assert "no such file" not in (done.stdout + done.stderr).lower()
