"""Answer Key's verifier service: one scoring API over hardened, pluggable checkers."""

from __future__ import annotations

__version__ = "0.1.0"
