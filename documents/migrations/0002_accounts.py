"""Who may use a collection, and the account that an API key belongs to."""

from pathlib import Path

from django.conf import settings
from django.db import migrations, models

MEMBER_KEYS = Path(__file__).with_name("sql") / "member_keys.sql"
ROLES = [
    ("read", "read: search, ask, look at documents"),
    ("write", "write: also add, replace and delete documents"),
    ("manage", "manage: also change and delete the collection"),
]


def _to(model: str, name: str) -> models.ForeignKey:
    return models.ForeignKey(model, models.CASCADE, blank=True, null=True, related_name=name)


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("sessions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("apikey", "user", _to(settings.AUTH_USER_MODEL, "api_keys")),
        migrations.CreateModel(
            name="CollectionMember",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("role", models.CharField(choices=ROLES, default="read", max_length=8)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "collection",
                    models.ForeignKey(
                        "documents.collection", models.DO_NOTHING, db_constraint=False, related_name="members"
                    ),
                ),
                ("group", _to("auth.group", "memberships")),
                ("user", _to(settings.AUTH_USER_MODEL, "memberships")),
            ],
            options={
                "ordering": ["collection", "id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(user__isnull=True, group__isnull=False)
                        | models.Q(user__isnull=False, group__isnull=True),
                        name="members_one_account_or_group",
                        violation_error_message="Choose an account or a group, and not both.",
                    ),
                    models.UniqueConstraint(
                        fields=("collection", "user"),
                        name="members_one_role_of_account",
                        violation_error_message="This account has a role in the collection already.",
                    ),
                    models.UniqueConstraint(
                        fields=("collection", "group"),
                        name="members_one_role_of_group",
                        violation_error_message="This group has a role in the collection already.",
                    ),
                ],
            },
        ),
        migrations.RunSQL(MEMBER_KEYS.read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]
