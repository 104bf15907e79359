"""Alembic's entry: migrates over the connection that `store` hands it."""

from alembic import context

from verifier_server.ledger.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
