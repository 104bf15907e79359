"""What every sandbox provider must withstand, as data, and the runner.

    from sandboxes.conformance import run_conformance

    for result in run_conformance(provider):
        print(result.outcome, result.group, result.name, result.detail)

Each attack is a program that the provider runs in a box under small limits; what must come
of it (why it ended, its status, what it wrote, what may be read of what it left) is part of
the attack. Some are honest programs, which must work. `docs/conformance.md` shows what each
level of ours holds; `python -m sandboxes.conformance NAME` tries one on this host.
"""

from __future__ import annotations

from sandboxes.conformance.attack import Attack
from sandboxes.conformance.runner import DeclaresGaps, Outcome, Result, run_conformance
from sandboxes.conformance.suite import ATTACKS

__all__ = ["ATTACKS", "Attack", "DeclaresGaps", "Outcome", "Result", "run_conformance"]
