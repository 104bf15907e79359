"""The commands apart from `score`."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner, Result

from sandboxes.base import Finding, Probe
from verifier_server import __version__, bootstrap
from verifier_server.checkers import registry as registry_module
from verifier_server.checkers.base import CheckContext, Checker, Example, Params
from verifier_server.checkers.registry import Registry
from verifier_server.cli import host
from verifier_server.cli.main import app
from verifier_server.settings import Settings
from verifier_server.verdict import Judgement, Outcome


class NoParams(Params):
    pass


class Echo(Checker[NoParams]):
    """Accepts what says yes."""

    name = "echo"
    version = "7"
    Params = NoParams
    examples: ClassVar = [
        Example("yes", {}, 1.0),
        Example("no", {}, 0.0, Outcome.WRONG_ANSWER),
    ]

    def check(self, completion: str, params: NoParams, ctx: CheckContext) -> Judgement:
        return Judgement.graded(float(completion == "yes"), f"said {completion}")


class Liar(Echo):
    """Accepts everything, against its own examples."""

    name = "liar"

    def check(self, completion: str, params: NoParams, ctx: CheckContext) -> Judgement:
        return Judgement.accept()


class Boxed(Echo):
    """Needs a sandbox."""

    name = "boxed"
    resource = "sandbox"


def verifier_server(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def install(monkeypatch: pytest.MonkeyPatch, targets: Mapping[str, str]) -> None:
    registry = Registry(targets)
    monkeypatch.setattr(registry_module, "get_registry", lambda: registry)


def with_sandbox(monkeypatch: pytest.MonkeyPatch, *, available: bool) -> None:
    finding = Finding("user namespaces", ok=available, detail="sysctl", remedy="allow them")
    probe = Probe("bubblewrap", available, "bubblewrap", (finding,))
    monkeypatch.setattr(host, "probe_sandbox", lambda name: probe)


ECHO, LIAR, BOXED = (f"{__name__}:{kind}" for kind in ("Echo", "Liar", "Boxed"))


@pytest.fixture
def free_port(monkeypatch: pytest.MonkeyPatch) -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    monkeypatch.setenv("VERIFIER_PORT", str(port))
    return port


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from typer.testing import CliRunner; from verifier_server.cli.main import app;"
        "assert 'doctor' in CliRunner().invoke(app, ['--help']).stdout; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    heavy = {"fastapi", "uvicorn", "httpx", "pydantic", "sympy", "sandboxes"}
    assert not heavy & set(done.stdout.split())


def test_version_is_the_packages() -> None:
    assert verifier_server("version").stdout == f"answerkey {__version__}\n"


def test_serve_puts_flags_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[tuple[Settings, int | None]] = []
    monkeypatch.setattr(bootstrap, "serve", lambda settings, fd: served.append((settings, fd)))
    monkeypatch.setenv("VERIFIER_PORT", "1111")
    monkeypatch.setenv("VERIFIER_CPU_WORKERS", "3")
    flags = ["--port", "2222", "--fd", "9", "--host", "0.0.0.0", "--insecure"]
    result = verifier_server("serve", *flags, "--unsafe-no-sandbox")
    assert result.exit_code == 0, result.stderr
    settings, fd = served[0]
    assert (settings.port, settings.cpu_workers, fd) == (2222, 3, 9)
    assert (settings.host, settings.insecure, settings.sandbox) == ("0.0.0.0", True, "unsafe")


@pytest.mark.parametrize(
    ("arguments", "variable", "told"),
    [
        (["--host", "0.0.0.0"], None, "refusing to bind 0.0.0.0 without API keys"),
        ([], ("VERIFIER_PORT", "many"), "VERIFIER_PORT"),
    ],
)
def test_serve_refuses_unusable_settings_with_the_reason(
    arguments: list[str],
    variable: tuple[str, str] | None,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable:
        monkeypatch.setenv(*variable)
    result = verifier_server("serve", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {told}")


def test_ctrl_c_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "serve", interrupted)
    result = verifier_server("serve")
    assert (result.exit_code, result.output) == (130, "")


def test_checkers_are_listed_with_their_state(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {"boxed": BOXED, "echo": ECHO, "gone": "no_such_module:Gone"})
    with_sandbox(monkeypatch, available=False)
    infos = json.loads(verifier_server("checkers", "list", "--json").stdout)
    assert {info["name"]: info["status"] for info in infos} == {
        "boxed": "unavailable",
        "echo": "ok",
        "gone": "broken",
    }
    table = " ".join(verifier_server("checkers", "list").stdout.split())
    assert "allow them" in table
    assert "No module named 'no_such_module'" in table


def test_a_sandboxed_checker_is_ok_where_there_is_a_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, {"boxed": BOXED})
    with_sandbox(monkeypatch, available=True)
    infos = json.loads(verifier_server("checkers", "list", "--json").stdout)
    assert infos[0]["status"] == "ok"


def test_show_prints_schema_and_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {"echo": ECHO})
    shown = verifier_server("checkers", "show", "echo").stdout
    assert "echo 7 (ok)" in shown
    assert '"additionalProperties": false' in shown
    assert '"completion": "yes"' in shown


def test_show_of_a_broken_checker_is_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {"gone": "no_such_module:Gone"})
    assert "Traceback" in verifier_server("checkers", "show", "gone").stdout


def test_show_of_an_unknown_checker_suggests_one(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {"echo": ECHO})
    result = verifier_server("checkers", "show", "ecko")
    assert (result.exit_code, result.stderr) == (
        2,
        "error: no checker 'ecko' (did you mean 'echo'?)\n",
    )


def test_a_checker_that_breaks_its_promise_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {"echo": ECHO, "liar": LIAR})
    result = verifier_server("checkers", "test")
    assert result.exit_code == 1
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["echo", "2", "2"] in rows
    assert ["liar", "2", "1"] in rows
    assert 'liar: "no": accepted, not wrong_answer' in result.stdout
    assert verifier_server("checkers", "test", "echo").exit_code == 0


def test_a_broken_checker_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {"gone": "no_such_module:Gone"})
    assert verifier_server("checkers", "test").exit_code == 1


def doctor() -> tuple[int, dict[str, Any]]:
    result = verifier_server("doctor", "--json")
    return result.exit_code, json.loads(result.stdout)


def failed(report: dict[str, Any]) -> list[str]:
    return [check["what"] for check in report["checks"] if not check["ok"]]


def test_doctor_is_content_with_a_host_that_can_do_all(
    monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    install(monkeypatch, {"boxed": BOXED})
    with_sandbox(monkeypatch, available=True)
    code, report = doctor()
    assert (code, report["ok"], failed(report)) == (0, True, [])
    assert report["settings"]["port"] == free_port
    text = verifier_server("doctor").stdout
    assert "The service can run as configured." in text


def test_doctor_names_what_is_missing_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    install(monkeypatch, {"boxed": BOXED, "gone": "no_such_module:Gone"})
    with_sandbox(monkeypatch, available=False)
    code, report = doctor()
    assert (code, report["ok"]) == (1, False)
    assert failed(report) == ["bubblewrap", "user namespaces", "boxed", "gone"]
    assert "-> allow them" in verifier_server("doctor").stdout


def test_doctor_sees_a_taken_port(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, {"echo": ECHO})
    with_sandbox(monkeypatch, available=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("VERIFIER_PORT", str(listener.getsockname()[1]))
        code, report = doctor()
    assert (code, failed(report)) == (1, ["port"])


def test_doctor_reports_unusable_settings_and_hides_keys(
    monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    install(monkeypatch, {"echo": ECHO})
    with_sandbox(monkeypatch, available=True)
    monkeypatch.setenv("VERIFIER_API_KEYS", "secret-key")
    assert "secret-key" not in verifier_server("doctor").stdout
    assert "secret-key" not in verifier_server("doctor", "--json").stdout
    monkeypatch.setenv("VERIFIER_LOG_LEVEL", "shout")
    code, report = doctor()
    assert code == 1
    assert "VERIFIER_LOG_LEVEL" in report["checks"][-1]["detail"]


def test_an_unknown_sandbox_provider_is_told_by_doctor(
    monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    install(monkeypatch, {"echo": ECHO})
    monkeypatch.setenv("VERIFIER_SANDBOX", "cardboard")
    code, report = doctor()
    assert code == 1
    assert "cardboard" in json.dumps(report["checks"])
