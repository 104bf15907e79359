"""State that asserts believe to share with the program, though it runs in another process.

The program's globals may have changed when they are read again; what the asserts seed, or set
in the environment, is set for the program as well.
"""

from __future__ import annotations

import os
import random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .judge import Judge


class Names(dict):  # type: ignore[type-arg]
    """The global names of the asserts.

    Those of the program that are data are asked for again when code of the program has run
    since, and not before: a value that changes by itself would be on both sides of a bound.
    """

    def __init__(self, judge: Judge, names: dict[str, Any], data: dict[str, Any]) -> None:
        super().__init__({**names, **data})
        self._judge = judge
        self._asked = dict.fromkeys(data, judge.operations)

    def __getitem__(self, name: str) -> Any:
        if self._asked.get(name, self._judge.operations) != self._judge.operations:
            super().__setitem__(name, self._judge.name(name))
            self._asked[name] = self._judge.operations
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._asked.pop(name, None)
        super().__setitem__(name, value)


def share(judge: Judge) -> None:
    """Has what this process sets from now on set for the program too."""
    own_seed, own_put, own_unset = random.seed, os.putenv, os.unsetenv

    def seed(*args: Any, **keywords: Any) -> None:
        own_seed(*args, **keywords)
        judge.tell("seed", *args, *keywords.values())

    def putenv(name: Any, value: Any) -> None:
        own_put(name, value)
        judge.tell("setenv", os.fsdecode(name), os.fsdecode(value))

    def unsetenv(name: Any) -> None:
        own_unset(name)
        judge.tell("setenv", os.fsdecode(name))

    random.seed = seed
    os.putenv, os.unsetenv = putenv, unsetenv


def set_state(operation: str, args: list[Any]) -> None:
    """The program's side: sets what the asserts have set."""
    if operation == "seed":
        random.seed(*args)
    elif len(args) == 2:
        os.environ[args[0]] = args[1]
    else:
        os.environ.pop(args[0], None)
