"""What the operations answer. `make client` writes it from the server's schema; do not edit it.

Names of choices are plain text, and fields that are not known here are kept: a newer server breaks nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=(), defer_build=True)


class DocumentOutput(Shape):
    id: UUID
    source: str
    originalFilename: str
    checksum: str
    createdAt: datetime
    title: str
    sizeBytes: int
    pageCount: int
    totalChunks: int
    collection: str
    warnings: list[str]


class IngestOutput(Shape):
    documentId: UUID
    filename: str
    totalChunks: int
    status: str
    createdAt: datetime
    source: str
    checksum: str
    collection: str
    warnings: list[str]


class ChunkOutput(Shape):
    id: UUID
    documentId: UUID
    chunkIndex: int
    content: str
    pageNumber: int | None
    lastPage: int | None
    startChar: int
    endChar: int
    tokenCount: int
    chapter: str
    section: str


class PageWarning(Shape):
    code: str
    message: str


class PageOutput(Shape):
    number: int
    characters: int
    readBy: str
    warnings: list[PageWarning]


class QueuedEmbeddings(Shape):
    runId: UUID
    queued: int
    message: str


class EmbeddingHit(Shape):
    chunkId: UUID
    documentId: UUID
    chunkIndex: int
    content: str
    score: float
    documentName: str
    title: str
    pageNumber: int | None


class SourceChunk(Shape):
    chunkId: UUID
    documentId: UUID
    chunkIndex: int
    content: str
    score: float
    documentName: str
    title: str
    pageNumber: int | None
    relevance: float


class NearInMetadata(Shape):
    chunkId: UUID
    documentId: UUID
    documentName: str
    title: str
    place: str | None
    pageNumber: int | None
    relevance: float


class CitationInMetadata(Shape):
    citationIndex: int
    chunkId: UUID
    documentId: UUID
    documentName: str
    title: str
    pageNumber: int | None
    place: str | None
    quotedText: str
    startChar: int
    endChar: int
    checksum: str
    answerStart: int
    answerEnd: int
    support: str


class ContradictionInMetadata(Shape):
    text: str
    answerStart: int
    answerEnd: int
    missing: list[str]


class Verification(Shape):
    exact: int
    supported: int
    unverified: int
    contradicted: int
    uncited: int


class WarningInMetadata(Shape):
    documentId: UUID
    documentName: str
    title: str
    message: str
    unreadPages: list[int]


class AnswerMetadata(Shape):
    queryId: UUID
    answerSynthesized: bool
    chunksRetrieved: int
    reason: str | None
    nearest: list[NearInMetadata]
    citations: list[CitationInMetadata]
    contradicted: list[ContradictionInMetadata]
    verification: Verification
    relevance: float
    model: str
    cached: bool
    stageTimesMs: dict[str, float]
    warnings: list[WarningInMetadata]


class AskResponse(Shape):
    query: str
    answer: str
    sourceChunks: list[SourceChunk]
    metadata: AnswerMetadata


class CitedDocument(Shape):
    id: UUID
    documentName: str
    title: str
    snippet: str
    url: str | None
    pageNumber: int | None
    pages: list[int]


class QueryMetadata(Shape):
    processingTimeMs: float
    queryId: UUID
    answerSynthesized: bool
    chunksRetrieved: int
    reason: str | None
    nearest: list[NearInMetadata]
    citations: list[CitationInMetadata]
    contradicted: list[ContradictionInMetadata]
    verification: Verification
    relevance: float
    model: str
    cached: bool
    stageTimesMs: dict[str, float]
    warnings: list[WarningInMetadata]


class QueryResponse(Shape):
    answer: str
    citedDocuments: list[CitedDocument]
    metadata: QueryMetadata


class BookSource(Shape):
    source_file: str
    chapter: str
    section: str


class BookResponse(Shape):
    answer: str
    sources: list[BookSource]


class VectorIndex(Shape):
    kind: str
    searches: str
    storage: str | None = None
    rows: int | None = None
    effort: int | None = None
    recall: float | None = None
    measured_at: datetime | None = None


class PartHealth(Shape):
    state: str
    restarts: int
    last_end: str
    last_end_at: str


class Health(Shape):
    status: str
    ollama: str
    vector_store: str
    embedding_model: str
    timestamp: datetime
    chat_model: str
    database: str
    broker: str
    vector_index: VectorIndex | None
    database_writes: str
    files: str
    workers: int
    reranker: str | None = None
    daily_tokens: str | None = None
    parts: dict[str, PartHealth] | None = None


class UrlCitation(Shape):
    url: str
    title: str
    start_index: int
    end_index: int


class Annotation(Shape):
    type: str | None = None
    url_citation: UrlCitation


class ChatMessage(Shape):
    role: str | None = None
    content: str
    refusal: str | None = None
    annotations: list[Annotation]


class ChatChoice(Shape):
    index: int | None = None
    message: ChatMessage
    finish_reason: str | None = None


class ChatUsage(Shape):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None


class LinkedCitation(Shape):
    citation_index: int
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    page_number: int | None
    place: str | None
    quoted_text: str
    start_char: int
    end_char: int
    checksum: str
    answer_start: int
    answer_end: int
    support: str
    url: str | None = None


class ContradictedClaim(Shape):
    text: str
    answer_start: int
    answer_end: int
    missing: list[str]


class NearPassage(Shape):
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    place: str | None
    page_number: int | None
    relevance: float


class KnowlexPart(Shape):
    query_id: UUID
    reason: str | None
    relevance: float
    citations: list[LinkedCitation]
    contradicted: list[ContradictedClaim]
    verification: Verification
    nearest: list[NearPassage]
    rewritten_query: str | None
    cached: bool


class ChatCompletion(Shape):
    id: str
    object: str | None = None
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    knowlex: KnowlexPart | None


class Collection(Shape):
    id: UUID
    name: str
    description: str
    settings: dict[str, Any]
    document_count: int
    chunk_count: int
    created_at: datetime


class CollectionList(Shape):
    collections: list[Collection]
    next_cursor: str | None


class CollectionReceipt(Shape):
    deleted: bool
    documents_removed: int
    pages_removed: int
    chunks_removed: int
    vectors_removed: int


class CollectionStats(Shape):
    collection_id: UUID
    document_count: int
    chunk_count: int
    total_tokens: int
    storage_bytes: int
    query_count_30d: int
    documents_by_status: dict[str, int]
    documents_by_type: dict[str, int]


class Conversation(Shape):
    id: str
    title: str
    turns: int
    started_at: datetime
    last_asked_at: datetime


class ConversationList(Shape):
    conversations: list[Conversation]
    next_cursor: str | None


class PastVerification(Shape):
    exact: int
    supported: int
    unverified: int
    contradicted: int
    uncited: int


class RatingCounts(Shape):
    thumbs_up: int
    thumbs_down: int


class TurnSource(Shape):
    citation_index: int
    chunk_id: UUID
    document_id: UUID
    document_name: str | None
    page_number: int | None
    place: str | None
    content_snippet: str | None


class PastCitation(Shape):
    citation_index: int
    chunk_id: UUID
    document_id: UUID
    document_name: str | None
    title: str | None
    page_number: int | None
    place: str | None
    quoted_text: str | None
    start_char: int
    end_char: int
    checksum: str | None
    answer_start: int
    answer_end: int
    support: str
    verdict: str | None
    judged_by: str | None
    status: str
    message: str | None


class Turn(Shape):
    query_id: UUID
    conversation_id: str
    face: str
    query: str
    rewritten_query: str | None
    collection_ids: list[UUID]
    answered: bool
    reason: str | None
    error: str | None
    answer: str | None
    answer_gone: bool
    model: str | None
    verification: PastVerification | None
    faithfulness_score: float | None
    ratings: RatingCounts
    cached: bool
    replay_of: UUID | None
    latency_ms: int
    created_at: datetime
    filters: dict[str, Any]
    sources: list[TurnSource]
    citations: list[PastCitation]
    contradicted: list[ContradictedClaim]
    feedback: str | None


class ConversationTurns(Shape):
    id: str
    turns: list[Turn]


class RetrievedRecord(Shape):
    content: str
    score: float
    title: str
    metadata: dict[str, Any]


class RetrievedRecords(Shape):
    records: list[RetrievedRecord]


class DocumentOrigin(Shape):
    type: str
    url: str | None
    connector_id: str | None


class DocumentProcessing(Shape):
    status: str
    stage: str | None
    chunk_count: int
    error_code: str | None
    error_message: str | None
    processed_at: datetime | None


class PlatformDocument(Shape):
    id: UUID
    collection_id: UUID
    job_id: UUID | None
    source: DocumentOrigin
    type: str | None
    title: str
    language: str | None
    filename: str
    content_hash: str | None
    size_bytes: int | None
    page_count: int
    metadata: dict[str, Any]
    permissions: dict[str, Any]
    warnings: list[str]
    processing: DocumentProcessing
    replacing: bool
    created_at: datetime
    updated_at: datetime


class DocumentList(Shape):
    documents: list[PlatformDocument]
    next_cursor: str | None


class PlatformDocumentWithText(Shape):
    id: UUID
    collection_id: UUID
    job_id: UUID | None
    source: DocumentOrigin
    type: str | None
    title: str
    language: str | None
    filename: str
    content_hash: str | None
    size_bytes: int | None
    page_count: int
    metadata: dict[str, Any]
    permissions: dict[str, Any]
    warnings: list[str]
    processing: DocumentProcessing
    replacing: bool
    created_at: datetime
    updated_at: datetime
    content: str | None


class ReplacementReceipt(Shape):
    job_id: UUID | None = None
    document_id: UUID
    status: str


class DocumentReceipt(Shape):
    deleted: bool
    chunks_removed: int
    pages_removed: int
    vectors_removed: int
    views_removed: int


class ChunkPosition(Shape):
    start_char: int
    end_char: int
    page_number: int | None
    last_page: int | None


class PlatformChunk(Shape):
    id: UUID
    document_id: UUID
    chunk_index: int
    content: str
    position: ChunkPosition
    token_count: int
    metadata: dict[str, Any]
    created_at: datetime
    embedding_model: str | None


class ChunkList(Shape):
    chunks: list[PlatformChunk]
    next_cursor: str | None


class ViewedDocument(Shape):
    id: UUID
    filename: str
    title: str
    content_hash: str
    page_count: int
    has_pages: bool


class MarkedPage(Shape):
    number: int
    width: float | None
    height: float | None
    rects: list[list[float]]
    method: str


class QuoteContext(Shape):
    before: str
    quote: str
    after: str


class Highlights(Shape):
    document: ViewedDocument
    replaced: bool
    quoted_text: str
    pages: list[MarkedPage]
    text: QuoteContext | None


class ReadPage(Shape):
    page_number: int
    characters: int
    read_by: str
    warnings: list[str]


class PageReport(Shape):
    document_id: UUID
    pages: list[ReadPage]


class TextLine(Shape):
    start_char: int
    end_char: int
    text: str
    box: list[float]


class Page(Shape):
    document_id: UUID
    number: int
    start_char: int
    text: str
    width: float | None
    height: float | None
    method: str
    lines: list[TextLine]


class RetriedDocument(Shape):
    document_id: UUID
    retried: bool


class Embedding(Shape):
    object: str | None = None
    index: int
    embedding: list[float] | str


class EmbeddingUsage(Shape):
    prompt_tokens: int
    total_tokens: int


class EmbeddingList(Shape):
    object: str | None = None
    model: str
    data: list[Embedding]
    usage: EmbeddingUsage


class NamedThing(Shape):
    id: UUID
    name: str


class EvaluationProgress(Shape):
    total: int
    done: int


class EvaluationSettings(Shape):
    mode: str | None = None
    top_k: int | None = None
    rerank: bool | None = None
    rewrite: bool | None = None
    threshold: float | None = None
    rrf_k: int | None = None
    dense_weight: float | None = None
    embedding_model: str | None = None


class Metric(Shape):
    value: float
    low: float | None
    high: float | None
    n: int


class MeasuredConfiguration(Shape):
    name: str
    settings: EvaluationSettings
    questions: int | None = None
    errors: int | None = None
    metrics: dict[str, Metric] | None = None
    reliability: list[dict[str, Any]] | None = None
    calibration_error: float | None = None


class MetricDifference(Shape):
    difference: float
    low: float | None
    high: float | None
    better: int
    worse: int
    equal: int
    n: int


class Evaluation(Shape):
    id: UUID
    status: str
    error: str | None
    question_set: NamedThing
    collections: list[NamedThing]
    answers: bool
    progress: EvaluationProgress
    configurations: list[MeasuredConfiguration]
    differences: dict[str, MetricDifference] | None
    plot: str
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


class EvaluationList(Shape):
    evaluations: list[Evaluation]
    next_cursor: str | None


class EvaluationResult(Shape):
    position: int
    id: str
    question: str
    answerable: bool
    expected_answers: list[str]
    configuration: str
    metrics: dict[str, float]
    found: list[dict[str, Any]]
    answered: bool | None
    answer: str | None
    latency_ms: float | None
    error: str | None


class EvaluationWithResults(Shape):
    id: UUID
    status: str
    error: str | None
    question_set: NamedThing
    collections: list[NamedThing]
    answers: bool
    progress: EvaluationProgress
    configurations: list[MeasuredConfiguration]
    differences: dict[str, MetricDifference] | None
    plot: str
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    results: list[EvaluationResult]
    next_cursor: str | None


class DeletedEvaluation(Shape):
    deleted: bool


class FeedbackReceipt(Shape):
    recorded: bool
    query_id: UUID
    rating: str | None
    comment: str | None
    created_at: datetime
    updated_at: datetime


class JobProgress(Shape):
    total: int
    processed: int
    failed: int
    pages_total: int
    pages_extracted: int
    chunks_made: int
    chunks_embedded: int


class Job(Shape):
    job_id: UUID
    status: str
    stalled: bool
    collection_id: UUID
    collection: str
    settings: dict[str, Any]
    origin: str
    progress: JobProgress
    created_at: datetime
    completed_at: datetime | None


class JobList(Shape):
    jobs: list[Job]
    next_cursor: str | None


class AcceptedDocument(Shape):
    id: UUID
    filename: str
    status: str


class AcceptedJob(Shape):
    job_id: UUID
    status: str
    documents_queued: int
    collection_id: UUID
    documents: list[AcceptedDocument]


class DocumentSource(Shape):
    type: str
    url: str | None


class JobDocument(Shape):
    id: UUID
    filename: str
    title: str
    source: DocumentSource
    status: str
    stage: str
    stalled: bool
    attempts: int
    chunk_count: int
    pages_total: int
    pages_extracted: int
    chunks_made: int
    chunks_embedded: int
    warnings: list[str]
    error: str | None
    error_code: str | None
    duplicate_of: UUID | None
    deleted: bool
    started_at: datetime | None
    completed_at: datetime | None


class JobReport(Shape):
    job_id: UUID
    status: str
    stalled: bool
    collection_id: UUID
    collection: str
    settings: dict[str, Any]
    origin: str
    progress: JobProgress
    created_at: datetime
    completed_at: datetime | None
    documents: list[JobDocument]


class RetriedJob(Shape):
    job_id: UUID
    documents_retried: int


class Model(Shape):
    id: str
    object: str | None = None
    created: int | None = None
    owned_by: str | None = None


class ModelList(Shape):
    object: str | None = None
    data: list[Model]


class QuerySummary(Shape):
    query_id: UUID
    conversation_id: str
    face: str
    query: str
    rewritten_query: str | None
    collection_ids: list[UUID]
    answered: bool
    reason: str | None
    error: str | None
    answer: str | None
    answer_gone: bool
    model: str | None
    verification: PastVerification | None
    faithfulness_score: float | None
    ratings: RatingCounts
    cached: bool
    replay_of: UUID | None
    latency_ms: int
    created_at: datetime


class QueryList(Shape):
    queries: list[QuerySummary]
    next_cursor: str | None


class QuestionInput(Shape):
    original: str
    rewritten: str | None


class NamedCollection(Shape):
    id: UUID
    name: str


class Candidate(Shape):
    rank: int | None
    chunk_id: UUID
    document_id: UUID
    document_name: str | None
    title: str | None
    page_number: int | None
    status: str
    dense_score: float | None
    sparse_score: float | None
    fused_score: float | None
    rerank_score: float | None
    relevance: float
    result_rank: int | None
    context_number: int | None


class RetrievalTrace(Shape):
    chunks: list[Candidate]
    latency_ms: float | None


class PastResponse(Shape):
    answer: str | None
    citations: list[PastCitation]
    input_tokens: int
    output_tokens: int
    model: str
    latency_ms: float | None


class TokenUsage(Shape):
    input_tokens: int
    output_tokens: int
    model: str
    stage_times_ms: dict[str, float]


class AnswerQuality(Shape):
    faithfulness: float | None
    answer_relevance: float | None
    relevance: float
    feedback: str | None


class OwnFeedback(Shape):
    rating: str | None
    comment: str | None
    created_at: datetime
    updated_at: datetime


class ExplainedQuery(Shape):
    id: UUID
    query_id: UUID
    conversation_id: str
    face: str
    query: str
    rewritten_query: str | None
    collection_ids: list[UUID]
    answered: bool
    reason: str | None
    error: str | None
    answer: str | None
    answer_gone: bool
    model: str | None
    verification: PastVerification | None
    faithfulness_score: float | None
    ratings: RatingCounts
    cached: bool
    replay_of: UUID | None
    latency_ms: int
    created_at: datetime
    message: str | None
    original_query: str
    input: QuestionInput
    collections: list[NamedCollection]
    filters: dict[str, Any]
    settings: dict[str, Any]
    retrieved: int
    relevance: float
    embedding_model: str | None
    reranker: str | None
    rewriting: str | None
    retrieval: RetrievalTrace
    response: PastResponse | None
    citations: list[PastCitation]
    contradicted: list[ContradictedClaim]
    usage: TokenUsage | None
    prompt_version: str | None
    stage_times_ms: dict[str, float]
    total_latency_ms: int
    faithfulness_judged_at: datetime | None
    quality: AnswerQuality
    feedback: OwnFeedback | None


class Deleted(Shape):
    deleted: bool


class QuerySource(Shape):
    start_char: int
    end_char: int
    checksum: str
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    place: str | None
    content_snippet: str
    score: float
    citation_index: int
    page_number: int | None
    last_page: int | None
    chapter: str | None
    section: str | None
    relevance: float


class QueryCitation(Shape):
    citation_index: int
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    page_number: int | None
    place: str | None
    quoted_text: str
    start_char: int
    end_char: int
    checksum: str
    answer_start: int
    answer_end: int
    support: str


class QueryUsage(Shape):
    input_tokens: int
    output_tokens: int
    model: str
    stage_times_ms: dict[str, float]


class QueryNear(Shape):
    start_char: int
    end_char: int
    checksum: str
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    place: str | None
    page_number: int | None
    relevance: float
    content_snippet: str


class UnreadPages(Shape):
    document_id: UUID
    document_name: str
    title: str
    message: str
    unread_pages: list[int]


class QueryClaim(Shape):
    text: str
    citation_indexes: list[int]
    support: str


class ReplayChange(Shape):
    chunk_id: UUID
    document_id: UUID
    document_name: str | None
    title: str | None
    place_before: int | None
    place_now: int | None
    relevance_before: float | None
    relevance_now: float | None


class ReplayChanges(Shape):
    same_answer: bool | None
    same_verification: bool | None
    verification_before: dict[str, int] | None
    added: list[ReplayChange]
    gone: list[ReplayChange]
    moved: list[ReplayChange]


class ReplayedQuery(Shape):
    query_id: UUID
    conversation_id: str
    answer: str
    sources: list[QuerySource]
    citations: list[QueryCitation]
    contradicted: list[ContradictedClaim]
    verification: Verification
    usage: QueryUsage
    latency_ms: int
    reason: str | None
    nearest: list[QueryNear]
    relevance: float
    cached: bool
    rewritten_query: str | None
    stage_times_ms: dict[str, float]
    warnings: list[UnreadPages]
    claims: list[QueryClaim] | None = None
    replay_of: UUID
    changes: ReplayChanges


class QueryAnswer(Shape):
    query_id: UUID
    conversation_id: str
    answer: str
    sources: list[QuerySource]
    citations: list[QueryCitation]
    contradicted: list[ContradictedClaim]
    verification: Verification
    usage: QueryUsage
    latency_ms: int
    reason: str | None
    nearest: list[QueryNear]
    relevance: float
    cached: bool
    rewritten_query: str | None
    stage_times_ms: dict[str, float]
    warnings: list[UnreadPages]
    claims: list[QueryClaim] | None = None


class QuestionSet(Shape):
    id: UUID
    name: str
    description: str
    collection: str | None
    collection_id: UUID | None
    question_count: int
    created_at: datetime


class QuestionSetList(Shape):
    question_sets: list[QuestionSet]
    next_cursor: str | None


class EvaluationQuestion(Shape):
    id: str | None = None
    question: str
    answerable: bool | None = None
    answers: list[str] | None = None
    document: str | None = None
    pages: list[int] | None = None
    chapter: str | None = None
    section: str | None = None
    relevant: dict[str, float] | None = None
    answer_type: str | None = None
    lang: str | None = None
    document_lang: str | None = None
    evidence: str | None = None
    key_numbers: list[float] | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None


class QuestionSetWithQuestions(Shape):
    id: UUID
    name: str
    description: str
    collection: str | None
    collection_id: UUID | None
    question_count: int
    created_at: datetime
    questions: list[EvaluationQuestion]
    next_cursor: str | None


class QuestionSetReceipt(Shape):
    deleted: bool
    questions_removed: int


class SearchResult(Shape):
    rank: int
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    chunk_index: int
    content: str
    page_number: int | None
    place: str | None
    last_page: int | None
    chapter: str | None
    section: str | None
    score: float
    dense_score: float | None
    sparse_score: float | None
    fused_score: float
    rerank_score: float | None
    relevance: float


class SearchStage(Shape):
    stage: str
    kept: bool | None
    rank: int | None
    score: float | None
    limit: float | None
    reason: str


class SearchExplanation(Shape):
    chunk_id: UUID
    found: bool
    lost_at: str | None
    stages: list[SearchStage]


class SearchResults(Shape):
    results: list[SearchResult]
    mode: str
    reranked: bool
    reranker: str | None
    rewriting: str | None
    embedding_model: str | None
    stage_times_ms: dict[str, float]
    latency_ms: int
    explanation: SearchExplanation | None = None


class RunCounts(Shape):
    listed: int | None = None
    unchanged: int | None = None
    added: int | None = None
    replaced: int | None = None
    moved: int | None = None
    present: int | None = None
    skipped: int | None = None
    failed: int | None = None
    deleted: int | None = None
    gone: int | None = None
    known: int | None = None
    pages: int | None = None
    chunks: int | None = None
    vectors: int | None = None


class Source(Shape):
    id: UUID
    name: str
    collection: str
    collection_id: UUID
    kind: str
    config: dict[str, Any]
    has_secret: bool
    every_minutes: int | None
    state: str
    stage: str | None
    dry_run: bool
    counts: RunCounts
    error: str | None
    files: int
    waiting: int
    refused: int
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    next_run_at: datetime | None


class SourceList(Shape):
    sources: list[Source]
    next_cursor: str | None


class SourceReceipt(Shape):
    deleted: bool
    documents_kept: int
    documents_removed: int
    pages_removed: int
    chunks_removed: int
    vectors_removed: int


class SourceItem(Shape):
    path: str
    state: str
    reason: str | None
    size_bytes: int
    document_id: UUID | None
    gone: bool


class SourceItemList(Shape):
    items: list[SourceItem]
    next_cursor: str | None


class SpellingSuggestion(Shape):
    suggestion: str | None


class Webhook(Shape):
    id: UUID
    url: str
    events: list[str]
    created_at: datetime


class WebhookList(Shape):
    webhooks: list[Webhook]
    next_cursor: str | None


class MadeWebhook(Shape):
    id: UUID
    url: str
    events: list[str]
    created_at: datetime
    secret: str


class Delivery(Shape):
    id: UUID
    event: str
    status: str
    attempts: int
    response_status: int | None
    error: str | None
    created_at: datetime
    due_at: datetime
    ended_at: datetime | None


class WebhookWithDeliveries(Shape):
    id: UUID
    url: str
    events: list[str]
    created_at: datetime
    deliveries: list[Delivery]
