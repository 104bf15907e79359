"""The generated pages are what the code says now."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT


def test_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, "scripts/generate_docs.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
