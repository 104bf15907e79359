"""Installed Python distributions that a box shall see, file by file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution

from sandboxes.base import SandboxUnavailable


@cache
def package_entries(names: Sequence[str]) -> dict[str, str]:
    """The modules, packages and metadata of distributions installed on this host.

    Args:
        names: of the distributions, as a tuple.

    Returns:
        Host paths by their names in the directory where the distributions are installed.

    Raises:
        SandboxUnavailable: one is not installed, or not as plain files.
    """
    entries: dict[str, str] = {}
    for name in names:
        try:
            found = distribution(name)
        except PackageNotFoundError as error:
            raise SandboxUnavailable(
                f"the box needs {name}, which is not installed", remedy=f"pip install {name}"
            ) from error
        tops = {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}
        paths = {top: os.path.realpath(str(found.locate_file(top))) for top in tops}
        if not tops or not all(map(os.path.exists, paths.values())):
            raise SandboxUnavailable(
                f"the box needs {name}, whose files can't be found", remedy=f"reinstall {name}"
            )
        entries.update(paths)
    return entries


__all__ = ["package_entries"]
