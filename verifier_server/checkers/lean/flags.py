"""What a submission's text does that a judge should know, before anything runs.

Tier `axioms` asks a Lean process about a module that the submission's author wrote. A module
can bring code that this process runs, notations that change what is asked, or constants that
no kernel has seen; it can do so only by words that are looked for here, and is refused for
them. Attributes are told by a list of plain ones, since libraries add others that run code.
Tier `sound` needs none of this: there flags are told and refuse nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from verifier_server.checkers.lean.source import Source

# Bidirectional controls and NUL: never in a proof, only to make one read otherwise.
_CONTROLS = re.compile("[\x00\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
# A keyword is one wherever no ASCII name goes on: `1elab` and `λelab` are two tokens each.
_WORD = r"(?<![A-Za-z_])(?:{})(?![A-Za-z0-9_'!?])"
_RUNS_CODE = re.compile(
    _WORD.format(
        r"""
          \#eval!? | \#guard | \#html | \#exit | eval% | include_str
        | run_cmd | run_elab | run_meta | run_tac | by_elab
        | (?:builtin_)?initialize | builtin_init | implemented_by | extern | csimp | unsafe
        | elab | elab_rules | macro | macro_rules | syntax | declare_syntax_cat | unif_hint
        | (?:builtin_)?d?simproc(?:_decl|_pattern%)? | binder_predicate
        | (?:declare|register)_\w+ | meta | module | public
        """
    ),
    re.VERBOSE,
)
_NOTATION = re.compile(
    r"(?P<local>(?<![A-Za-z_])local\s+)?"
    + _WORD.format("notation3?|infix|infixl|infixr|prefix|postfix")
)
_TOLD = re.compile(
    _WORD.format(r"axiom|sorry|admit|stop|native_decide|opaque|partial|prelude|apply\?|exact\?")
)
_PLAIN_ATTRIBUTES = re.compile(
    r"""
      simp | simps!? | ext | instance | default_instance | class | coe | local | scoped
    | (?:ir|semi)?reducible | inline | always_inline | specialize | match_pattern | recursor
    | (?:norm|push|elim|move)_cast | gcongr | mono | trans | refl | symm | congr | rfl | push
    | elab_as_elim | induction_eliminator | cases_eliminator | to_additive | deprecated
    | nolint | inherit_doc | aesop | grind | fun_prop | continuity | measurability | bound
    """,
    re.VERBOSE,
)
_ATTRIBUTES = re.compile(r"@\[|(?<![A-Za-z_])attribute\s*\[")
_ATTRIBUTE = re.compile(r"\s*-?\s*(?:(?:local|scoped)\s+)?([\w.«»!]+)")
_BRACKET = re.compile(r"[\[\]\"]")
_OPTION = re.compile(r"(?<![A-Za-z_])set_option\s+([\w.«»]+)\s+(\S+)")
_SHADY_OPTION = re.compile(r"(?:debug|bootstrap|experimental|compiler|interpreter)\.|.*«")
_OPEN_PRIVATE = re.compile(r"(?<![A-Za-z_])open\s+private(?![A-Za-z0-9_])")
# Aesop's rules have a phase of that name.
_UNSAFE_RULE = re.compile(r"\(add\s+(?P<rule>unsafe)\b|\b(?P<weighted>unsafe)\s+\d+%")


@dataclass(frozen=True, slots=True)
class Flags:
    """What was found, each once, in the order of appearance.

    Attributes:
        all: every flag.
        refused: those behind which nothing that Lean says of the module can be believed.
    """

    all: tuple[str, ...]
    refused: tuple[str, ...]


def flags_of(source: Source) -> Flags:
    """The flags of a submission's text."""
    code = source.code
    found: dict[int, tuple[str, bool]] = {}
    for match in _CONTROLS.finditer(source.text):
        found[match.start()] = (f"control character U+{ord(match[0]):04X}", True)
    for match in _RUNS_CODE.finditer(code):
        found[match.start()] = (match[0], True)
    for match in _UNSAFE_RULE.finditer(code):
        found.pop(match.start(match.lastgroup or 0), None)
    for match in _NOTATION.finditer(code):
        found[match.start()] = (" ".join(match[0].split()), match["local"] is None)
    for match in _TOLD.finditer(code):
        found[match.start()] = (match[0], False)
    for match in _OPEN_PRIVATE.finditer(code):
        found[match.start()] = ("open private", True)
    for match in _OPTION.finditer(code):
        option, value = match.groups()
        shady = _SHADY_OPTION.match(option) is not None
        if shady or option.startswith("warn.") or (option, value) == ("maxHeartbeats", "0"):
            found[match.start()] = (f"set_option {option}", shady)
    for match in _ATTRIBUTES.finditer(code):
        if names := _unknown_attributes(_bracketed(source, match.end())):
            found[match.start()] = (f"attribute {', '.join(names)}", True)
    ordered = [found[at] for at in sorted(found)]
    return Flags(
        tuple(dict.fromkeys(flag for flag, _ in ordered)),
        tuple(dict.fromkeys(flag for flag, refused in ordered if refused)),
    )


def _bracketed(source: Source, start: int) -> str:
    """What is in the brackets that opened before `start`."""
    code, depth = source.code, 1
    for match in _BRACKET.finditer(code, start):
        if match[0] == '"':
            if source.doubtful:  # then a string may hold a bracket
                return f'{code[start : match.start()]}, "'
            continue
        depth += 1 if match[0] == "[" else -1
        if not depth:
            return code[start : match.start()]
    return code[start:]


def _unknown_attributes(listed: str) -> list[str]:
    """The names in an attribute list that are not known to be plain."""
    matches = ((part, _ATTRIBUTE.match(part)) for part in listed.split(","))
    names = [match[1] if match else part.strip() for part, match in matches]
    return [name[:40] for name in names if name and not _PLAIN_ATTRIBUTES.fullmatch(name)]


__all__ = ["Flags", "flags_of"]
