"""Entered by Alembic; the connection is the store's own, inside its transaction."""

from alembic import context

from results.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
