"""Where Lean and its tools are looked for, with stand-ins that only say what they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from verifier_server.checkers.lean import toolchain as module
from verifier_server.checkers.lean.inventory import take_inventory
from verifier_server.checkers.lean.toolchain import find_toolchain
from verifier_server.errors import SandboxFault
from verifier_server.settings import LeanSettings

VERSION = "Lean (version 4.35.0, x86_64-unknown-linux-gnu, commit 0123456789abcdef, Release)"


@pytest.fixture(autouse=True)
def _bare_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No Lean but what a test puts there."""
    for name in [name for name in os.environ if name.startswith("VERIFIER_LEAN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(module, "_failures", {})
    module._find.cache_clear()
    yield
    module._find.cache_clear()


def script(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def make_lean(prefix: Path, version: str = VERSION, says_prefix: Path | None = None) -> str:
    return script(
        prefix / "bin" / "lean",
        f'case $1 in --print-prefix) echo "{says_prefix or prefix}";; *) echo "{version}";; esac',
    )


def found(monkeypatch: pytest.MonkeyPatch, **settings: str) -> module.Toolchain:
    for name, value in settings.items():
        monkeypatch.setenv(f"VERIFIER_LEAN_{name.upper()}", value)
    return find_toolchain()


def test_a_command_that_is_named_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_lean(tmp_path / "other")
    monkeypatch.setenv("PATH", f"{tmp_path}/other/bin:/usr/bin:/bin")
    toolchain = found(monkeypatch, command=make_lean(tmp_path / "named"))
    assert toolchain.prefix == str(tmp_path / "named")
    assert (toolchain.version, toolchain.name) == ((4, 35, 0), "4.35.0 0123456789ab")


def test_else_the_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_lean(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    assert found(monkeypatch).prefix == str(tmp_path)


def test_else_elans_whose_command_only_knows_where_lean_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_lean(tmp_path / "real")
    make_lean(tmp_path / "home" / ".elan", "never asked", says_prefix=tmp_path / "real")
    assert found(monkeypatch).prefix == str(tmp_path / "real")


def make_project(tmp_path: Path) -> tuple[Path, str]:
    """A project whose `lake env` names a tool chain and two directories, one never built."""
    project, prefix = tmp_path / "project", tmp_path / "projects-lean"
    (project / ".lake" / "build").mkdir(parents=True)
    make_lean(prefix)
    lake = script(
        tmp_path / "bin" / "lake",
        f'[ "$(pwd)" = "{project}" ] || exit 1\n'
        f"export LEAN_PATH=.lake/packages/unbuilt:{project}/.lake/build LEAN_SYSROOT={prefix}\n"
        'shift; exec "$@"',
    )
    return project, lake


def test_a_lake_project_gives_both_tool_chain_and_libraries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project, lake = make_project(tmp_path)
    monkeypatch.setenv("PATH", f"{os.path.dirname(lake)}:/usr/bin:/bin")
    toolchain = found(monkeypatch, project=str(project))
    assert toolchain.prefix == str(tmp_path / "projects-lean")
    assert toolchain.libraries == (f"{project}/.lake/build",)


def test_a_command_beside_a_project_is_the_one_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project, lake = make_project(tmp_path)
    monkeypatch.setenv("PATH", f"{os.path.dirname(lake)}:/usr/bin:/bin")
    command = make_lean(tmp_path / "named")
    assert found(monkeypatch, project=str(project), command=command).prefix.endswith("/named")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "VERIFIER_LEAN_COMMAND"),
        ({"command": "/no/such/lean"}, "/no/such/lean"),
        ({"command": "{lean}", "path": "/no/such/folder"}, "VERIFIER_LEAN_PATH"),
        ({"command": "{lean}", "exporter": "/no/such/tool"}, "/no/such/tool"),
        ({"command": "{lean}", "repl": "/no/such/repl"}, "/no/such/repl"),
        ({"project": "/no/such/project"}, "failed"),
        ({"command": "{lean}", "oldest_sound": "new"}, "VERIFIER_LEAN_OLDEST_SOUND"),
    ],
)
def test_what_is_not_there_is_told_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: dict[str, str], told: str
) -> None:
    lean = make_lean(tmp_path)
    named = {name: value.format(lean=lean) for name, value in settings.items()}
    with pytest.raises(SandboxFault, match=told) as fault:
        found(monkeypatch, **named)
    assert fault.value.remedy


def test_a_program_that_is_no_lean_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SandboxFault, match="no version"):
        found(monkeypatch, command=make_lean(tmp_path, "hello"))


def test_a_search_that_failed_is_not_repeated_for_each_item(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "asked"
    lean = script(tmp_path / "bin" / "lean", f"echo asked >> {log}; exit 1")
    for _ in range(3):
        with pytest.raises(SandboxFault) as fault:
            found(monkeypatch, command=lean)
        assert fault.value.remedy
    assert log.read_text().count("asked") == 1


def test_its_identity_changes_with_lean_a_library_and_a_tool(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library, nanoda = tmp_path / "library", tmp_path / "bin" / "nanoda_bin"
    library.mkdir()
    (library / "A.olean").write_text("one")
    shared = tmp_path / "lib" / "lean" / "libleanshared.so"
    shared.parent.mkdir(parents=True)
    shared.write_text("one")
    script(nanoda, "exit")
    settings = {"command": make_lean(tmp_path), "path": str(library), "nanoda": str(nanoda)}

    def identity() -> str:
        module._find.cache_clear()
        return found(monkeypatch, **settings).identity

    first = identity()
    assert identity() == first
    seen = {first}
    for changed in (library / "A.olean", shared, nanoda):
        changed.write_text("another")
        seen.add(identity())
    assert len(seen) == 4


def test_an_inventory_names_every_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "Mathlib.olean").touch()
    settings = LeanSettings(
        command=make_lean(tmp_path),
        path=str(library),
        nanoda=script(tmp_path / "nanoda", "exit"),
        oldest_sound="4.36",
    )
    parts = {part.what: part for part in take_inventory(settings)}
    assert [what for what, part in parts.items() if part.ok] == [
        "tool chain", "Mathlib", "nanoda_bin"
    ]  # fmt: skip
    missing = [what for what, part in parts.items() if not part.ok]
    assert missing == ["age", "Lean's own", "lean4export", "leanchecker", "comparator", "repl"]
    assert parts["Mathlib"].detail == str(library)
    assert all(parts[what].remedy for what in missing)


def test_an_inventory_of_nothing_says_how_to_begin() -> None:
    (part,) = take_inventory()
    assert (part.what, part.ok) == ("tool chain", False)
    assert "VERIFIER_LEAN_COMMAND" in part.remedy
