"""What can be done with evaluations. No HTTP in here; a worker does the work, see `running`."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, QuerySet, Subquery

from documents.access import Access
from documents.library.collections import find_collection, find_collections, get_collection
from documents.models import Collection
from embeddings.model_lifecycle import catalog
from knowlex.base.errors import Forbidden, InvalidInput, NotFound
from knowlex.db.threads import with_retries
from knowlex.web.pagination import After, Page, paged
from rag.evaluation.configurations import Configuration
from rag.evaluation.question_sets import get_set, page_by_position
from rag.models import Evaluation, EvaluationResult, QuestionSet, SetQuestion

MAX_COLLECTIONS = 100
STATUSES = tuple(Evaluation.Status.values)


@dataclass(frozen=True, slots=True)
class EvaluationDetails:
    """An evaluation with the names of what it reads."""

    run: Evaluation
    collections: tuple[Collection, ...]


def create_run(
    *,
    access: Access,
    question_set: str,
    collections: Sequence[str],
    configurations: Sequence[Configuration],
    answers: bool,
) -> EvaluationDetails:
    """Create a run, to be taken by a worker.

    question_set: name or id. collections: names or ids; none means the set's own, or else `default`.
    Raises NotFound, Forbidden, InvalidInput, DatabaseUnavailable.
    """
    access.require("write")
    for one in configurations:
        if model := one.settings.get("embedding_model"):
            catalog.find_model(model)
    named = _find_collections(collections, access)
    asked = get_set(question_set, access=access)
    read = named or [_collection_of_set(asked, access)]
    for collection in read:
        access.require("write", collection.id)
    run = Evaluation(
        question_set=asked,
        collection_ids=[one.id for one in read],
        configurations=[{"name": one.name, "settings": dict(one.settings)} for one in configurations],
        answers=answers,
        total=asked.question_count,
        key_id=access.key_id,
    )
    try:
        with_retries(lambda: _store(run))
    except IntegrityError as exc:
        if not Evaluation.objects.filter(id=run.id).exists():  # else only the answer to our COMMIT was lost
            raise NotFound("Question set not found.", details={"field": "question_set"}) from exc
    return EvaluationDetails(run, tuple(read))


def get_run(run_id: UUID, *, access: Access) -> EvaluationDetails:
    """Return a run. Raises NotFound, also for one that the caller may not see."""
    rows = Evaluation.objects.allowed_to(access).select_related("question_set")
    run = with_retries(rows.filter(id=run_id).first)
    if run is None:
        raise NotFound(f"Evaluation not found: {run_id}")
    return _with_collections([run])[0]


def list_runs(
    *, access: Access, page: Page, set_id: UUID | None = None, status: str = ""
) -> tuple[list[EvaluationDetails], After | None]:
    """Return one page of those that the caller may see, without their results; two statements."""
    rows = Evaluation.objects.allowed_to(access).select_related("question_set")
    rows = rows if set_id is None else rows.filter(question_set=set_id)
    rows = rows.filter(status=status) if status else rows
    found, after = with_retries(lambda: paged(rows, page))
    return _with_collections(found), after


def delete_run(run_id: UUID, *, access: Access) -> None:
    """Delete a run with its results; one that is running ends. Raises NotFound, Forbidden."""
    access.require("write")
    for collection_id in get_run(run_id, access=access).run.collection_ids:
        access.require("write", collection_id)
    with_retries(lambda: Evaluation.objects.filter(id=run_id).delete())


def list_results(
    run: Evaluation, *, page: Page, configuration: int | None = None, failing: str = ""
) -> tuple[list[EvaluationResult], After | None]:
    """Return one page of the results, sorted by `position`, each with its question.

    Of two configurations a page holds the results of both for the same questions: a page counts questions.
    failing: only questions of which this metric is below 1 under any configuration.
    """
    positions: QuerySet[SetQuestion] = SetQuestion.objects.filter(
        question_set=run.question_set_id, position__lt=run.done
    )
    results = EvaluationResult.objects.filter(evaluation=run)
    if failing:
        below = results.filter(**{f"values__{failing}__lt": 1}).values("position")
        positions = positions.filter(position__in=below)
    asked, after = page_by_position(positions, page)
    rows = results.filter(position__in=[one.position for one in asked])
    if configuration is not None:
        rows = rows.filter(configuration=configuration)
    question = SetQuestion.objects.filter(question_set=run.question_set_id, position=OuterRef("position"))
    named = rows.annotate(
        key=Subquery(question.values("key")),
        question=Subquery(question.values("question")),
        answerable=Subquery(question.values("answerable")),
        expected=Subquery(question.values("answers")),
    )
    sign = "-" if page.descending else ""
    return with_retries(lambda: list(named.order_by(f"{sign}position", "configuration"))), after


@transaction.atomic
def _store(run: Evaluation) -> None:
    run.save(force_insert=True)


def _find_collections(names: Sequence[str], access: Access) -> list[Collection]:
    if len(names) > MAX_COLLECTIONS:
        raise InvalidInput(f"collections must be at most {MAX_COLLECTIONS}.", field="collections")
    try:
        return find_collections(names, access=access)
    except (NotFound, Forbidden) as exc:
        exc.details["field"] = "collections"
        raise


def _collection_of_set(asked: QuestionSet, access: Access) -> Collection:
    if asked.collection_id is None:
        return find_collection(None, access=access)
    return get_collection(asked.collection_id, access=access)


def _with_collections(runs: Sequence[Evaluation]) -> list[EvaluationDetails]:
    wanted = {id_ for run in runs for id_ in run.collection_ids}
    held = with_retries(lambda: Collection.objects.in_bulk(list(wanted))) if wanted else {}
    return [
        EvaluationDetails(run, tuple(held[id_] for id_ in run.collection_ids if id_ in held)) for run in runs
    ]
