"""From a source to a program that can be run: compiled once, in a box of its own.

Only the artefact leaves that box, bounded, and is laid into the one where the program runs. So
a compiler may have more time and memory than the program, and meets none of the tests. That it
dies, of whatever a hostile source made it do, is the source's flaw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from sandboxes.base import MIB, ExecResult, Limits, SandboxProvider
from verifier_server.checkers.code.box import Record, Runner, bad_end
from verifier_server.checkers.code.languages import LANGUAGES, MEMORY_MIB, Language
from verifier_server.errors import SandboxFault

_MOST_ARTEFACT_BYTES = 64 * MIB
_PROBE_SAYS = b"42"
_PROBE_LIMITS = Limits(time_s=20.0, pids=256)


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a source is no program."""

    message: str


@dataclass(frozen=True, slots=True)
class Program:
    """What can be run: the files to be laid into a box, and how to start it there."""

    language: Language
    files: Mapping[str, bytes]

    def argv(self, memory_bytes: int) -> list[str]:
        """What to run where an item allows so much memory."""
        return [part.replace(MEMORY_MIB, str(memory_bytes // MIB)) for part in self.language.run]


def build(
    provider: SandboxProvider,
    language: Language,
    files: Mapping[str, bytes],
    record: Record,
    *,
    at_once: bool = False,
) -> Program | Flaw:
    """Compiles, where the language has that.

    Args:
        provider: makes the box for it.
        language: of the source.
        files: the source, as `language.file`, and what it includes.
        record: where the compiler's use is added up.
        at_once: look at a source that isn't compiled as well, and not only when it fails.

    Raises:
        SandboxError: the box failed.
    """
    if not (language.compile or at_once):
        return Program(language, files)
    with Runner(provider, _compiler_limits(language), record, language, is_tool=True) as runner:
        runner.write(files)
        if not language.compile:
            return syntax_flaw(Program(language, files), runner) or Program(language, files)
        result = runner.run(language.compile)
        flaw = _flaw(result)
        if flaw is not None:
            return flaw
        try:
            artefact = runner.read(language.artefact, _MOST_ARTEFACT_BYTES)
        except (FileNotFoundError, ValueError) as error:
            return Flaw(f"the compiler leaves no usable program: {error}")
    return Program(language, {language.artefact: artefact})


def syntax_flaw(program: Program, runner: Runner) -> Flaw | None:
    """What is wrong with an uncompiled source that doesn't even start, if that is why.

    Raises:
        SandboxError: the box failed.
    """
    return _flaw(runner.run(program.language.check)) if program.language.check else None


def require_tool_chain(provider: SandboxProvider, name: str) -> None:
    """Tells a language that this host lacks from a program that fails. Remembers success.

    Raises:
        SandboxFault: the language's own test program doesn't run here.
        SandboxError: the box failed.
    """
    _require(cast(Any, provider), name)  # mypy takes no protocol for hashable


# What it raises is not kept, so a tool chain that is installed later is found.
@lru_cache(maxsize=64)
def _require(provider: SandboxProvider, name: str) -> None:
    language, record = LANGUAGES[name], Record()
    program = build(provider, language, {language.file: language.probe.encode()}, record)
    if isinstance(program, Flaw):
        why = program.message
    else:
        with Runner(provider, _PROBE_LIMITS, record, language) as runner:
            runner.write(program.files)
            result = runner.run(program.argv(_PROBE_LIMITS.memory_bytes))
        if result.stdout.strip() == _PROBE_SAYS:
            return
        why = _said(result) or "its test program fails"
    raise SandboxFault(
        f"{name} programs can't be run in this sandbox: {why}",
        remedy=f"it needs {language.needs}, below /usr or in the box's image",
    )


def _compiler_limits(language: Language) -> Limits:
    return Limits(
        time_s=language.compile_s,
        memory_bytes=1024 * MIB,
        output_bytes=MIB,
        disk_bytes=512 * MIB,
        file_bytes=256 * MIB,
        pids=256,
        open_files=1024,
    )


def _flaw(result: ExecResult) -> Flaw | None:
    end = bad_end(result)
    if end is None:
        return None
    if result.exit:
        return Flaw(_said(result) or end[1])
    return Flaw(f"while compiling, {end[1]}")


def _said(result: ExecResult) -> str:
    """The line that tells most."""
    lines = result.stderr[:20_000].decode(errors="replace").strip().splitlines() or [""]
    return next((line for line in lines if "error" in line.lower()), lines[-1]).strip()


__all__ = ["Flaw", "Program", "build", "require_tool_chain", "syntax_flaw"]
