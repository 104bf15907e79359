"""The ledger's database: appends, reads, verifies, lets old entries go."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import (
    Connection,
    Engine,
    Select,
    create_engine,
    delete,
    event,
    func,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from verifier_server.errors import ConfigError, VerifierError
from verifier_server.ledger.entry import chain_hash, chained
from verifier_server.ledger.tables import chain, verdicts

_PAGE = 1000
_BUSY_MS = 10_000
_WRITES = {"writes": True}
# Any number; services that start together take turns by it.
_MIGRATION_LOCK = 0x416E7377


class LedgerFailed(VerifierError):
    """The database refuses; it may do better later."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of following the chain.

    Attributes:
        entries: how many there are.
        problems: where it is broken, and how; none if it holds.
        last_number, last_hash: its end. Noted elsewhere, it shows whether a later record
            goes on from this one.
    """

    entries: int
    problems: tuple[str, ...]
    last_number: int
    last_hash: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries; None or empty does not choose. Times are ISO 8601, UTC."""

    checker: str | None = None
    outcome: str | None = None
    client: str | None = None
    request_hash: str | None = None
    since: str | None = None
    until: str | None = None


class LedgerStore:
    """A ledger at a database URL, made or brought up to date when opened.

    Args:
        url: as SQLAlchemy writes them.
        must_exist: do not make the file of a SQLite ledger.

    Raises:
        ConfigError: the URL is none, its driver is missing, or the database can't be used.
    """

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        self._engine = _open(url, must_exist)
        self._writing = self._engine.execution_options(**_WRITES)

    def append(self, rows: Sequence[dict[str, Any]]) -> None:
        """Adds entries to the chain, all or none; those that are there already are left out.

        Raises:
            LedgerFailed: none was added.
        """
        try:
            with self._writing.begin() as connection:
                self._append(connection, rows)
        except SQLAlchemyError as error:
            raise LedgerFailed(_cause(error)) from error

    def _append(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        ends = connection.execute(select(chain).with_for_update()).mappings().one()
        ids = [row["id"] for row in rows]
        known = set(connection.scalars(select(verdicts.c.id).where(verdicts.c.id.in_(ids))).all())
        number, last = ends["last_number"], ends["last_hash"]
        added = []
        for row in rows:
            if row["id"] not in known:
                number += 1
                added.append(chained(row, number, last))
                last = added[-1]["hash"]
        if added:
            connection.execute(verdicts.insert(), added)
            connection.execute(update(chain).values(last_number=number, last_hash=last))

    def hash_of(self, number: int) -> str | None:
        """The hash of the entry with that number; None if it is not there. Raises LedgerFailed."""
        query = select(verdicts.c.hash).where(verdicts.c.number == number)
        try:
            with self._engine.connect() as connection:
                return connection.scalar(query)
        except SQLAlchemyError as error:
            raise LedgerFailed(_cause(error)) from error

    def read(self, chosen: Filter | None = None) -> Iterator[dict[str, Any]]:
        """Entries, oldest first. Raises LedgerFailed."""
        query = _chosen(chosen or Filter())
        after = 0
        try:
            while True:
                with self._engine.connect() as connection:
                    page = connection.execute(
                        query.where(verdicts.c.number > after).limit(_PAGE)
                    ).mappings()
                    rows = [dict(row) for row in page]
                yield from rows
                if len(rows) < _PAGE:
                    return
                after = rows[-1]["number"]
        except SQLAlchemyError as error:
            raise LedgerFailed(_cause(error)) from error

    def verify(self) -> Verified:
        """Follows the chain from its first entry to its last. Raises LedgerFailed."""
        try:
            with self._engine.connect() as connection:
                ends = connection.execute(select(chain)).mappings().one()
        except SQLAlchemyError as error:
            raise LedgerFailed(_cause(error)) from error
        number, last = ends["before_number"], ends["before_hash"]
        entries, problems = 0, []
        for row in self.read():
            if row["number"] > ends["last_number"]:
                break  # written since
            entries += 1
            if row["number"] != number + 1:
                problems.append(f"entries {number + 1} to {row['number'] - 1} are missing")
            elif row["hash"] != chain_hash(row, row["number"], last):
                problems.append(f"entry {row['number']} is not what was recorded")
            number, last = row["number"], row["hash"]
        if number != ends["last_number"]:
            problems.append(f"entries {number + 1} to {ends['last_number']} are missing")
        elif last != ends["last_hash"]:
            problems.append(f"entry {number} is not the one that was recorded last")
        return Verified(entries, tuple(problems), ends["last_number"], ends["last_hash"])

    def prune(self, before: str) -> int:
        """Lets entries go that are older; the rest stays a chain that can be verified.

        Returns:
            how many went.

        Raises:
            LedgerFailed: none went.
        """
        try:
            with self._writing.begin() as connection:
                connection.execute(select(chain).with_for_update())
                kept = select(verdicts.c.number).where(verdicts.c.at >= before)
                first_kept = connection.scalar(kept.order_by(verdicts.c.number).limit(1))
                old = select(verdicts.c.number, verdicts.c.hash).order_by(verdicts.c.number.desc())
                if first_kept is not None:
                    old = old.where(verdicts.c.number < first_kept)
                newest = connection.execute(old.limit(1)).one_or_none()
                if newest is None:
                    return 0
                gone = connection.execute(
                    delete(verdicts).where(verdicts.c.number <= newest.number)
                )
                connection.execute(
                    update(chain).values(before_number=newest.number, before_hash=newest.hash)
                )
                return gone.rowcount
        except SQLAlchemyError as error:
            raise LedgerFailed(_cause(error)) from error

    def close(self) -> None:
        """Hangs up."""
        self._engine.dispose()


def _open(url: str, must_exist: bool) -> Engine:
    try:
        engine = create_engine(url)
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(
            f"VERIFIER_LEDGER: {error}",
            remedy="sqlite:////path/to/file or postgresql+psycopg://user@host/database",
        ) from error
    except ImportError as error:
        raise ConfigError(
            f"VERIFIER_LEDGER: {error}", remedy="pip install 'answerkey[postgres]'"
        ) from error
    if engine.dialect.name == "sqlite":
        _prepare_sqlite(engine, engine.url.database or "", must_exist)
    config = Config()
    config.set_main_option("script_location", "verifier_server.ledger:migrations")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    try:
        with engine.execution_options(**_WRITES).begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except SQLAlchemyError as error:
        engine.dispose()
        raise ConfigError(
            f"the ledger can't be used: {_cause(error)}",
            remedy="mend VERIFIER_LEDGER, or set it to `off`",
        ) from error
    return engine


def _prepare_sqlite(engine: Engine, path: str, must_exist: bool) -> None:
    """Readers that don't stop the writer, and transactions that take turns from their start.

    Raises:
        ConfigError: the file is not there, or can't be made.
    """
    if must_exist and not Path(path).is_file():
        raise ConfigError(f"there is no ledger {path}", remedy="name one with --ledger URL")
    if path and path != ":memory:":
        try:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(path).touch(mode=0o600)  # there are prompts in it
        except OSError as error:
            raise ConfigError(
                f"the ledger {path} can't be written: {error.strerror}",
                remedy="mend VERIFIER_LEDGER, or set it to `off`",
            ) from error

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver begins no transaction of its own
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _chosen(chosen: Filter) -> Select[Any]:
    query = select(verdicts).order_by(verdicts.c.number)
    for name in ("checker", "outcome", "client", "request_hash"):
        if value := getattr(chosen, name):
            query = query.where(verdicts.c[name] == value)
    if chosen.since:
        query = query.where(verdicts.c.at >= chosen.since)
    if chosen.until:
        query = query.where(verdicts.c.at < chosen.until)
    return query


def _cause(error: SQLAlchemyError) -> str:
    """What the database said, without the statement and its values."""
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]


__all__ = ["Filter", "LedgerFailed", "LedgerStore", "Verified"]
