"""The tables of release 1.0.0, the oldest that are upgraded. New databases are created from the models (`shared.db.migrate`)."""

revision = "0011"
down_revision = None
branch_labels = None
depends_on = None
