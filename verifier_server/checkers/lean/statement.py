"""The task's own text, taken apart: imports, what stands before the theorem, the theorem.

It is trusted and written by people, so it is read by plain patterns; whether it was read
rightly is found out by judging a proof of our own against it (see `challenge`).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from verifier_server.checkers.lean.source import read_source
from verifier_server.errors import BadReference

_MODULE = r"[^\s;«»]+(?:\.«[^»\n]+»)*"
_IMPORT = re.compile(rf"\s*import\s+(?P<module>{_MODULE})(?=\s|$)")
_PRELUDE = re.compile(r"\s*prelude(?![\w'!?.])")
_NAME = r"(?:[^\s:({\[⦃«».]+|«[^»\n]+»)(?:\.(?:[^\s:({\[⦃«».]+|«[^»\n]+»))*"
_THEOREM = re.compile(r"(?<![\w.])(?P<keyword>theorem|lemma)\s+(?P<name>" + _NAME + ")")
_TAIL = re.compile(r"\s*:=\s*(?P<by>by\s*)?(?:sorry\s*)?$")
_LINE_START = re.compile(r"^(?=\S)", re.MULTILINE)
# What says how the text below it is to be read, and ends with its file.
_SCOPE = re.compile(
    r"open|variables?|universes?|set_option|namespace|section|noncomputable\s+section|end"
    r"|include|omit|local|attribute\s*\[\s*local"
)
# Its `end` closes no scope.
_MUTUAL = re.compile(r"^mutual(?![\w'!?.]).*?^end(?![\w'!?.])", re.MULTILINE | re.DOTALL)
_SCOPES = re.compile(r"(?P<opens>namespace|section|noncomputable\s+section)|end")
_SCOPE_NAME = re.compile(r"(?:namespace|end|(?:noncomputable\s+)?section)[ \t]+(?P<name>\S+)")


@dataclass(frozen=True, slots=True)
class Head:
    """How a file begins. `rest` is the text below its imports."""

    prelude: bool
    imports: tuple[str, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A theorem that is to be proved, and its surroundings.

    Attributes:
        head: the header's beginning; `head.rest` is what it declares and opens.
        scope: what of it must be said again above a proof, as text.
        declares: whether there is more in it, which belongs into a module of its own.
        before, keyword, name, after: the theorem's text up to its `:=`, in four parts.
        tactics: whether the statement asks for tactics, by its `:= by`.
        namespace: the one that is open where the theorem stands, or "".
    """

    head: Head
    scope: str
    declares: bool
    before: str
    keyword: str
    name: str
    after: str
    tactics: bool
    namespace: str

    @property
    def full_name(self) -> str:
        """The theorem's name from the root."""
        return self.in_namespace(self.name)

    @property
    def text(self) -> str:
        """The theorem up to its `:=`."""
        return f"{self.before}{self.keyword} {self.name}{self.after}"

    def in_namespace(self, name: str) -> str:
        """The full name of what is declared as `name` where the theorem stands."""
        if name.startswith("_root_."):
            return name.removeprefix("_root_.")
        return f"{self.namespace}.{name}" if self.namespace else name


def read_head(text: str) -> Head:
    """Splits a file below its imports. Comments among them are dropped."""
    code = read_source(text).code
    prelude = _PRELUDE.match(code)
    at = prelude.end() if prelude else 0
    imports: list[str] = []
    while match := _IMPORT.match(code, at):
        imports.append(match["module"])
        at = match.end()
    return Head(prelude is not None, tuple(imports), text[at:])


def read_statement(header: str, statement: str) -> Statement:
    """Takes the task's header and statement apart.

    Raises:
        BadReference: they are not what they should be; says how.
    """
    head = read_head(header)
    source = read_source(statement)
    if source.doubtful:
        raise BadReference("the statement holds text of which it is in doubt what is comment")
    match = _THEOREM.search(source.code)
    if match is None:
        raise BadReference("the statement has no `theorem NAME`", remedy="name the theorem")
    if re.search(r"(?<!\w)private(?!\w)", source.code[: match.start()]):
        raise BadReference("a private theorem can't be asked for", remedy="drop `private`")
    tail = _TAIL.search(source.code, match.end())
    end = tail.start() if tail else len(source.code.rstrip())
    scope = _scope(head.rest)
    said, saying = ("".join(read_source(text).code.split()) for text in (head.rest, scope))
    return Statement(
        head=head,
        scope=scope,
        declares=said != saying,
        before=source.text[: match.start("keyword")],
        keyword=match["keyword"],
        name=match["name"],
        after=source.text[match.end("name") : end],
        tactics=bool(tail and tail["by"]),
        namespace=_open_namespace(read_source(head.rest).code),
    )


def _scope(text: str) -> str:
    """The commands of a header that declare nothing, with the scopes that they stand in."""
    code = _without_mutual(read_source(text).code)
    starts = [match.start() for match in _LINE_START.finditer(code)]
    kept, carried = [], ""
    for start, end in itertools.pairwise([*starts, len(code)]):
        command = code[start:end]
        if re.search(r"\sin\s*$", command):  # it is the next command's
            carried += command
            continue
        if not carried and _SCOPE.match(command):
            kept.append(text[start : start + len(command.rstrip())])
        carried = ""
    return "\n".join(kept)


def _without_mutual(code: str) -> str:
    """The code with its mutual blocks blanked."""
    return _MUTUAL.sub(lambda block: re.sub(r"\S", " ", block[0]), code)


def _open_namespace(code: str) -> str:
    """The namespace that is open at the end of a header."""
    open_scopes: list[str] = []
    for match in re.finditer(r"^\S.*", _without_mutual(code), re.MULTILINE):
        scope = _SCOPES.match(match[0])
        if scope is None or re.match(r"\w", match[0][scope.end() :]):
            continue
        if scope["opens"] is None:
            if open_scopes:
                open_scopes.pop()
            continue
        name = _SCOPE_NAME.match(match[0])
        is_namespace = scope["opens"] == "namespace" and name is not None
        open_scopes.append(name["name"] if is_namespace and name else "")
    return ".".join(filter(None, open_scopes))


__all__ = ["Head", "Statement", "read_head", "read_statement"]
