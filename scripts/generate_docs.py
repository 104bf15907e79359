"""Writes the generated parts of docs/. `--check` only says whether they are up to date."""

from __future__ import annotations

import sys
from pathlib import Path

from pydantic_core import PydanticUndefined

from verifier_server.settings import Settings

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
    return "\n".join(lines) + "\n"


def _default(name: str) -> str:
    of_this_machine = {
        "cpu_workers": "cores, at least 2",
        "sandbox_workers": "twice the cores, at least 4",
    }
    if name in of_this_machine:
        return of_this_machine[name]
    field = Settings.model_fields[name]
    if field.default is PydanticUndefined:
        return "none"
    return f"`{field.default}`"


def main() -> int:
    """Writes or checks every page; the exit status says whether one was out of date."""
    pages = {DOCS / "settings.md": settings_page()}
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
