import pytest

from loadtest.options import parse_options


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("5m", 300), ("1h", 3600), ("90", 90)])
def test_a_duration_is_a_number_with_a_unit(text: str, seconds: int) -> None:
    assert parse_options(["--duration", text]).seconds == seconds


@pytest.mark.parametrize("url", ["http://127.0.0.1:3000", "http://localhost", "http://[::1]:8787"])
def test_this_machine_needs_no_confirmation(url: str) -> None:
    assert parse_options([url]).url == url


@pytest.mark.parametrize("host", ["example.com", "10.0.0.5", "localhost.example.com", "127.0.0.1.nip.io"])
def test_any_other_host_needs_yes_this_is_mine(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse_options([f"https://{host}"])
    assert "--yes-this-is-mine" in capsys.readouterr().err
    assert parse_options([f"https://{host}", "--yes-this-is-mine"]).url == f"https://{host}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *([f"--duration={text}", "as in 60s or 5m"] for text in ("", "0s", "-5s", "1d", "soon", "1.5m")),
        *(
            [url, "expected http"]
            for url in ("localhost:3000", "ftp://127.0.0.1", "http://", "http://127.0.0.1/api/trending")
        ),
        ("--profile=storm", "invalid choice"),
        ("--users=0", "from 1"),
        ("--users=many", "from 1"),
        ("--nonsense", "unrecognized"),
        ("--level=p99=5", "No service level 'p99'"),
    ],
)
def test_a_bad_argument_ends_with_exit_code_2(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse_options([arguments])
    assert message in capsys.readouterr().err


def test_a_profile_has_its_users_and_length_unless_told_otherwise() -> None:
    assert parse_options(["--profile", "stampede"]).users == 300
    options = parse_options(["--profile", "stampede", "--users", "7", "--duration", "2m"])
    assert (options.users, options.seconds) == (7, 120)


def test_what_follows_two_dashes_is_locusts() -> None:
    options = parse_options(["--profile", "viral", "--", "--worker", "--master-host", "127.0.0.1"])
    assert (options.profile, options.locust) == ("viral", ["--worker", "--master-host", "127.0.0.1"])
