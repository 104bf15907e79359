r"""The SDK: scores completions on a verifier service. Imports no server code.

Example:
    from verifier_server.client import VerifierClient

    with VerifierClient("http://127.0.0.1:8000") as client:
        verdict = client.score_one("math", r"It is \boxed{4}", {"answer": "4"})
        print(verdict.score, verdict.explanation)
"""

from verifier_server.client.aio import AsyncVerifierClient
from verifier_server.client.connection import DEFAULT_URL
from verifier_server.client.errors import (
    ClientError,
    LocalServerFailed,
    ProtocolError,
    VerifierUnreachable,
)
from verifier_server.client.local import LocalServer
from verifier_server.client.sync import VerifierClient
from verifier_server.schemas import CheckerInfo, Item, Message
from verifier_server.verdict import Case, Fault, Outcome, Usage, Verdict

__all__ = [
    "DEFAULT_URL",
    "AsyncVerifierClient",
    "Case",
    "CheckerInfo",
    "ClientError",
    "Fault",
    "Item",
    "LocalServer",
    "LocalServerFailed",
    "Message",
    "Outcome",
    "ProtocolError",
    "Usage",
    "Verdict",
    "VerifierClient",
    "VerifierUnreachable",
]
