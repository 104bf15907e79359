"""Settings as the command line sees them: the environment's, with flags on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verifier_server.errors import ConfigError

if TYPE_CHECKING:
    from verifier_server.settings import Settings


def load_settings(*, unsafe_no_sandbox: bool = False, **flags: Any) -> Settings:
    """The settings in force; a flag that is None was not given.

    Raises:
        ConfigError: a variable or flag has a value that can't be used.
    """
    from pydantic import ValidationError

    from verifier_server.settings import Settings

    given = {name: value for name, value in flags.items() if value is not None}
    if unsafe_no_sandbox:
        given["sandbox"] = "unsafe"
    try:
        return Settings(**given)
    except ValidationError as error:
        problems = [
            _wrong_value(str(detail["loc"][0]), detail["msg"], detail["input"])
            if detail["loc"]
            else detail["msg"].removeprefix("Value error, ")
            for detail in error.errors(include_url=False)
        ]
        raise ConfigError("; ".join(problems), remedy="see docs/settings.md") from error


def _wrong_value(field: str, message: str, value: object) -> str:
    given = "" if field == "api_keys" else f", not {value!r}"
    return f"{variable(field)}: {message}{given}"


def variable(field: str) -> str:
    """The environment variable of a setting."""
    return f"VERIFIER_{field.upper()}"
