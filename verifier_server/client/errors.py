"""What the SDK raises. A completion is never the cause: it gets a verdict.

ClientError                   the service refused the request (4xx); has `status`
|- VerifierUnreachable        nothing answers at that address
|- ProtocolError              what answers there does not speak this protocol
|- LocalServerFailed          a server started for this process did not come up
"""

from __future__ import annotations

from verifier_server.errors import VerifierError


class ClientError(VerifierError):
    """A request that no repetition will make right. `status` is the HTTP status, if any."""

    def __init__(self, message: str, *, remedy: str = "", status: int | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.status = status


class VerifierUnreachable(ClientError):
    """No connection to the service could be made, however often tried."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"no verifier answers at {url}: {reason}",
            remedy="start one with `verifier-server serve`, or pass --local",
        )


class ProtocolError(ClientError):
    """An answer that breaks the wire contract. While scoring it counts as a service fault."""


class LocalServerFailed(ClientError):
    """The server process ended, or stayed silent, before it was ready."""
