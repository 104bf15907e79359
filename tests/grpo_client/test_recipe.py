from __future__ import annotations

import re

from grpo_client.recipes import arithmetic, r1_zero
from tests.grpo_client.fakes import BoxedSumVerifier
from verifier_server.client import Item


def test_no_problem_is_both_trained_on_and_held_out() -> None:
    train = {row["prompt"] for row in arithmetic.train_rows()}
    heldout = {row["prompt"] for row in arithmetic.heldout_rows()}
    assert len(heldout) == 512
    assert len(train) == 90 * 90 - 512
    assert not train & heldout
    assert {prompt for prompt, _ in arithmetic.demonstrations()} == train


def test_every_demonstration_is_true_and_earns_the_full_reward() -> None:
    rows = {row["prompt"]: row for row in arithmetic.train_rows()}
    for prompt, worked in arithmetic.demonstrations():
        sums = re.findall(r"(\d)\+(\d)\+(\d)=(\d+)", worked)
        assert len(sums) == 2
        assert all(int(a) + int(b) + int(c) == int(s) for a, b, c, s in sums)
        item = Item(completion=worked, checker="composite", params=rows[prompt]["params"])
        assert BoxedSumVerifier().score([item])[0].score == 1


def test_r1_zero_rewards_answer_and_form_alike() -> None:
    rows = r1_zero.train_rows()
    assert [row["prompt"] for row in rows] == [row["prompt"] for row in arithmetic.train_rows()]
    for part in rows[0]["params"]["parts"]:
        assert part["weight"] == 0.5


def test_the_tokenizer_returns_what_it_was_given() -> None:
    tokenizer = arithmetic.tokenizer()
    for prompt, worked in arithmetic.demonstrations()[:50]:
        ids = tokenizer(prompt)["input_ids"]
        assert ids[0] == tokenizer.bos_token_id
        assert tokenizer.decode(ids[1:]) == prompt
        target = tokenizer(worked, add_special_tokens=False)["input_ids"]
        assert tokenizer.decode(target) == worked
        assert len(target) < 40 - 1


def test_tags_are_single_tokens() -> None:
    tokenizer = arithmetic.tokenizer()
    ids = tokenizer("<think></think>\\boxed{", add_special_tokens=False)["input_ids"]
    assert len(ids) == 3
