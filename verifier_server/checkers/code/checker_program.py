"""`compare: {"checker_program": …}`: a program of the task's judges each output.

It is called as testlib's checkers are, with the paths of input, output and answer, in a box of
its own, which the candidate's program never was in, and says by its exit status what it found.

A status that is no verdict may be the checker's fault or the doing of a hostile output. The
two are told by what it does with the expected output in the output's place: if it fails at that
too the task is at fault; else the output is wrong, since nothing that a candidate controls may
leave it without a score.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, cast

from sandboxes.base import ExecResult, ExitReason, Limits, SandboxProvider
from verifier_server.checkers.code.box import Record, Runner, bad_end
from verifier_server.checkers.code.build import Flaw, Program, build, require_tool_chain
from verifier_server.checkers.code.compare import Finding
from verifier_server.checkers.code.grading import cut
from verifier_server.checkers.code.languages import LANGUAGES
from verifier_server.checkers.code.params import CheckerProgram, StdioTest
from verifier_server.errors import BadReference

LIMITS = Limits(time_s=10.0, pids=128)
_FILES = ("input.txt", "output.txt", "answer.txt")
# Statuses of testlib (testlib.h, `TResult`): what they say of the output.
_RIGHT, _POINTS = 0, 7
_WRONG = {
    1: "the answer is wrong",
    2: "the output is no answer",
    4: "there is more in the output than an answer",
    8: "the output ends too early",
}
_NUMBER = re.compile(rb"[0-9]{1,9}(?:\.[0-9]{1,20})?")


class ProgramJudge:
    """Compares outputs with a checker program.

    Args:
        provider: makes its boxes.
        program: what the task gave.
        record: where its use is added up.

    Raises:
        BadReference: it doesn't compile.
        SandboxFault: this host lacks its language.
        SandboxError: the box failed.
    """

    def __init__(self, provider: SandboxProvider, program: CheckerProgram, record: Record) -> None:
        self._provider = provider
        self._language = program.language
        self._record = record
        files = {path: text.encode() for path, text in program.files.items()}
        files[LANGUAGES[program.language].file] = program.source.encode()
        built = _built(cast(Any, provider), program.language, tuple(sorted(files.items())))
        if isinstance(built, Flaw):
            require_tool_chain(provider, program.language)
            raise BadReference(f"{_WHERE}: it doesn't compile: {cut(built.message)}")
        self._program: Program = built

    def compare(self, test: StdioTest, output: bytes) -> Finding:
        """What the checker says of an output.

        Raises:
            BadReference: it fails at the expected output too.
            SandboxFault: this host lacks its language.
            SandboxError: the box failed.
        """
        answer = test.stdout.encode()
        result = self._run(test, output, answer)
        finding = self._finding(result)
        if finding is not None:
            return finding
        expected = self._run(test, answer, answer)
        if self._finding(expected) is None:
            require_tool_chain(self._provider, self._language)
            raise BadReference(f"{_WHERE}: it fails at an expected output: {_how(expected)}")
        return Finding(0.0, f"the task's checker can't judge the output: {_how(result)}")

    def _run(self, test: StdioTest, output: bytes, answer: bytes) -> ExecResult:
        language = self._program.language
        with Runner(self._provider, LIMITS, self._record, language, is_tool=True) as runner:
            laid = zip(_FILES, (test.stdin.encode(), output, answer), strict=True)
            runner.write({**self._program.files, **dict(laid)})
            return runner.run([*self._program.argv(LIMITS.memory_bytes), *_FILES])

    def _finding(self, result: ExecResult) -> Finding | None:
        """What a status says; None where it is no verdict."""
        crash = self._program.language.crash
        if result.reason is not ExitReason.EXITED or (crash and crash in result.stderr):
            return None
        if result.exit == _RIGHT:
            return Finding(1.0, "")
        if result.exit == _POINTS:
            return _points(result)
        if result.exit in _WRONG:
            return Finding(0.0, f"{_WRONG[result.exit]}{_comment(result)}")
        return None


_WHERE = "params: compare.checker_program"


# The siblings of a group share their checker.
@lru_cache(maxsize=4)
def _built(
    provider: SandboxProvider, language: str, files: tuple[tuple[str, bytes], ...]
) -> Program | Flaw:
    return build(provider, LANGUAGES[language], dict(files), Record(), at_once=True)


def _points(result: ExecResult) -> Finding:
    """The first number of its comment."""
    found = _NUMBER.search(result.stderr or result.stdout)
    points = round(float(found[0]), 9) if found else -1.0
    if not 0 <= points <= 1:
        return Finding(0.0, f"the task's checker gives no points from 0 to 1{_comment(result)}")
    return Finding(points, f"{points:g} points{_comment(result)}")


def _how(result: ExecResult) -> str:
    end = bad_end(result)
    return f"{end[1] if end else 'it ended'}{_comment(result)}".replace("program", "checker")


def _comment(result: ExecResult) -> str:
    """The last line of what it wrote."""
    said = (result.stderr or result.stdout)[-4000:].decode(errors="replace").strip()
    last = said.rpartition("\n")[2]
    return f": {cut(last)}" if last else ""


__all__ = ["ProgramJudge"]
