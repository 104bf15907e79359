"""Every error this package raises, and the one place that types an unknown exception.

    VerifierError                 has `remedy`, a sentence that says what to do about it
    |- ConfigError                the service is set up wrongly (start-up only)
    |- UnknownChecker             no checker of that name
    |- BrokenChecker              a checker is registered but its import failed
    |- BadReference               the task is at fault: params or gold are unusable
    |- Overloaded                 no room in a queue; try again after `retry_after_s`
    |- ServiceFault               a failure of ours: becomes `checker_error` or `sandbox_error`
       |- CheckerFault
       |- SandboxFault

What a candidate does wrong is never an exception: it is a `Judgement` with score 0.
"""

from __future__ import annotations


class VerifierError(Exception):
    """Base of all. `remedy` completes the message with what to do; it may be empty."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} ({self.remedy})" if self.remedy else message


class ConfigError(VerifierError):
    """The service can't start as configured."""


class UnknownChecker(VerifierError):
    """No checker of that name is registered."""


class BrokenChecker(VerifierError):
    """The checker's module could not be imported; `trace` is the traceback."""

    def __init__(self, message: str, *, trace: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.trace = trace


class BadReference(VerifierError):
    """The task's own fault: params that don't validate, a gold that is no gold."""


class Overloaded(VerifierError):
    """A queue is full. `retry_after_s` is when room is likely."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message, remedy=f"retry after {retry_after_s:.0f} s")
        self.retry_after_s = retry_after_s


class ServiceFault(VerifierError):
    """A failure of ours. Never the candidate's: the verdict's score is null."""


class CheckerFault(ServiceFault):
    """A checker failed in a way it did not foresee."""


class SandboxFault(ServiceFault):
    """The sandbox could not be had or broke by no doing of the candidate."""
