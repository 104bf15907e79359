"""The service refuses to be exposed by accident."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from verifier_server.settings import Settings


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"VERIFIER_{name.upper()}", raising=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
def test_loopback_needs_no_keys(host: str) -> None:
    assert Settings(host=host).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])
def test_another_address_needs_keys_or_insecure(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError, match="VERIFIER_API_KEYS"):
        Settings(host=host)
    assert Settings(host=host, insecure=True).host == host
    monkeypatch.setenv("VERIFIER_API_KEYS", " one, ,two ")
    assert [key.get_secret_value() for key in Settings(host=host).api_keys] == ["one", "two"]


def test_keys_do_not_appear_when_settings_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIFIER_API_KEYS", "hunter2")
    assert "hunter2" not in repr(Settings())


def test_a_sandbox_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValidationError, match="bubblewrap"):
        Settings(sandbox="bubblewarp")


def test_blank_keys_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIFIER_API_KEYS", " , ")
    with pytest.raises(ValidationError):
        Settings(host="0.0.0.0")
