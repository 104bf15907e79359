"""What a warm interpreter does well to have imported, by use; see `SandboxSpec.preload`."""

from __future__ import annotations

from functools import cache

# It imports them when it parses its command line.
_BESIDE_PYTEST = ("faulthandler", "pdb")


@cache
def pytest_modules() -> tuple[str, ...]:
    """For `python3 -m pytest`: pytest and the plugins that it loads whatever it is asked.

    Raises:
        ImportError: pytest is not installed.
    """
    from _pytest.config import default_plugins

    return ("pytest", *(f"_pytest.{name}" for name in default_plugins), *_BESIDE_PYTEST)


__all__ = ["pytest_modules"]
