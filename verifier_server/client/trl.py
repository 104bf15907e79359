"""A reward function for TRL's GRPOTrainer and RLOOTrainer. TRL itself is not imported.

Example:
    trainer = GRPOTrainer(
        reward_funcs=reward_func(
            "http://127.0.0.1:8000", checker="math", params_from={"answer": "solution"}
        ),
        ...,
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verifier_server.client.errors import ClientError
from verifier_server.client.sync import VerifierClient

ParamsFrom = Mapping[str, str] | Callable[[Mapping[str, Any]], Mapping[str, Any]]


def reward_func(
    client: VerifierClient | str, *, checker: str, params_from: ParamsFrom
) -> Callable[..., list[float | None]]:
    """A function that TRL calls with completions and the dataset's columns.

    Args:
        client: a client, or the service's URL.
        checker: judges every completion; also the reward's name in TRL's logs.
        params_from: `{param: column}`, or a function from a dataset row to the params.

    Returns:
        A function that returns one score in [0, 1] a completion, None where the task or the
        service was at fault: TRL leaves those out of the group's statistics.

    Raises (when called):
        ClientError: the dataset lacks a column; the service is unreachable or refuses.
    """
    verifier = VerifierClient(client) if isinstance(client, str) else client

    def reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        rows = _rows(columns, len(completions))
        items = [
            {"checker": checker, "completion": completion, "params": _params(row, params_from)}
            for completion, row in zip(completions, rows, strict=True)
        ]
        return [verdict.score for verdict in verifier.score(items)]

    reward.__name__ = checker
    return reward


def _rows(columns: Mapping[str, Any], length: int) -> list[dict[str, Any]]:
    lists = {
        name: values
        for name, values in columns.items()
        if isinstance(values, Sequence) and not isinstance(values, str) and len(values) == length
    }
    return [{name: values[i] for name, values in lists.items()} for i in range(length)]


def _params(row: Mapping[str, Any], params_from: ParamsFrom) -> Mapping[str, Any]:
    if not isinstance(params_from, Mapping):
        return params_from(row)
    missing = [column for column in params_from.values() if column not in row]
    if missing:
        raise ClientError(
            f"the dataset has no column {', '.join(missing)}",
            remedy=f"its columns are {', '.join(sorted(row))}; see params_from",
        )
    return {param: row[column] for param, column in params_from.items()}
