"""`verifier-server sandbox …`, with real boxes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from sandboxes import conformance, registry
from sandboxes.conformance import ATTACKS
from verifier_server.cli.main import app
from verifier_server.cli.sandbox import shell

NO_ENGINE = "unix:///nowhere/docker.sock"
ATTACK_OF_THE_NETWORK = "the host's loopback"


def sandbox(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, ["sandbox", *arguments], input=stdin)


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "answerkey" / "rootfs"


@pytest.fixture
def few_attacks(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [a for a in ATTACKS if a.name in (ATTACK_OF_THE_NETWORK, "honest: exit status")]
    assert len(few) == 2
    monkeypatch.setattr(conformance, "ATTACKS", few)
    names = ("bubblewrap", "unsafe")
    monkeypatch.setattr(registry, "provider_names", lambda: names)


def test_build_without_an_engine_says_how_to_get_one(no_engine: None) -> None:
    result = sandbox("build")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: looking for a container engine")
    assert "DOCKER_HOST" in result.stderr


def test_build_knows_its_runtimes_before_it_works(no_engine: None) -> None:
    result = sandbox("build", "python", "cobol")
    assert result.exit_code == 2
    assert "'cobol'" in result.stderr
    assert "python, bash, c" in result.stderr


def test_build_exports_without_an_engine_and_only_if_needed(no_engine: None, cache: Path) -> None:
    result = sandbox("build", "python", "--export", "--if-needed")
    assert result.exit_code == 0, result.stderr
    assert "host" in result.stdout
    made = (cache / "python").resolve()
    assert (made / "opt/answerkey/__main__.py").is_file()
    again = sandbox("build", "python", "--export", "--if-needed")
    assert (again.exit_code, again.stdout) == (0, "")
    assert (cache / "python").resolve() == made


def test_one_image_that_fails_is_told_and_the_others_are_made(no_engine: None, cache: Path) -> None:
    result = sandbox("build", "rust", "bash", "--export", "--from", "host")
    assert result.exit_code == 1
    assert result.stderr.startswith("rust: by host")
    assert (cache / "bash").exists()
    assert not (cache / "rust").exists()


@pytest.mark.parametrize(
    ("script", "status", "told"),
    [
        ("exit 3", 3, "exited 3"),
        ("kill -TERM $$", 128 + 15, "signalled 15"),
        ("exec sleep 60", 124, "time_limit"),
    ],
)
def test_shell_ends_as_the_program_did(script: str, status: int, told: str) -> None:
    result = sandbox("shell", "--time-s", "2", "--", "sh", "-c", script)
    assert result.exit_code == status
    assert told in result.stderr


def test_shell_passes_on_what_is_piped_in_and_written() -> None:
    result = sandbox("shell", "--", "sh", "-c", "cat; echo no >&2", stdin="\x1b[31mred\n")
    assert (result.exit_code, result.stdout) == (0, "\x1b[31mred\n")
    assert result.stderr.startswith("no\n")


def test_on_a_terminal_escapes_stay_text() -> None:
    leader, follower = os.openpty()
    with os.fdopen(leader, "rb") as screen, os.fdopen(follower, "w") as terminal:
        shell.show(b"\x1b[31mred\nnext\xff", terminal)
        terminal.flush()
        shown = [screen.readline() for _ in range(2)]
    assert shown == [b"\\x1b[31mred\r\n", b"next\\xff\r\n"]


def test_shell_runs_each_line_in_a_box_of_its_own() -> None:
    result = sandbox("shell", stdin='x=1; touch kept; echo $x\n\necho "<$x>"; ls; exit 4\n')
    assert (result.exit_code, result.stdout) == (4, "1\n<>\n")


def test_an_unknown_level_is_told_with_those_there_are() -> None:
    result = sandbox("shell", "--level", "cardboard", "--", "id")
    assert result.exit_code == 2
    assert "'cardboard' (use one of: auto" in result.stderr


def test_check_tells_a_level_that_holds_from_one_that_does_not() -> None:
    holds = sandbox("check", "--only", ATTACK_OF_THE_NETWORK, "--json")
    assert (holds.exit_code, json.loads(holds.stdout)["ok"]) == (0, True)
    broken = sandbox("check", "--level", "unsafe", "--only", ATTACK_OF_THE_NETWORK)
    assert broken.exit_code == 1
    assert "broken" in broken.stdout
    assert "unsafe (none(unsafe)): of 2 attacks 2 broken" in broken.stdout


def test_check_of_no_attack_is_a_mistake() -> None:
    assert sandbox("check", "--only", "no such attack").exit_code == 2


def report(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = sandbox("doctor", "--json", *arguments)
    return result.exit_code, json.loads(result.stdout)


def test_doctor_looks_at_every_level_and_attacks_the_one_in_force(
    few_attacks: None, no_engine: None, cache: Path
) -> None:
    code, told = report("--level", "bubblewrap")
    assert (code, told["ok"], told["in_force"]) == (0, True, "bubblewrap")
    assert [*told["levels"]] == ["bubblewrap", "unsafe"]
    assert {attack["outcome"] for attack in told["attacks"]} == {"held"}
    assert told["images"] == []
    code, told = report("--level", "unsafe")
    assert (code, told["ok"]) == (1, False)


def test_doctor_shows_images_and_how_they_were_made(
    few_attacks: None, no_engine: None, cache: Path
) -> None:
    assert sandbox("build", "bash", "--export").exit_code == 0
    result = sandbox("doctor", "--level", "bubblewrap")
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert "python bash host" in words
    assert "in force: bubblewrap: of 2 attacks 2 held" in words


def test_bench_measures_boxes_beside_bare_processes() -> None:
    result = sandbox("bench", "--level", "bubblewrap", "--seconds", "0.5", "--json")
    assert result.exit_code == 0, result.stderr
    rates = json.loads(result.stdout)
    assert {rate["what"] for rate in rates} == {"bare process", "bubblewrap"}
    for rate in rates:
        assert rate["runs"] >= 2
        assert 0 < rate["p50_ms"] <= rate["p95_ms"]


def test_cleanup_removes_replaced_and_on_demand_all_images(
    no_engine: None, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "provider_names", lambda: ("bubblewrap", "unsafe"))
    for name in ("python-1", "python-2"):
        (cache / name).mkdir(parents=True)
    (cache / "python").symlink_to("python-2")
    result = sandbox("cleanup")
    assert result.exit_code == 0
    assert [entry.name for entry in sorted(cache.iterdir())] == ["python", "python-2"]
    assert "leftovers of bubblewrap" in result.stdout
    assert sandbox("cleanup", "--all-images").exit_code == 0
    assert list(cache.iterdir()) == []
