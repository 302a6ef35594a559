"""Who may use a collection: accounts, by themselves or through their groups."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q

from documents.models.collections import Collection


class CollectionMember(models.Model):
    """A role of an account, or of all accounts of a group, in a collection. Of several the greatest holds."""

    class Role(models.TextChoices):
        READ = "read", "read: search, ask, look at documents"
        WRITE = "write", "write: also add, replace and delete documents"
        MANAGE = "manage", "manage: also change and delete the collection"

    id = models.BigAutoField(primary_key=True)
    collection = models.ForeignKey(Collection, models.DO_NOTHING, related_name="members", db_constraint=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships", null=True, blank=True
    )
    group = models.ForeignKey(Group, models.CASCADE, related_name="memberships", null=True, blank=True)
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.READ)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["collection", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=True, group__isnull=False)
                | Q(user__isnull=False, group__isnull=True),
                name="members_one_account_or_group",
                violation_error_message="Choose an account or a group, and not both.",
            ),
            models.UniqueConstraint(
                fields=["collection", "user"],
                name="members_one_role_of_account",
                violation_error_message="This account has a role in the collection already.",
            ),
            models.UniqueConstraint(
                fields=["collection", "group"],
                name="members_one_role_of_group",
                violation_error_message="This group has a role in the collection already.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group}: {self.role}"
