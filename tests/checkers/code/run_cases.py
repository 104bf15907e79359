"""Runs the shared code cases through the checker, without a server, and prints what is wrong.

python -m tests.checkers.code.run_cases [MODE or id …]
"""

from __future__ import annotations

import sys
import time
from typing import Any

from sandboxes.registry import open_provider
from tests.checkers.code.judging import judge
from tests.conftest import load_cases
from verifier_server.verdict import Judgement


def complaint(case: dict[str, Any], judgement: Judgement, wall_s: float) -> str | None:
    """What is wrong with the judgement of a case."""
    if judgement.score != case["score"] or judgement.outcome not in case["outcomes"]:
        return f"{judgement.outcome.value} {judgement.score}: {judgement.explanation[:300]}"
    if wall_s > case.get("max_s", wall_s):
        return f"{wall_s:.1f} s instead of {case['max_s']} s"
    return None


def main(wanted: list[str]) -> int:
    """Exit status 1 if a case is judged wrongly."""
    provider = open_provider()
    wrong = 0
    cases = load_cases("code.jsonl")
    for case in cases:
        if wanted and case["id"] not in wanted and case["params"].get("mode") not in wanted:
            continue
        start = time.monotonic()
        judgement = judge(case["completion"], case["params"], provider)
        wall_s = time.monotonic() - start
        found = complaint(case, judgement, wall_s)
        if found:
            wrong += 1
            print(f"{case['id']} {case['kind']} ({case['why']}): {found}", flush=True)
    print(f"{wrong} judged wrongly")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
