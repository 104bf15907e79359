"""Attacks boxes of every level on this host and writes docs/conformance.md from what came of it.

    python scripts/conformance_page.py              all levels, about half an hour
    python scripts/conformance_page.py oci          this one anew; the others as they were
    python scripts/conformance_page.py --check      is the page what docs/conformance.json says?
    python scripts/conformance_page.py --write      make it so, without a run

As root, so that every level can run; those that an ordinary user has are tried as one, too.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from sandboxes.base import SandboxUnavailable  # noqa: E402
from sandboxes.conformance import ATTACKS, run_conformance  # noqa: E402
from sandboxes.registry import open_provider  # noqa: E402

PAGE, DATA = ROOT / "docs" / "conformance.md", ROOT / "docs" / "conformance.json"
WARM = ("json", "unittest")


@dataclass(frozen=True, slots=True)
class Level:
    """One column: a provider's address, whether warm, whether as an ordinary user."""

    address: str
    warm: bool = False
    ordinary: bool = False

    @property
    def title(self) -> str:
        """What it is called in the page."""
        words = [self.address, "warm" if self.warm else "", "user" if self.ordinary else ""]
        return ", ".join(filter(None, words))


LEVELS = (
    Level("namespaces"),
    Level("namespaces", warm=True),
    Level("namespaces", ordinary=True),
    Level("bubblewrap"),
    Level("bubblewrap", ordinary=True),
    Level("oci?runtime=crun"),
    Level("oci?runtime=runc"),
    Level("nested"),
    Level("nested", warm=True),
    Level("nested?runtime=crun"),
    Level("container"),
    Level("container?runtime=crun"),
    Level("container?runtime=runsc"),
)
# Run by another user with another Python, which has nothing but `sandboxes`.
AS_ORDINARY_USER = """
import json, os, shutil
os.environ["PATH"] = os.path.dirname(os.environ["BWRAP"]) + ":" + os.environ["PATH"]
from sandboxes.conformance import run_conformance
from sandboxes.registry import open_provider
provider = open_provider({address!r})
results = [[r.name, str(r.outcome), r.detail] for r in run_conformance(provider)]
print(json.dumps([provider.probe().isolation, results]))
provider.close()
"""


def attack(level: Level) -> dict[str, Any]:
    """What the page says of a level.

    Raises:
        SandboxUnavailable: it does not work here.
    """
    if level.ordinary:
        from tests.sandboxes.conftest import OrdinaryUser

        with tempfile.TemporaryDirectory(prefix="ordinary-") as folder:
            user = OrdinaryUser(Path(folder))
            program = AS_ORDINARY_USER.format(address=level.address)
            printed, _ = user.start(program).communicate(timeout=1800)
        isolation, results = json.loads(printed)
    else:
        provider = open_provider(level.address)
        try:
            probe = provider.probe()
            if not probe.available:
                raise SandboxUnavailable("; ".join(f.detail for f in probe.findings if not f.ok))
            isolation = probe.isolation
            found = run_conformance(provider, preload=WARM if level.warm else ())
            results = [[r.name, str(r.outcome), r.detail] for r in found]
        finally:
            provider.close()
    return {
        "title": level.title,
        "isolation": isolation,
        "attacks": len(results),
        "not held": [result for result in results if result[1] != "held"],
    }


def machine() -> dict[str, str]:
    """Versions of what the levels are made of."""
    commands = {
        "bubblewrap": ["bwrap", "--version"],
        "Docker": ["docker", "version", "--format", "{{.Server.Version}}"],
        "runc": ["runc", "--version"],
        "crun": ["crun", "--version"],
        "runsc": ["runsc", "--version"],
    }
    versions = {"Linux": platform.release(), "Python": platform.python_version()}
    for name, command in commands.items():
        try:
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        version = re.search(r"\d[\w.+~-]*", said)
        versions[name] = version[0] if version else "?"
    return versions


def page(data: Mapping[str, Any]) -> str:
    """The page, as Markdown."""
    return "\n".join([*_head(data), *_groups(data), *_exceptions(data), *_attacks()]) + "\n"


def _head(data: Mapping[str, Any]) -> Iterator[str]:
    versions = ", ".join(f"{name} {version}" for name, version in data["machine"].items())
    yield "# Conformance"
    yield ""
    yield (
        "What every level of sandbox holds, made by `python scripts/conformance_page.py`; don't "
        "edit. The attacks are those of `sandboxes/conformance`; some are honest programs, which "
        "must work. *Warm* is a program run by a warm interpreter; *user*, a service that is not "
        "root. On another host ask it: `verifier-server sandbox check`."
    )
    yield ""
    yield f"Tried on {versions}."
    yield ""


def _groups(data: Mapping[str, Any]) -> Iterator[str]:
    groups = Counter(attack.group for attack in ATTACKS)
    group_of = {attack.name: attack.group for attack in ATTACKS}
    yield "## Held, by group"
    yield "| level | isolation | " + " | ".join(groups) + " | all |"
    yield "| --- | --- |" + " ---: |" * (len(groups) + 1)
    for level in data["levels"]:
        missed = Counter(group_of[name] for name, _, _ in level["not held"])
        cells = [f"{count - missed[group]}/{count}" for group, count in groups.items()]
        held = level["attacks"] - missed.total()
        title, isolation = level["title"], level["isolation"]
        yield f"| {title} | `{isolation}` | {' | '.join(cells)} | {held}/{level['attacks']} |"
    for title, reason in data["not here"].items():
        yield f"| {title} | not on this host: {_cell(reason)} |" + " |" * (len(groups) + 1)
    yield ""


def _exceptions(data: Mapping[str, Any]) -> Iterator[str]:
    rows = [(level["title"], *row) for level in data["levels"] for row in level["not held"]]
    yield "## Not held"
    if not rows:
        yield "Nothing."
    else:
        yield "| level | attack | | why |"
        yield "| --- | --- | --- | --- |"
        for title, name, outcome, detail in rows:
            yield f"| {title} | {name} | {outcome} | {_cell(detail)} |"
    yield ""


def _cell(text: str) -> str:
    """Of a table, whatever a box wrote."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _attacks() -> Iterator[str]:
    yield "## The attacks"
    yield "| group | attacks |"
    yield "| --- | --- |"
    for group in dict.fromkeys(attack.group for attack in ATTACKS):
        names = [attack.name for attack in ATTACKS if attack.group == group]
        yield f"| {group} | {'; '.join(names)} |"
    yield ""
    yield "## Your own provider"
    yield "Anything that keeps the protocols of `sandboxes/base.py` can be tried:"
    yield ""
    yield "```python"
    yield "from sandboxes.conformance import run_conformance"
    yield ""
    yield "for result in run_conformance(provider):"
    yield "    if not result.ok:"
    yield "        print(result.outcome, result.group, result.name, result.detail)"
    yield "```"
    yield ""
    yield (
        "What it is known not to hold, it says in an attribute `known_gaps`: the reason, by the "
        "attack's name. Such an attack is reported as a known gap, never left out; a box that "
        "fails is broken all the same, and a gap that is none here is said to hold."
    )


def update(titles: Sequence[str]) -> None:
    """Runs levels, all if none is named, and writes data and page."""
    levels = [level for level in LEVELS if not titles or level.title in titles]
    if unknown := set(titles) - {level.title for level in levels}:
        raise SystemExit(f"no level {unknown}; there are: {'; '.join(x.title for x in LEVELS)}")
    data = json.loads(DATA.read_text()) if titles and DATA.exists() else {}
    known = {level["title"]: level for level in data.get("levels", ())}
    absent = dict(data.get("not here", {}))
    for level in levels:
        print(level.title, flush=True)
        known.pop(level.title, None)
        absent.pop(level.title, None)
        try:
            known[level.title] = attack(level)
        except SandboxUnavailable as error:
            absent[level.title] = str(error)
        order = [known[x.title] for x in LEVELS if x.title in known]
        data = {"machine": machine(), "levels": order, "not here": absent}
        DATA.write_text(json.dumps(data, indent=1) + "\n")
    PAGE.write_text(page(data))


def main() -> None:
    """See the top."""
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text() != page(json.loads(DATA.read_text())):
            raise SystemExit(f"{PAGE.name} is not what {DATA.name} says")
    elif sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(json.loads(DATA.read_text())))
    else:
        update(sys.argv[1:])


if __name__ == "__main__":
    main()
