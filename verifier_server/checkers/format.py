"""The `format` checker: reasoning and answer stand in their tags."""

from __future__ import annotations

from typing import Literal

from verifier_server.checkers.base import CheckContext, Checker, Example, Params
from verifier_server.checkers.completion import after_think
from verifier_server.checkers.texts import is_blank
from verifier_server.verdict import Judgement, Outcome

_THINK = ("<think>", "</think>")
_ANSWER = ("<answer>", "</answer>")
_TEMPLATES = {"think": _THINK, "think_answer": _THINK + _ANSWER}


class FormatParams(Params):
    """The template, and what the chat template wrote in the model's place.

    Attributes:
        template: `think` is `<think>…</think>` and then some text; `think_answer` is
            `<think>…</think><answer>…</answer>` and nothing else but white space.
        prefill: text that stands before the completion in the model's turn; chat templates
            of reasoning models often write `<think>` themselves.
    """

    template: Literal["think", "think_answer"] = "think"
    prefill: str = ""


class FormatChecker(Checker[FormatParams]):
    """Accepts a turn that follows the template: each tag once, in order, nothing before.

    Prefill and completion are judged as one text. What the tags hold is not judged, except
    that an answer may not be blank.
    """

    name = "format"
    version = "1.0.0"
    Params = FormatParams
    examples = (
        Example("<think>2 and 2</think>4", {}, 1.0),
        Example("2 and 2</think>\n4", {"prefill": "<think>\n"}, 1.0, note="prefilled tag"),
        Example(
            "<think>\n2\n</think>\n<answer>\n4\n</answer>\n", {"template": "think_answer"}, 1.0
        ),
        Example("4", {}, 0.0, Outcome.WRONG_ANSWER),
        Example("<think>2 and 2", {}, 0.0, Outcome.NO_ANSWER, note="cut off"),
        Example("<think>2 and 2</think>", {}, 0.0, note="no text after the reasoning"),
        Example("4 <think>2 and 2</think>", {}, 0.0, note="text before the reasoning"),
        Example("<think><think>a</think>b</think>c", {}, 0.0, note="nested"),
        Example(
            "<think>a</think><answer>4</answer><answer>5</answer>",
            {"template": "think_answer"},
            0.0,
            note="two answers",
        ),
        Example("<think>a</think><answer>4</answer> or 5", {"template": "think_answer"}, 0.0),
        Example("</think><answer>4</answer><think>", {"template": "think_answer"}, 0.0),
    )

    def check(self, completion: str, params: FormatParams, ctx: CheckContext) -> Judgement:
        """Matches the text against the template; see the class."""
        text = params.prefill + completion
        if after_think(text) is None:
            return Judgement.reject(Outcome.NO_ANSWER, "the reasoning was never closed")
        fault = _fault(text, _TEMPLATES[params.template])
        if fault:
            return Judgement.reject(Outcome.WRONG_ANSWER, fault)
        return Judgement.accept(f"follows the template {params.template!r}")


def _fault(text: str, tags: tuple[str, ...]) -> str:
    """Which rule of the template the text breaks; empty if none."""
    if not text.lstrip().startswith(tags[0]):
        hint = "; if the chat template writes it, pass it as `prefill`" if tags[1] in text else ""
        return f"the text does not start with {tags[0]}{hint}"
    for tag in tags:
        count = text.count(tag)
        if count != 1:
            return f"{tag} occurs {count} times, not once"
    places = [text.index(tag) for tag in tags]
    if places != sorted(places):
        return f"the tags are out of order; the template is {''.join(tags)}"
    rest = text[places[1] + len(tags[1]) :]
    if is_blank(rest):
        return f"there is no text after {tags[1]}"
    return _answer_fault(rest) if tags[2:] else ""


def _answer_fault(rest: str) -> str:
    """What is wrong with the part after the reasoning, which holds one pair of answer tags."""
    before, _, tail = rest.partition(_ANSWER[0])
    answer, _, after = tail.partition(_ANSWER[1])
    if before.strip():
        return f"there is text between {_THINK[1]} and {_ANSWER[0]}"
    if after.strip():
        return f"there is text after {_ANSWER[1]}"
    return f"{_ANSWER[0]} holds nothing" if is_blank(answer) else ""
