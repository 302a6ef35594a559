"""What past answers claim, and the passages that they cite for it, as these are stored now."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from documents.protocols import SentenceEmbedder
from documents.text.sentences import sentence_spans
from embeddings.active_model import active_model
from knowlex.db.threads import execute
from knowlex.runtime.components import component
from rag.citations.markers import without_markers
from rag.ranking.order import scale_of
from rag.ranking.sentences import sentences_around
from rag.relevance.answers import AnswerText, answer_relevance
from rag.types.answer import Answer, Support
from rag.types.claims import Unproved


def compute_answer_relevances(answers: Sequence[tuple[str, Sequence[AnswerText]]]) -> list[float | None]:
    """Compute [0, 1] for each question and its claims; None where nothing is claimed.

    Only what the search has not compared with the question is embedded, all of it at once. Not for an event
    loop. Raises EmbedderError, DatabaseUnavailable.
    """
    if not any(claims for _, claims in answers):
        return [None] * len(answers)
    model = active_model()
    factor, shift = scale_of(model.name, (), model.calibration).line
    texts = [text for question, claims in answers for text in _list_uncompared(question, claims)]
    vectors = {}
    if texts:
        vectors = dict(zip(texts, component("SENTENCE_EMBEDDER", SentenceEmbedder).embed(texts), strict=True))

    def nearest(question: str, claim: AnswerText) -> float:
        cosine = claim.similarity
        if cosine is None:
            asked = vectors[question]
            cosine = max(float(asked @ vectors[text]) for text in (claim.text, claim.quote))
        return factor * cosine + shift

    return [
        answer_relevance(question, [one._replace(cosine=nearest(question, one)) for one in claims])
        for question, claims in answers
    ]


def _list_uncompared(question: str, claims: Sequence[AnswerText]) -> list[str]:
    texts = [text for claim in claims if claim.similarity is None for text in (claim.text, claim.quote)]
    return [question, *texts] if texts else []


BESIDE_RELEVANT, BESIDE_READ = 1, 3  # sentences before and after a quote that are looked at, and read
MAX_READER_CHARS = 1500  # of a passage

# A passage that is not there any more, or reads otherwise, is its quote alone. What another model than the
# active one has compared is on another scale, and counts as not compared.
_FETCH_CITATIONS = """
    SELECT ci.response_id, ci.position, ci.support, ci.answer_start, ci.answer_end, ci.quoted_text,
        coalesce(c.content, ''), ci.start_char - coalesce(c.start_char, 0), coalesce(d.language, ''),
        CASE WHEN q.embedding_model = m.name THEN ci.similarity END
    FROM rag_citation ci
    JOIN rag_query q ON q.id = ci.response_id
    LEFT JOIN embeddings_embeddingmodel m ON m.active
    LEFT JOIN documents_chunk c ON c.id = ci.chunk_id
    LEFT JOIN documents_document d ON d.id = c.document_id
    WHERE ci.response_id = ANY(%s) AND NOT ci.gone ORDER BY ci.response_id, ci.position
"""


class CitedPassage(NamedTuple):
    """One citation. start, end: of its claim in the answer. content: its passage's; place: of the quote
    there. language: of the document. similarity: cosine of the question and the quote's nearest sentence,
    None where they were not compared.
    """

    position: int
    support: Support
    start: int
    end: int
    quote: str
    content: str
    place: int
    language: str
    similarity: float | None

    def around(self, beside: int) -> str:
        """Return the quote's sentences, and so many before and after them."""
        end = self.place + len(self.quote)
        if self.content[max(0, self.place) : end] != self.quote:
            return self.quote
        return sentences_around(self.content, self.place, end, beside)


class CitedClaim(NamedTuple):
    """One claim of an answer, with all its citations."""

    text: str
    cited: tuple[CitedPassage, ...]

    @property
    def is_unverified(self) -> bool:
        return all(one.support == "unverified" for one in self.cited)

    def said(self) -> AnswerText:
        """Return the claim as `answer_relevance` reads it."""
        quotes = "\n".join(dict.fromkeys(one.quote for one in self.cited))
        around = "\n".join(dict.fromkeys(one.around(BESIDE_RELEVANT) for one in self.cited))
        compared = [one.similarity for one in self.cited if one.similarity is not None]
        return AnswerText(self.text, quotes, around, self.cited[0].language, max(compared, default=None))

    def unproved(self) -> list[Unproved]:
        """Return an entry for each citation, as an AnswerReader reads it."""
        return [Unproved(self.text, self._passage(one), one.language) for one in self.cited]

    def _passage(self, cited: CitedPassage) -> str:
        wide = cited.around(BESIDE_READ)
        return wide if len(wide) <= MAX_READER_CHARS else cited.around(0)


def fetch_citations(query_ids: Sequence[UUID]) -> dict[UUID, list[CitedPassage]]:
    """Fetch the citations of each answer, in its order; one statement."""
    found: dict[UUID, list[CitedPassage]] = {id_: [] for id_ in query_ids}
    for query_id, *columns in execute(_FETCH_CITATIONS, [list(query_ids)]):
        found[query_id].append(CitedPassage(*columns))
    return found


def collect_citations(answer: Answer) -> list[CitedPassage]:
    """Collect the citations of an answer that is not stored."""
    return [
        CitedPassage(
            position,
            one.support,
            one.answer_start,
            one.answer_end,
            passage.content[one.quote_start : one.quote_end],
            passage.content,
            one.quote_start,
            passage.language,
            passage.similarity_within(one.quote_start, one.quote_end),
        )
        for position, one in enumerate(answer.citations)
        for passage in (answer.context[one.passage - 1],)
    ]


def group_claims(answer: str, cited: Sequence[CitedPassage]) -> list[CitedClaim]:
    """Return the claims that these citations belong to, in the order of the answer."""
    by_span: dict[tuple[int, int], list[CitedPassage]] = {}
    for one in cited:
        by_span.setdefault((one.start, one.end), []).append(one)
    return [
        CitedClaim(without_markers(answer[slice(*span)]).strip(), tuple(those))
        for span, those in by_span.items()
    ]


def find_uncited_sentences(answer: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Find the sentences of an answer that none of these claims touches."""
    return [
        text
        for start, end in sentence_spans(answer)
        if not any(start < last and first < end for first, last in spans)
        and (text := without_markers(answer[start:end]).strip(" ."))
    ]
