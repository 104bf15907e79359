"""How the service is configured: by environment, prefix `VERIFIER_`.

Every field carries its unit in its name and its reason in its description; the reference
table in docs/settings.md is made from here.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import Annotated, Literal, Self
from urllib.parse import urlencode

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

MIB = 1 << 20
_ENGINE_SANDBOXES = ("container", "nested")
CORES = len(os.sched_getaffinity(0))


class Settings(BaseSettings):
    """All settings of one service process."""

    model_config = SettingsConfigDict(env_prefix="VERIFIER_", frozen=True)

    host: str = Field("127.0.0.1", description="address to bind; not loopback needs API keys")
    port: int = Field(8000, ge=0, le=65535, description="TCP port; 0 lets the system choose")
    api_keys: Annotated[list[SecretStr], NoDecode] = Field(
        default_factory=list,
        description="comma-separated keys, one of which each request must bear",
    )
    insecure: bool = Field(
        False, description="bind a non-loopback address without keys: anyone may use the service"
    )
    sandbox: Literal["auto", "container", "nested", "oci", "namespaces", "bubblewrap", "unsafe"] = (
        Field(
            "auto",
            description="sandbox provider: `auto` takes the strongest that works here with no "
            "engine; `container`: a Docker container for each program; `nested`: namespaces for "
            "each in long-lived ones; `oci`: a container for each, with no engine; `namespaces`, "
            "`bubblewrap`: namespaces on the host itself; `unsafe` runs hostile code on the bare "
            "host",
        )
    )
    sandbox_runtime: Literal["runc", "crun", "runsc"] = Field(
        "runc",
        description="OCI runtime of `container` and `nested`; `runsc` (gVisor) for `container`",
    )
    sandbox_image: str = Field(
        "answerkey-sandbox:{runtime}",
        min_length=1,
        description="image of `container` and `nested`; `{runtime}` becomes `python`, `c`…",
    )
    cpu_workers: int = Field(
        max(2, CORES), ge=1, description="processes for pure checkers; at least 2 keeps one "
        "free while another meets a hostile item"
    )  # fmt: skip
    sandbox_workers: int = Field(
        2 * max(2, CORES),
        ge=1,
        description="items that may hold a sandbox at once; more than cores, so that one which "
        "runs into its time limit does not halve the rate of the others",
    )
    lean_workers: int = Field(
        max(2, CORES), ge=1, description="Lean processes at once; with Mathlib each needs gigabytes"
    )
    queue_items: int = Field(
        8192, ge=1, description="items waiting in one queue before new requests get 429"
    )
    max_body_bytes: int = Field(64 * MIB, ge=1024, description="largest request body")
    max_items: int = Field(10_000, ge=1, description="most items in one request")
    worker_memory_bytes: int = Field(
        2048 * MIB, ge=256 * MIB, description="address space of one pure-checker process"
    )
    worker_items: int = Field(
        20_000, ge=1, description="items after which a worker is replaced, against slow leaks"
    )
    cache: str = Field(
        "memory",
        pattern=r"^(off|memory|(redis|rediss|unix)://.+)$",
        description="where judgements are kept for the next time that the same is asked: "
        "`memory`, `off`, or the URL of a Redis that several services share and that only they "
        "can write to",
    )
    cache_ttl_s: float = Field(3600.0, gt=0, description="how long a judgement is kept")
    cache_bytes: int = Field(
        64 * MIB, ge=MIB, description="size of the cache in memory, about; the oldest goes first"
    )
    ledger: str = Field(
        "auto",
        pattern=r"^(off|auto|[a-z]+(\+[a-z]+)?:.+)$",
        description="database in which every verdict is recorded: `auto` is a SQLite file below "
        "the user's state directory, if it can be written; `off`; or a URL such as "
        "`sqlite:////var/lib/answerkey/ledger.sqlite`, `postgresql+psycopg://user@host/database`",
    )
    ledger_texts: Literal["hash", "keep"] = Field(
        "hash",
        description="whether completions and prompts are recorded, or a hash of the completion "
        "alone; only what is kept can be replayed",
    )
    ledger_days: float = Field(30.0, ge=0, description="how long entries are kept; 0 for ever")
    drain_s: float = Field(
        20.0,
        ge=0,
        description="how long a stopping server judges on; the rest is answered as cancelled",
    )
    log_level: str = Field(
        "INFO",
        pattern="(?i)^(debug|info|warning|error|critical)$",
        description="how much is logged; completions never are",
    )

    @field_validator("api_keys", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return [key.strip() for key in value.split(",") if key.strip()]
        return value

    @property
    def ledger_url(self) -> str:
        """The ledger's database."""
        if self.ledger != "auto":
            return self.ledger
        state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        return f"sqlite:///{state}/answerkey/ledger.sqlite"

    @property
    def sandbox_address(self) -> str:
        """The provider and its options, for `sandboxes.registry.open_provider`."""
        if self.sandbox not in _ENGINE_SANDBOXES:
            return self.sandbox
        options = {"runtime": self.sandbox_runtime, "image": self.sandbox_image}
        return f"{self.sandbox}?{urlencode(options)}"

    @model_validator(mode="after")
    def _guard_exposure(self) -> Self:
        if not (_is_loopback(self.host) or self.api_keys or self.insecure):
            raise ValueError(
                f"refusing to bind {self.host} without API keys: set VERIFIER_API_KEYS, "
                "bind 127.0.0.1, or pass --insecure"
            )
        return self


class LeanSettings(BaseSettings):
    """Where Lean and its tools are, for the checker `lean`."""

    model_config = SettingsConfigDict(env_prefix="VERIFIER_LEAN_", frozen=True)

    command: str | None = Field(
        None, description="a `lean` executable; else the project's, the PATH's or elan's"
    )
    path: str | None = Field(
        None, description="colon-separated directories of compiled modules (`.olean`)"
    )
    project: str | None = Field(
        None, description="a built Lake project, whose `lake env` gives tool chain and libraries"
    )
    exporter: str | None = Field(
        None, description="`lean4export`, for tier `sound`; else the PATH's"
    )
    nanoda: str | None = Field(
        None, description="`nanoda_bin`, an independent kernel for tier `sound`; else the PATH's"
    )
    comparator: str | None = Field(
        None, description="`comparator`, which `doctor` looks for and no tier uses yet"
    )
    repl: str | None = Field(
        None,
        description="`repl` of leanprover-community, which `doctor` looks for and no tier uses yet",
    )
    oldest_sound: str = Field(
        "4.34",
        pattern=r"^\d+(\.\d+)*$",
        description="tier `sound` is refused below this version: kernels before have known holes",
    )
    export_bytes: int = Field(
        512 << 20,
        ge=1 << 20,
        description="the largest export that tier `sound` reads; so much memory it takes, too",
    )
    cache: str | None = Field(
        None, description="directory of compiled statements; else below the user's cache directory"
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
