"""How the ledger's tables come to be, by Alembic; applied when a ledger is opened."""
