import pytest

from loadtest.options import UsageError, is_loopback, parse_duration, parse_options


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("5m", 300), ("1h", 3600), ("90", 90)])
def test_a_duration_is_a_number_with_a_unit(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0s", "-5s", "1d", "soon", "1.5m"])
def test_another_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="as in 60s or 5m"):
        parse_duration(text)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:3000", "http://localhost", "http://[::1]:8787", "http://127.9.9.9"]
)
def test_this_machine_needs_no_word_of_honour(url: str) -> None:
    assert is_loopback(url)
    assert parse_options([url]).url == url


@pytest.mark.parametrize(
    "url",
    ["https://example.com", "http://10.0.0.5", "http://localhost.example.com", "http://127.0.0.1.nip.io"],
)
def test_any_other_host_needs_yes_this_is_mine(url: str) -> None:
    with pytest.raises(UsageError, match="--yes-this-is-mine"):
        parse_options([url])
    assert parse_options([url, "--yes-this-is-mine"]).url == url


@pytest.mark.parametrize(
    "url", ["localhost:3000", "ftp://127.0.0.1", "http://", "http://127.0.0.1/api/trending"]
)
def test_what_is_no_origin_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="expected http"):
        parse_options([url])


def test_a_profile_brings_its_users_and_length_unless_told_otherwise() -> None:
    assert parse_options(["--profile", "stampede"]).users == 300
    told = parse_options(["--profile", "stampede", "--users", "7", "--duration", "2m"])
    assert (told.users, told.seconds) == (7, 120)


def test_what_follows_two_dashes_is_locusts() -> None:
    options = parse_options(["--profile", "viral", "--", "--worker", "--master-host", "127.0.0.1"])
    assert options.locust == ("--worker", "--master-host", "127.0.0.1")
    assert options.is_worker


@pytest.mark.parametrize(
    "arguments", [["--profile", "storm"], ["--users", "0"], ["--users", "many"], ["--nonsense"]]
)
def test_a_bad_argument_ends_with_exit_code_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(arguments)
    assert ended.value.code == 2
