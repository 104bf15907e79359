"""Writes the generated parts of docs/. `--check` only says whether they are up to date."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic_core import PydanticUndefined
from typer.main import get_command

from verifier_server.checkers.math import exact, numerals, policy, tokens
from verifier_server.cli.main import app
from verifier_server.settings import LeanSettings, Settings

DOCS = Path(__file__).parent.parent / "docs"


def settings_page() -> str:
    """The reference table of every setting, made from `Settings`."""
    lines = [
        "# Settings",
        "",
        "The service is configured by environment variables. Made from "
        "`verifier_server/settings.py` by `make docs`; don't edit.",
        "",
        "| variable | default | what |",
        "| --- | --- | --- |",
    ]
    for name, field in Settings.model_fields.items():
        lines.append(f"| `VERIFIER_{name.upper()}` | {_default(name)} | {field.description} |")
    for name, field in LeanSettings.model_fields.items():
        default = f"`{field.default}`"
        lines.append(f"| `VERIFIER_LEAN_{name.upper()}` | {default} | {field.description} |")
    return "\n".join(lines) + "\n"


def _default(name: str) -> str:
    of_this_machine = {
        "cpu_workers": "cores, at least 2",
        "sandbox_workers": "twice the cores, at least 4",
        "lean_workers": "cores, at least 2",
    }
    if name in of_this_machine:
        return of_this_machine[name]
    field = Settings.model_fields[name]
    if field.default is PydanticUndefined:
        return "none"
    return f"`{field.default}`"


def cli_page() -> str:
    """The reference of `verifier-server`, made from the commands themselves."""
    lines = [
        "# verifier-server",
        "",
        "Every command, made from `verifier_server/cli/` by `make docs`; don't edit. All commands "
        "read the [settings](settings.md) of the environment. What is foreseen to fail exits "
        "with 2, a message and its remedy; Ctrl-C exits with 130.",
    ]
    for name, command in _commands("verifier-server", get_command(app)):
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        usage = " ".join([name, *(p.metavar or p.name.upper() for p in arguments)])
        lines += ["", f"## {name}", "", command.help, "", "```text", usage, "```"]
        rows = [_parameter(p) for p in command.params if p.help and not p.hidden]
        if rows:
            lines += ["", "| | |", "| --- | --- |", *rows]
    return "\n".join(lines) + "\n"


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The commands below, not the groups; typed loosely, for typer brings its own click."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for child in command.commands.values():
        yield from _commands(f"{name} {child.name}", child)


def _parameter(param: Any) -> str:
    flags = param.metavar if param.param_type_name == "argument" else ", ".join(param.opts)
    variable = f" Also `{param.envvar}`." if param.envvar else ""
    return f"| `{flags or param.name.upper()}` | {' '.join(param.help.split())}{variable} |"


def math_page() -> str:
    """The page of the math checker: as written, with its tables made from math.toml."""
    rows = tomllib.loads((DOCS / "math.toml").read_text())
    forms = [
        (row["name"], _code(row["gold"]), *map(_codes, (row["accepts"], row["rejects"])),
         row.get("option", ""))
        for row in rows["form"]
    ]  # fmt: skip
    deviations = [
        (f"`{row['mode']}`", row["name"], *map(_code, (row["gold"], row["completion"])),
         str(row["standard"]), str(row["other"]))
        for row in rows["deviation"]
    ]  # fmt: skip
    tables = {
        "forms": _table(("form", "gold", "accepts", "rejects", "option"), forms),
        "limits": _table(("", "at most"), _limits()),
        "deviations": _table(
            ("mode", "deviation", "gold", "completion", "`standard`", "there"), deviations
        ),
    }
    text = (DOCS / "math.md").read_text()
    for name, table in tables.items():
        text = _filled(text, name, table)
    return text


def _filled(text: str, name: str, table: str) -> str:
    """The text with the table between the mark of that name and the next end."""
    before, mark, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    return before + mark + table + end + after


def _limits() -> list[tuple[str, ...]]:
    return [
        ("characters of an answer", f"{tokens.MAX_CHARS:,}"),
        ("parts of it (numbers, names, signs)", f"{tokens.MAX_TOKENS:,}"),
        ("nesting of brackets", f"{tokens.MAX_DEPTH}"),
        ("digits of a written number", f"{numerals.MAX_DIGITS:,}"),
        ("exponent of a power of ten", f"{numerals.MAX_EXPONENT:,}"),
        ("bits of any number on the way", f"{exact.MAX_BITS:,}"),
        ("terms of a sum that is added up", f"{exact.MAX_TERMS:,}"),
        ("elements compared in any order, unless they are numbers", f"{policy.MAX_ITEMS}"),
    ]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _codes(texts: list[str]) -> str:
    return ", ".join(map(_code, texts))


def _code(text: str) -> str:
    """A code span inside a table, where a bare bar would end the cell."""
    return "`" + text.replace("|", "\\|") + "`"


def main() -> int:
    """Writes or checks every page; the exit status says whether one was out of date."""
    pages = {
        DOCS / "settings.md": settings_page(),
        DOCS / "cli.md": cli_page(),
        DOCS / "math.md": math_page(),
    }
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path} is out of date: run `make docs`")
        return len(stale) > 0
    for path in stale:
        path.write_text(pages[path])
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
