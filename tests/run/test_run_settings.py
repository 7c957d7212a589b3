"""What flags and environment make of the process."""

import pytest

from elasticep.run.settings import read_settings


def test_without_a_word_it_looks_everywhere_under_a_lease() -> None:
    settings = read_settings([], {})
    assert settings.namespaces == ()
    assert settings.leader_election
    assert (settings.lease_namespace, settings.lease_name) == ("default", "elasticep-operator")
    assert (settings.health_port, settings.metrics_port) == (8080, 8080)
    assert (settings.workers, settings.resync_seconds, settings.log_level) == (16, 300, "info")


def test_a_flag_goes_before_the_environment() -> None:
    environment = {
        "ELASTICEP_NAMESPACES": "a, b,",
        "ELASTICEP_LOG_LEVEL": "debug",
        "POD_NAMESPACE": "operators",
    }
    told = read_settings([], environment)
    assert (told.namespaces, told.log_level, told.lease_namespace) == (
        ("a", "b"),
        "debug",
        "operators",
    )
    flags = ["--namespace=c", "--namespace=d", "--log-level=error", "--lease-namespace=e"]
    told = read_settings(flags, environment)
    assert (told.namespaces, told.log_level, told.lease_namespace) == (("c", "d"), "error", "e")


def test_metrics_may_have_a_port_of_their_own() -> None:
    assert read_settings(["--health-port=1"], {}).metrics_port == 1
    assert read_settings(["--health-port=1", "--metrics-port=2"], {}).metrics_port == 2


def test_a_pod_is_itself_after_a_restart_of_its_container() -> None:
    names = {read_settings([], {"POD_NAME": "operator-1"}).identity for _ in range(2)}
    assert names == {"operator-1"}


def test_processes_outside_of_a_pod_are_never_the_same() -> None:
    assert read_settings([], {}).identity != read_settings([], {}).identity


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--workers=0", "'0' is too small or no whole number: give 1 or more"),
        ("--resync-seconds=often", "'often' is too small or no whole number: give 1 or more"),
        ("--log-level=loud", "'loud' is no log level: give debug, info, warning or error"),
        ("--name=a", "unrecognized arguments: --name=a"),
    ],
)
def test_what_is_not_understood_is_said(
    flag: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        read_settings([flag], {})
    assert words in capsys.readouterr().err


def test_what_the_environment_says_is_judged_as_a_flag_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert read_settings([], {"ELASTICEP_LOG_LEVEL": "DEBUG"}).log_level == "debug"
    with pytest.raises(SystemExit, match="2"):
        read_settings([], {"ELASTICEP_LOG_LEVEL": "verbose"})
    assert "'verbose' is no log level" in capsys.readouterr().err
