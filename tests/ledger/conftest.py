"""Ledgers in SQLite, and in a PostgreSQL of the tests' own."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from verifier_server.ledger.store import LedgerStore

_NOBODY = 65534


def _programs() -> Path | None:
    """Where PostgreSQL's programs are; Debian keeps them off the PATH."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return places[-1].parent if places else None


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server on a Unix socket, without a password."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tmp_path_factory.mktemp("postgres"))
    # It refuses to run as root.
    user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    if user:
        for path in (folder, *list(folder.parents)[:2]):
            path.chmod(0o755)
        os.chown(folder, _NOBODY, _NOBODY)
    data = folder / "data"
    options = ["--auth=trust", "--username=tests", "--no-sync", "--no-locale", "--encoding=UTF8"]
    subprocess.run(
        [programs / "initdb", "-D", data, *options],
        check=True,
        capture_output=True,
        cwd=folder,
        **user,  # type: ignore[call-overload]
    )
    command = [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses="]
    command += ["-c", "fsync=off"]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **user,  # type: ignore[call-overload]
    ) as process:
        url = f"postgresql://tests@/postgres?host={folder}"
        while True:
            assert process.poll() is None, "postgres does not start"
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(url).close()
                break
        yield url.replace("postgresql:", "postgresql+psycopg:")
        process.terminate()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.sqlite"
    server: str = request.getfixturevalue("postgres")
    name = f"t{abs(hash(request.node.nodeid))}"
    plain = server.replace("postgresql+psycopg:", "postgresql:")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return server.replace("/postgres?", f"/{name}?")


@pytest.fixture
def store(url: str) -> Iterator[LedgerStore]:
    store = LedgerStore(url)
    yield store
    store.close()
