"""The wire's request models: one source for HTTP, the SDK and the CLI.

Covers what a request may say; what a verdict says is in `verdict`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from verifier_server.verdict import Verdict

_SORTED = json.JSONEncoder(sort_keys=True)


class TextPart(BaseModel):
    """A text part of a chat message's content. Other part types carry no text to judge."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str = ""


class Message(BaseModel):
    """A chat message as the OpenAI-style APIs write it; unknown fields are ignored."""

    role: str
    content: str | list[TextPart] | None = None

    @property
    def text(self) -> str:
        """The content as one string."""
        if isinstance(self.content, str):
            return self.content
        return "".join(p.text for p in self.content or [] if p.type in ("text", "output_text"))


Text = str | list[Message]


class Item(BaseModel):
    """One completion to judge, and by what."""

    model_config = ConfigDict(extra="forbid")

    checker: str = Field(max_length=200, description="a name from GET /checkers")
    completion: Text = Field(
        description="a string, or chat messages of which the last assistant's is judged"
    )
    params: dict[str, Any] = Field(
        default_factory=dict, description="reference and options, by the checker's own schema"
    )
    id: str | None = Field(None, description="echoed in the verdict; need not be unique")
    prompt: Text | None = None
    deadline_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="the caller's patience in seconds, time in the queue included"
    )
    no_cache: bool = Field(
        False, description="judge it for this item alone, whatever was judged before"
    )

    @property
    def completion_text(self) -> str:
        """What is judged: the string, or the last assistant message ("" if there is none)."""
        return last_assistant_text(self.completion)

    @property
    def prompt_text(self) -> str | None:
        """The prompt as one string; messages are joined by blank lines."""
        if self.prompt is None or isinstance(self.prompt, str):
            return self.prompt
        return "\n\n".join(message.text for message in self.prompt)


class Batch(BaseModel):
    """Several items; each is judged, and fails, alone."""

    model_config = ConfigDict(extra="forbid")

    items: list[Item]


class BatchVerdicts(BaseModel):
    """The answer to a `Batch`, in its order."""

    verdicts: list[Verdict]


class CheckerInfo(BaseModel):
    """What `GET /checkers/{name}` tells about one checker."""

    name: str
    version: str | None = None
    summary: str = ""
    resource: str | None = Field(None, description="the queue that it is judged in")
    status: str = Field("ok", description="ok, broken or unavailable")
    needs: str = Field("", description="why it is broken or unavailable, and the remedy")
    params_schema: dict[str, Any] = {}
    examples: list[dict[str, Any]] = []


class Problem(BaseModel):
    """RFC 9457 problem details: the one shape of every error answer."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] = []


def last_assistant_text(text: Text) -> str:
    """The string itself, or the last assistant message of a chat."""
    if isinstance(text, str):
        return text
    return next((m.text for m in reversed(text) if m.role == "assistant"), "")


def request_hash(
    checker: str, version: str | None, completion: str, params: dict[str, Any], prompt: str | None
) -> str:
    """A stable id of all that a verdict depends on: 32 hex digits of SHA-256."""
    head = _SORTED.encode([checker, version, params, prompt])
    digest = hashlib.sha256(head.encode())
    digest.update(completion.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]
