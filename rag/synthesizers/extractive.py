"""An answer without a chat model: the sentences of the context that answer best, word for word."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, islice
from uuid import UUID

from documents.text.tables import CELLS, is_figure, split_row
from embeddings.lexical.terms import lexemes
from rag.context.fitting import assemble
from rag.context.selection import distinct, most_relevant, says
from rag.context.tokens import estimate_tokens
from rag.extracting.candidates import candidates_of
from rag.extracting.company import begins_item, is_headed, titled
from rag.extracting.headings import identifiers_in
from rag.extracting.rows import CellTold, cells_told, rows_said, say_cells, tells_other_years, title_to_read
from rag.extracting.selection import (
    AS_LIKELY,
    LESS_LIKELY,
    MOST,
    MOST_WORDS,
    NOT_READ,
    choose,
    options_of,
    weights_for,
)
from rag.extracting.units import AnswerCandidate
from rag.named_documents import ask_of_document
from rag.prompts import NOT_FOUND
from rag.ranking.logits import logistic
from rag.ranking.sentences import analysis_in, misspelled, subjects_of
from rag.synthesizers.quotes import title_of, without_markup, write_answer
from rag.synthesizers.sentence_reader import (
    ENGLISH,
    Pair,
    Scale,
    SentenceReader,
    answers,
    as_question,
    below_heading,
    is_keywords,
    scale_for,
    tell_field,
)
from rag.types.answer import EXTRACTIVE, Synthesis, Usage
from rag.types.context import Block, Context, Half
from rag.types.question import Question
from rag.types.retrieval import NamedDocuments, Passage, Retrieval

MOST_READ = 8  # of the likeliest sentences...
MOST_CELLS, MOST_OF_ROW = 16, 8  # of rows of figures that are read for a question, and of one of them
UNREAD = -20.0  # a logit, of a row without a cell that could answer
NEARLY = 2.0  # of a logit: cells that read as well as the best one
LONG_ROW, MOST_TOLD = 16, 6  # cells of a row that is not said whole; those that are where none is asked for
LEAST_OF_NAMED = 0.05  # relevance of what is read of a document that is named: it is about that
LONGEST_LINE = 12  # words of a line that is read with those beside it...
SURE_WITH, BETTER_WITH = 0.0, 1.0  # ...and is told with one where that reads so well, and so much better
MOST_PAIRS = 16  # with these
WORSE_ALONE = 2.0  # of a logit: a sentence that is said below its heading
MOST_BELOW = 2  # ...and of others below a heading that has an identifier of the question
MOST_OF_HALF, MOST_WORDS_OF_HALF = 2, 60  # said of each of two things that a question is of


class ExtractiveSynthesizer:
    """Answers in at most three sentences of the context, each with the `[n]` of its block.

    reading: whether a model reads the likeliest ones first, chooses among them with what words and vectors
    say, and says nothing where none answers.
    """

    model_name = EXTRACTIVE

    def __init__(self, *, reading: bool = False, reader: SentenceReader | None = None) -> None:
        self._reader = reader or (SentenceReader() if reading else None)

    async def warm_up(self, *, timeout_s: float) -> None:
        """Load the model that reads, if there is one."""
        if self._reader is not None:
            await self._reader.warm_up(timeout_s=timeout_s)

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        for piece in await self._pieces(question, context):
            yield piece
        yield Usage(model=self.model_name)

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        return Synthesis("".join(await self._pieces(question, context)), Usage(model=self.model_name))

    async def read_passages(self, question: Question, found: Retrieval) -> Retrieval:
        """Return the retrieval with a higher relevance of passages a sentence of which answers, order kept.

        Where some are relevant by themselves, only those are raised that become so.
        Only the `top_k` best are read, and only where the model was made for question and passages.

        Where the question names documents, what does not say the name is not relevant: its sentences say "we"
        of somebody else, word for word. Where it names what nobody knows, nothing becomes relevant by being
        read: the sentences are about another.
        """
        if found.named:
            found = replace(found, passages=tuple(_of_named(one, found.named) for one in found.passages))
        if self._reader is None:
            return found
        context = assemble(islice(distinct(found.passages), question.top_k))
        context = replace(context, named=found.named)
        scale = _scale(question, context)
        best, least = most_relevant(context.passages), question.min_relevance
        weights = scale and scale.raising(best, least)
        if scale is None or weights is None or (best < least and _names_unknown(question, found)):
            return found
        raised: dict[UUID, float] = {}
        for one, reading in (await self.read(question, context, scale)).items():
            passage = context.passages[one.unit.passage]
            of_named = found.named is not None and passage.document_id in found.named.ids
            if (
                best < least
                and not of_named
                and (_has_figures(one, context) or _is_of_others(question, passage))
            ):
                continue
            known = max(passage.relevance, LEAST_OF_NAMED) if of_named else passage.relevance
            relevance = logistic(weights.logit(known, reading))
            if 0 < passage.relevance < least and (relevance >= least or best < least):
                raised[passage.chunk_id] = max(relevance, raised.get(passage.chunk_id, passage.relevance))
        passages = (one._replace(relevance=raised.get(one.chunk_id, one.relevance)) for one in found.passages)
        return replace(found, passages=tuple(passages))

    async def _pieces(self, question: Question, context: Context) -> list[str]:
        asked = [_half_of(question, context, half) for half in context.halves] or [(question, context)]
        chosen = [one for each in asked for one in await self._choose(*each)]
        once = {(one.number, one.place): one for one in reversed(chosen)}
        chosen = [one for one in chosen if once[one.number, one.place] is one]
        chosen = list(_within(question.max_tokens, chosen))
        return list(write_answer(chosen, context)) if chosen or not context.passages else [NOT_FOUND]

    async def _choose(self, question: Question, context: Context) -> Sequence[AnswerCandidate]:
        """Return the sentences to say; none where the likeliest one reads as no answer."""
        scale = _scale(question, context) if self._reader else None
        if scale is None:
            return _choose_sentences(question, context)
        chosen, readings = await self.choose_read(question, context, scale)
        reading = readings.get(chosen[0]) if chosen else None
        if reading is not None:
            relevance = context.passages[chosen[0].unit.passage].relevance
            if not answers(relevance, reading, question.min_relevance, scale.usual):
                return []
        return chosen

    async def choose_read(
        self, question: Question, context: Context, scale: Scale
    ) -> tuple[Sequence[AnswerCandidate], Mapping[AnswerCandidate, float]]:
        """Return the sentences to say, the likeliest first, and what was read of all.

        A row of figures that was not read is when it would be said first.
        """
        readings, told = await self._read(question, context, scale)
        if scale is not ENGLISH:
            return _choose_sentences(question, context, readings), readings
        chosen = _choose_sentences(question, context, readings, AS_LIKELY)
        while chosen and chosen[0] not in readings and _has_figures(chosen[0], context):
            more, versions = await self._read_rows(question, context, chosen[:1])
            if not more:
                break
            readings, told = {**readings, **more}, {**told, **versions}
            chosen = _choose_sentences(question, context, readings, AS_LIKELY)
        of_told = {version: readings[one] for one, version in told.items()}
        readings = {**readings, **of_told}
        return await self._with_heading(question, context, _tell_once(chosen, told), readings), readings

    async def _with_heading(
        self,
        question: Question,
        context: Context,
        said: list[AnswerCandidate],
        readings: Mapping[AnswerCandidate, float],
    ) -> list[AnswerCandidate]:
        """Add the heading of the likeliest sentence if that reads far worse without it."""
        one = said[0] if said else None
        if self._reader is None or one is None or one not in readings or not one.unit.complete:
            return said
        if any(other.naming for other in said) or not is_headed(
            _sought(question, context), one, context.blocks[one.number - 1].language
        ):
            return said
        passage, text = context.passages[one.unit.passage], _to_read(one._replace(heading=""), english=True)
        pair = Pair(_asked_of(passage, question, text, context.named), text)
        (alone,) = await self._reader.read(question, [pair]) or (readings[one],)
        return [*said, titled(one, one.heading)] if readings[one] - alone >= WORSE_ALONE else said

    async def read(
        self, question: Question, context: Context, scale: Scale
    ) -> Mapping[AnswerCandidate, float]:
        """Read the likeliest sentences; none where that cannot be done now."""
        readings, _ = await self._read(question, context, scale)
        return readings

    async def _read(
        self, question: Question, context: Context, scale: Scale
    ) -> tuple[Mapping[AnswerCandidate, float], Mapping[AnswerCandidate, AnswerCandidate]]:
        """Return the readings of the likeliest sentences, and how those of them are told that are lines.

        A line without an end is read alone, with the line before it and with the one behind it: a title
        stands below a name, a date below what it is the date of. It is told as it surely answers. In English
        rows of figures are read, too.
        """
        if self._reader is None:
            return NOT_READ, {}
        every = candidates_of(_sought(question, context), context)
        options = options_of(_sought(question, context), context, weights_for(question.text, context), every)
        candidates = [one.candidate for one in options if not _has_figures(one.candidate, context)]
        named = identifiers_in(question.text)
        below = [one for one in candidates[MOST_READ:] if not named.isdisjoint(identifiers_in(one.heading))]
        likeliest = [*candidates[:MOST_READ], *below[:MOST_BELOW]]
        english = scale is ENGLISH
        beside = [(one, version) for one in likeliest for version in _with_lines_beside(one, every)]
        versions = [*zip(likeliest, likeliest, strict=True), *beside][:MOST_PAIRS]
        pairs = []
        for _, version in versions:
            text, passage = _to_read(version, english=english), context.passages[version.unit.passage]
            asked = _asked_of(passage, question, text, context.named) if english else question.text
            pairs.append(Pair(asked, text))
        logits = await self._reader.read(question, pairs, english=english)
        if logits is None:
            return NOT_READ, {}
        readings: dict[AnswerCandidate, float] = {}
        told: dict[AnswerCandidate, AnswerCandidate] = {}
        for (one, version), logit in zip(versions, logits, strict=True):
            if one not in readings or logit > max(readings[one] + BETTER_WITH, SURE_WITH):
                readings[one], told[one] = logit, version
        if english:
            rows = [one.candidate for one in options if _has_figures(one.candidate, context)]
            of_rows, versions_of_rows = await self._read_rows(question, context, rows)
            readings, told = readings | of_rows, told | versions_of_rows
        return readings, told

    async def _read_rows(
        self, question: Question, context: Context, rows: Sequence[AnswerCandidate]
    ) -> tuple[dict[AnswerCandidate, float], dict[AnswerCandidate, AnswerCandidate]]:
        """Return what was read of rows of figures, and how these are told: cell by cell, those that are asked
        for by name where there are any: "North: The steps are 94." A row answers as its best cell does.
        """
        readings: dict[AnswerCandidate, float] = {}
        told: dict[AnswerCandidate, AnswerCandidate] = {}
        left = MOST_CELLS
        for row in rows:
            if left <= 0 or self._reader is None:
                break
            block, passage = context.blocks[row.number - 1], context.passages[row.unit.passage]
            cells = cells_told(_sought(question, context), block, row.unit.start, row.unit.end)
            above = passage.title, passage.document_name, passage.chapter, passage.section
            if tells_other_years(question.text, block.content, *block.table_head, *above):
                cells = []
            cells = [cell for cell in cells if cell.asked == cells[0].asked][: min(left, MOST_OF_ROW)]
            left -= len(cells)
            texts = [_cell_to_read(_sought(question, context), block, cell) for cell in cells]
            pairs = [Pair(_asked_of(passage, question, text, context.named), text) for text in texts]
            logits = await self._reader.read(question, pairs)
            if logits is None:
                break
            readings[row] = max(logits, default=UNREAD)
            told[row] = _with_best(_sought(question, context), block, row, cells, logits) if cells else row
        return readings, told


def _within(most: int | None, chosen: Sequence[AnswerCandidate]) -> Iterator[AnswerCandidate]:
    """Yield as many of the likeliest as an answer of so many tokens has room for, the first in any case: a
    quote is not cut.
    """
    tokens = accumulate(estimate_tokens(f"{one.text} [{one.number}]") for one in chosen)
    for place, (one, needed) in enumerate(zip(chosen, tokens, strict=True)):
        if most is None or place == 0 or needed <= most:
            yield one


def _with_best(
    sought: str,
    block: Block,
    row: AnswerCandidate,
    cells: Sequence[CellTold],
    logits: Sequence[float],
) -> AnswerCandidate:
    """Return a row with the cell that reads best beside those asked for by name; where none is, and the row
    is long, with those that read nearly as well.
    """
    said = rows_said(sought, block).get(row.unit.start)
    if said is None or not (said.places or len(said.row.cells) > LONG_ROW):
        return row
    near = 0.0 if said.places else NEARLY
    best = [cell.place for cell, logit in zip(cells, logits, strict=True) if logit >= max(logits) - near]
    places = said.places | frozenset(best[:MOST_TOLD])
    return row._replace(text=say_cells(sought, block, row.unit.start, places))


def _tell_once(
    chosen: Sequence[AnswerCandidate], told: Mapping[AnswerCandidate, AnswerCandidate]
) -> list[AnswerCandidate]:
    """Return each as it is told, without a line that another one is told with."""
    kept: list[tuple[AnswerCandidate, AnswerCandidate]] = []
    for one in chosen:
        version = told.get(one, one)
        if not any(one.text in other.text or line.text in version.text for line, other in kept):
            kept.append((one, version))
    return [version for _, version in kept]


def _with_lines_beside(
    one: AnswerCandidate, candidates: Sequence[AnswerCandidate]
) -> Iterator[AnswerCandidate]:
    """Yield a line with the one before it and with the one behind it, as far as these are lines, too. An item
    of a list does not go on from another line.
    """
    if not _is_line(one):
        return
    beside = {
        other.place - one.place: other
        for other in candidates
        if other.number == one.number and abs(other.place - one.place) == 1 and _is_line(other)
    }
    for first, second in ((beside.get(-1), one), (one, beside.get(1))):
        if first and second and not begins_item(second.text):
            yield one._replace(text=f"{first.text} {second.text}")


def _is_line(one: AnswerCandidate) -> bool:
    if one.unit.complete or one.is_row or one.code or not one.worded or one.length > LONGEST_LINE:
        return False
    return not (CELLS in one.text or one.text.startswith("#") or one.text.endswith(("?", "？")))


def _to_read(one: AnswerCandidate, *, english: bool) -> str:
    text = without_markup(_without_bars(one.text))
    return below_heading(without_markup(one.heading), tell_field(text) if english else text)


def _has_figures(one: AnswerCandidate, context: Context) -> bool:
    """Tell whether it is a row of figures, of which the model has learnt none."""
    row = context.blocks[one.number - 1].content[one.unit.start : one.unit.end]
    return CELLS in row and any(map(is_figure, split_row(row)[1:]))


def _cell_to_read(sought: str, block: Block, cell: CellTold) -> str:
    title = title_to_read(sought, title_of(block).rstrip(": "), cell, block.language)
    return below_heading(title, below_heading(cell.name, tell_field(cell.field)))


def _without_bars(text: str) -> str:
    return ", ".join(split_row(text)) if CELLS in text else text


def _names_unknown(question: Question, found: Retrieval) -> bool:
    """Return whether the question names somebody or a year that no text has, nor one of the best passages
    with a letter less, more or another one.
    """
    if not found.counts or not found.passages:
        return False
    asked = found.named.rest if found.named else question.text
    names = chain(*subjects_of(asked, found.passages[0].language))
    unknown = [name for name in names if not found.counts.get(name)]
    said = [analysis_in(passage).words for passage in found.passages[: question.top_k]] if unknown else []
    return any(not any(misspelled(name, words) for words in said) for name in unknown)


def _is_of_others(question: Question, passage: Passage) -> bool:
    """Return whether the question names somebody, and the passage and what stands above it none of these."""
    names = [name for name in subjects_of(question.text, passage.language) if not all(map(str.isdigit, name))]
    return bool(names) and not any(says(name, passage) for name in names)


def _of_named(passage: Passage, named: NamedDocuments) -> Passage:
    if not named.ids or passage.document_id in named.ids or says(named.name, passage):
        return passage
    return passage._replace(relevance=0.0)


def _sought(question: Question, context: Context) -> str:
    return context.named.rest if context.named else question.text


def _half_of(question: Question, context: Context, half: Half) -> tuple[Question, Context]:
    """Return what is asked of one of two things, with what was found for it."""
    context = replace(context, halves=(half,), named=half.named, unsaid=half.others)
    return replace(question, text=half.text), context


def _choose_sentences(
    question: Question,
    context: Context,
    readings: Mapping[AnswerCandidate, float] = NOT_READ,
    as_likely: float = LESS_LIKELY,
) -> Sequence[AnswerCandidate]:
    most, words = (MOST_OF_HALF, MOST_WORDS_OF_HALF) if context.halves else (MOST, MOST_WORDS)
    return choose(
        _sought(question, context),
        context,
        readings=readings,
        most=most,
        most_words=words,
        as_likely=as_likely,
    )


def _asked_of(passage: Passage, question: Question, sentence: str, named: NamedDocuments | None) -> str:
    """Return the question as one asks it beside this sentence, which may not say the name of its document."""
    if named is not None and not named.ids:
        return as_question(named.rest)
    of_named = named is not None and passage.document_id in named.ids
    if named is None or not of_named or named.name.issubset(lexemes(sentence, passage.language)):
        return as_question(question.text)
    if is_keywords(question.text):
        return as_question(f"its {named.rest}")
    return ask_of_document(question.text, named, passage.language)


def _scale(question: Question, context: Context) -> Scale | None:
    if any(half.bare for half in context.halves):
        return None
    return scale_for(question.text, [block.language for block in context.blocks])
