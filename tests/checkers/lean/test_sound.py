"""Tier `sound`, from the text to the kernel's word.

Elaborator and kernel are the real ones. The exporter, and what reads an export for the kernel,
are stand-ins of the tests' (`tools`); so is nanoda, which passes on to the same kernel.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.checkers.lean.conftest import JudgeLean
from tests.checkers.lean.test_exploits import EXPLOITS, FALSE, TRUE
from tests.checkers.lean.test_proofs import CONTEXT, FILES, HONEST
from tests.checkers.lean.toolchain import add_tools, make_toolchain
from verifier_server.verdict import Outcome

PROOF = "Eq.refl 1"
Install = Callable[[str, str], None]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A tool chain of this module's own, with the tools of tier `sound`."""
    folder = tmp_path_factory.mktemp("sound")
    for above in (folder, *folder.parents[:2]):
        above.chmod(0o755)
    settings = {**make_toolchain(folder), **add_tools(folder)}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield folder


def _script(folder: Path, setting: str, body: str) -> tuple[str, str]:
    """Writes a script that takes a tool's place; returns the setting that names it."""
    for above in (folder, *folder.parents[:2]):
        above.chmod(0o755)
    script = folder / f"{setting.lower()}_script"
    script.write_text(f"#!/usr/bin/env python3\nimport os, subprocess, sys\n{body}\n")
    script.chmod(0o755)
    return f"VERIFIER_LEAN_{setting}", str(script)


@pytest.fixture
def install(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a script in the place of a tool."""
    return lambda setting, body: monkeypatch.setenv(*_script(tmp_path, setting, body))


# In a box: `mark` is what a submission calls a theorem of its own to have a tool misbehave.
_EXPORTER = """
import json
found = b"".join(open(name, "rb").read() for name in os.listdir(".") if name.endswith(".olean"))
mark = next((name for name in {names} if name.encode() in found), "")
def real():
    command = ["python3", os.path.dirname(os.path.abspath(__file__)) + "/real.py", *sys.argv[1:]]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
"""
_NANODA = """
import json
config = json.load(open(sys.argv[1]))
export = open(config["export_file_path"]).read()
def real():
    command = ["/opt/box/mounts/lean/bin/leanchecker", "--export", config["export_file_path"]]
    sys.exit(subprocess.run(command).returncode)
if "marked_refuse" in export:
    sys.exit("no")
while "marked_busy" in export:
    pass
real()
"""


def _marked(mark: str) -> str:
    return f"theorem {mark} : Eq 1 1 := {PROOF}\ntheorem t : Eq 1 1 := {mark}"


@pytest.fixture(scope="module")
def hostile(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An exporter that marked submissions have taken over, and a nanoda that they trouble."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "real.py").write_text((tools / "tools" / "lean4export").read_text())
    body = _EXPORTER.format(names=[f"marked_{at}" for at in range(len(HOSTILE))])
    body += "if not mark:\n    print(real(), end='')\n"
    for at, (said, _, _) in enumerate(HOSTILE.values()):
        body += f"if mark == 'marked_{at}':\n{said}\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*_script(folder, "EXPORTER", body))
        patch.setenv(*_script(folder, "NANODA", _NANODA))
        patch.setenv("VERIFIER_LEAN_EXPORT_BYTES", str(4 << 20))
        yield


@pytest.mark.parametrize("name", [*HONEST, *FILES])
def test_an_honest_proof_is_accepted(tools: Path, prove: JudgeLean, name: str) -> None:
    statement, proof = HONEST.get(name) or FILES[name]
    judgement = prove(proof, statement, tier="sound")
    assert judgement.outcome is Outcome.ACCEPTED, judgement
    assert judgement.evidence["tier"] == "sound"
    assert judgement.evidence["statement_match"] is True
    assert judgement.evidence["axioms"] == (["propext"] if "propext" in proof else [])
    assert judgement.evidence["kernels"] == {"official": "accepted"}


def test_a_header_may_declare_what_the_statement_needs(tools: Path, prove: JudgeLean) -> None:
    statement = "theorem t : Eq (double n) (Nat.add n n)"
    judgement = prove("Eq.refl (double n)", statement, header=CONTEXT, tier="sound")
    assert judgement.outcome is Outcome.ACCEPTED, judgement


@pytest.mark.parametrize("name", EXPLOITS)
def test_an_exploit_is_not_paid(tools: Path, prove: JudgeLean, name: str) -> None:
    exploit = EXPLOITS[name]
    judgement = prove(exploit.text, exploit.statement, tier="sound")
    assert judgement.score == 0, judgement
    if exploit.step in ("statement", "axioms"):
        # Here a theorem's own parameters count, where another tier would fill them in.
        assert judgement.evidence["step"] in ("build", "statement", "axioms"), judgement
    assert judgement.evidence["kernels"] == {}


def test_text_alone_refuses_nothing(tools: Path, prove: JudgeLean) -> None:
    proof = f"set_option debug.skipKernelTC true\ntheorem t : Eq 1 1 := {PROOF}"
    assert prove(proof, TRUE, tier="axioms").outcome is Outcome.POLICY_VIOLATION
    judgement = prove(proof, TRUE, tier="sound")
    assert judgement.outcome is Outcome.ACCEPTED, judgement
    assert judgement.evidence["text_flags"] == ["set_option debug.skipKernelTC"]


def test_the_best_tier_is_sound_where_it_can_be(tools: Path, prove: JudgeLean) -> None:
    judgement = prove(PROOF, TRUE)
    assert (judgement.score, judgement.evidence["tier"]) == (1, "sound")
    assert judgement.evidence["sound_lacks"] is None


LACKING = {
    "no exporter": ("VERIFIER_LEAN_EXPORTER", None, "there is no lean4export"),
    "an old Lean": ("VERIFIER_LEAN_OLDEST_SOUND", "4.36", "older than 4.36"),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_can_not_be_reached_is_named_or_refused(
    tools: Path, prove: JudgeLean, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    setting, value, why = LACKING[name]
    if value is None:
        monkeypatch.delenv(setting)
    else:
        monkeypatch.setenv(setting, value)
    best, sound = prove(PROOF, TRUE), prove(PROOF, TRUE, tier="sound")
    assert (best.score, best.evidence["tier"]) == (1, "axioms")
    assert why in str(best.evidence["sound_lacks"])
    assert (sound.score, sound.outcome) == (None, Outcome.SANDBOX_ERROR)
    assert why in sound.explanation


def test_an_older_lean_is_taken_where_the_operator_says_so(
    tools: Path, prove: JudgeLean, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERIFIER_LEAN_OLDEST_SOUND", "4.35")
    assert prove(PROOF, TRUE).evidence["tier"] == "sound"


def test_both_kernels_are_asked(hostile: None, prove: JudgeLean) -> None:
    judgement = prove(PROOF, TRUE)
    assert judgement.score == 1, judgement
    assert judgement.evidence["kernels"] == {"official": "accepted", "nanoda": "accepted"}


def test_a_kernel_that_works_not_at_all_does_not_count(install: Install, prove: JudgeLean) -> None:
    install("NANODA", "sys.exit(3)")
    judgement = prove(PROOF, TRUE)
    assert (judgement.score, judgement.evidence["kernels"]) == (1, {"official": "accepted"})


def test_a_kernel_that_takes_everything_is_not_believed(install: Install, prove: JudgeLean) -> None:
    install("NANODA", "sys.exit(0)")
    judgement = prove(PROOF, TRUE)
    assert (judgement.score, judgement.outcome) == (None, Outcome.SANDBOX_ERROR)
    assert "accepts a false proof" in judgement.explanation


def test_kernels_that_disagree_raise_an_alarm(
    hostile: None, prove: JudgeLean, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        judgement = prove(_marked("marked_refuse"), TRUE)
    assert (judgement.score, judgement.evidence["step"]) == (0, "replay")
    assert judgement.evidence["kernels"] == {
        "official": "accepted",
        "nanoda": "nanoda ended with status 1: no",
    }
    assert "disagree" in caplog.text


def test_a_kernel_that_a_proof_keeps_busy_is_the_proofs_time(
    hostile: None, prove: JudgeLean
) -> None:
    judgement = prove(_marked("marked_busy"), TRUE, limits={"time_s": 2})
    assert (judgement.score, judgement.outcome) == (0, Outcome.TIME_LIMIT)
    assert prove(PROOF, TRUE).score == 1


HOSTILE = {
    "a proof that is none": (
        """
    for line in real().splitlines():
        at = json.loads(line)
        if "thm" in at:
            at["thm"]["value"] = at["thm"]["type"]
        print(json.dumps(at))
""",
        Outcome.WRONG_ANSWER,
        "replay",
    ),
    "an axiom in the theorem's place": (
        """
    for line in real().splitlines():
        at = json.loads(line)
        if "thm" in at:
            own = at["thm"]
            keys = ("name", "levelParams", "type")
            at = {"axiom": {**{key: own[key] for key in keys}, "isUnsafe": False}}
        print(json.dumps(at))
""",
        Outcome.WRONG_ANSWER,
        "statement",
    ),
    "nonsense": ("    print('nonsense')", Outcome.WRONG_ANSWER, "export"),
    "nothing": ("    pass", Outcome.WRONG_ANSWER, "export"),
    "the beginning alone": (
        "    print(real()[:2000], end='')",
        Outcome.WRONG_ANSWER,
        "export",
    ),
    "a crash": ("    os.abort()", Outcome.RUNTIME_ERROR, "export"),
    "a status": ("    print(real()); sys.exit(1)", Outcome.RUNTIME_ERROR, "export"),
    "no end of time": ("    while True: pass", Outcome.TIME_LIMIT, "export"),
    "no end of text": (
        "    while True: print('x' * 1000000)",
        Outcome.OUTPUT_LIMIT,
        "export",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_exporter_that_a_module_took_over_harms_that_module_alone(
    hostile: None, prove: JudgeLean, name: str
) -> None:
    _, outcome, step = HOSTILE[name]
    mark = f"marked_{list(HOSTILE).index(name)}"
    judgement = prove(_marked(mark), TRUE, limits={"time_s": 2})
    assert (judgement.score, judgement.outcome) == (0, outcome), judgement
    assert judgement.evidence["step"] == step
    assert prove(PROOF, TRUE).score == 1


def test_an_exporter_that_is_broken_is_nobodys_zero(install: Install, prove: JudgeLean) -> None:
    install("EXPORTER", "sys.exit('no such library')")
    judgement = prove(PROOF, TRUE)
    assert (judgement.score, judgement.outcome) == (None, Outcome.SANDBOX_ERROR)
    assert "no such library" in judgement.explanation


def test_an_exporter_of_another_format_is_nobodys_zero(install: Install, prove: JudgeLean) -> None:
    install("EXPORTER", 'print(\'{"meta":{"format":{"version":"9.0.0"}}}\')')
    judgement = prove(PROOF, TRUE)
    assert (judgement.score, judgement.outcome) == (None, Outcome.SANDBOX_ERROR)
    assert "format 3.1" in judgement.explanation


def test_an_allowed_axiom_that_is_no_name_is_the_tasks_fault(prove: JudgeLean) -> None:
    judgement = prove(PROOF, FALSE, axioms=["propext\naxiom cheat : False"])
    assert (judgement.score, judgement.outcome) == (None, Outcome.BAD_REFERENCE)
