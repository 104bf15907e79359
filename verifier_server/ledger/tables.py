"""The ledger's tables, as `migrations` makes them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

# SQLite numbers rows itself only where the column is called INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

verdicts = Table(
    "verdicts",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=False),
    Column("id", String(32), nullable=False, unique=True),
    Column("at", String(32), nullable=False),
    Column("client", String(200), nullable=False),
    Column("request_hash", String(32), nullable=False),
    Column("completion_sha256", String(64), nullable=False),
    Column("checker", String(200), nullable=False),
    Column("version", String(100)),
    Column("outcome", String(40), nullable=False),
    Column("score", Float(53)),
    Column("item", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Index("verdicts_at", "at"),
    Index("verdicts_request_hash", "request_hash"),
)

# One row: the chain's two ends. Its lock makes writers take turns; that it knows the last
# entry shows when entries are missing behind it, and that it knows what stood before the
# first one lets old entries go.
chain = Table(
    "chain",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("before_number", _Number, nullable=False),
    Column("before_hash", String(64), nullable=False),
    Column("last_number", _Number, nullable=False),
    Column("last_hash", String(64), nullable=False),
)

__all__ = ["chain", "metadata", "verdicts"]
