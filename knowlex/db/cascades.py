"""A foreign key that the database itself cascades, checked at once."""

from django.db import migrations


def cascade(
    table: str, column: str, target: str, *, key: str = "id", on_delete: str = "CASCADE"
) -> migrations.RunSQL:
    name = f"{table}_{column}_fk"
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({column}) "
        f"REFERENCES {target} ({key}) ON DELETE {on_delete}",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )
