"""The verifier service of a run: the user's, or one that lives as long as the run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from grpo_client.config import RewardConfig
from grpo_client.errors import RewardError
from grpo_client.reward import VerifierReward
from grpo_client.types import Prompt
from verifier_server.client import LocalServer, VerifierClient


@contextmanager
def open_reward(
    config: RewardConfig, prompts: Sequence[Prompt], *, local: bool
) -> Iterator[VerifierReward]:
    """The reward source, once the service is known to have the checkers that the data names.

    Args:
        config: address and key.
        prompts: all prompts that will be scored.
        local: start a service on a free loopback port, and stop it afterwards.

    Raises:
        ClientError: the service can't be reached or started.
        RewardError: it lacks a checker.
    """
    with ExitStack() as stack:
        url = stack.enter_context(LocalServer()).url if local else config.url
        key = None if local else os.environ.get(config.api_key_env)
        client = stack.enter_context(VerifierClient(url, api_key=key))
        _require_checkers(client, {name for p in prompts for name in _named(p.checker, p.params)})
        reward = VerifierReward(client, config)
        stack.callback(reward.close)
        yield reward


def _named(checker: str, params: Mapping[str, Any]) -> Iterator[str]:
    """The checker and those that it will ask in turn (`composite`, `control`)."""
    yield checker
    for nested in [*params.get("parts", []), *([params["of"]] if "of" in params else [])]:
        yield from _named(nested["checker"], nested.get("params", {}))


def _require_checkers(client: VerifierClient, names: set[str]) -> None:
    offered = {info.name: info for info in client.checkers()}
    for name in sorted(names):
        if name not in offered:
            raise RewardError(
                f"the data asks for checker {name!r}, which {client.url} does not have",
                remedy=f"it has: {', '.join(sorted(offered))}",
            )
        if offered[name].status != "ok":
            raise RewardError(
                f"checker {name!r} is {offered[name].status} at {client.url}",
                remedy=offered[name].needs or "see `verifier-server checkers list` there",
            )
