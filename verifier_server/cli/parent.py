"""Ends this process with the one that started it, however that one ends. Linux only."""

from __future__ import annotations

import ctypes
import os
import signal

from verifier_server.errors import ConfigError

_PR_SET_PDEATHSIG = 1  # prctl(2)


def die_with(parent: int) -> None:
    """Asks the kernel for SIGTERM when the parent dies; exits at once if it is gone already.

    Args:
        parent: its process id, named by itself: after its death ours would be another's.

    Raises:
        ConfigError: the kernel refused.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        raise ConfigError(f"can't follow process {parent}: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:
        raise SystemExit(f"the parent process {parent} is gone")
