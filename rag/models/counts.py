"""How often collections are asked."""

from django.db import models

from documents.models import Collection


class QueryCount(models.Model):
    """How many questions read the collection on a day (UTC). Goes with the collection, by the database."""

    id = models.BigAutoField(primary_key=True)
    collection = models.ForeignKey(Collection, models.DO_NOTHING, related_name="+", db_constraint=False)
    day = models.DateField()
    questions = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "day"], name="query_counts_one_per_day")]

    def __str__(self) -> str:
        return f"{self.questions} on {self.day}"
