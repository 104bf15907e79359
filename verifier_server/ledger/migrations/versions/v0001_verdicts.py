"""Verdicts, and the ends of their chain."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_NO_HASH = "0" * 64


def upgrade() -> None:
    """Makes both tables."""
    op.create_table(
        "verdicts",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(32), nullable=False, unique=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("client", sa.String(200), nullable=False),
        sa.Column("request_hash", sa.String(32), nullable=False),
        sa.Column("completion_sha256", sa.String(64), nullable=False),
        sa.Column("checker", sa.String(200), nullable=False),
        sa.Column("version", sa.String(100)),
        sa.Column("outcome", sa.String(40), nullable=False),
        sa.Column("score", sa.Float(53)),
        sa.Column("item", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_index("verdicts_at", "verdicts", ["at"])
    op.create_index("verdicts_request_hash", "verdicts", ["request_hash"])
    chain = op.create_table(
        "chain",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("before_number", _NUMBER, nullable=False),
        sa.Column("before_hash", sa.String(64), nullable=False),
        sa.Column("last_number", _NUMBER, nullable=False),
        sa.Column("last_hash", sa.String(64), nullable=False),
    )
    start = {"before_number": 0, "before_hash": _NO_HASH, "last_number": 0, "last_hash": _NO_HASH}
    op.bulk_insert(chain, [{"id": 1, **start}])
