"""The official-compatible verdict beside the trusted one. Of earlier records it is unknown."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("records", sa.Column("official", sa.String(32), nullable=False, server_default=""))
    op.add_column("records", sa.Column("official_reason", sa.Text, nullable=False, server_default=""))
