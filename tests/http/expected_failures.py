"""Shared cases that are not judged rightly yet, each with the reason.

The marker is strict: a case that comes right must leave this list.
"""

from __future__ import annotations

EXPECTED_FAILURES: dict[str, str] = {}
