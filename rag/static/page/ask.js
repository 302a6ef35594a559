/** The view of a conversation: questions, answers as they are written, their sources, and what helps where there is none. */

import { html, useEffect, useMemo, useRef, useState } from "./vendor/preact-htm.js";
import { asSentence, call, query } from "./api.js";
import { AnswerText, Verification, citationAt, placeOf } from "./answer.js";
import { conversationOf, useConversation } from "./conversation.js";
import { copyText } from "./copying.js";
import { addressWith, navigate, useTitle } from "./routing.js";
import { number, servedLanguages, t, tn } from "./i18n.js";

const DRAFT = "question"; // that is not sent yet, or was when a session had ended: it outlives a look at the documents

/** The collections and filters that the address names. @param {URLSearchParams} parameters */
function scopeOf(parameters) {
  const filters = {};
  const document = parameters.get("document");
  const [since, until] = [parameters.get("since"), parameters.get("until")];
  if (document) filters.documents = [document];
  if (since || until) filters.date_range = { ...(since && { start: since }), ...(until && { end: until }) };
  const tag = parameters.get("tag");
  if (tag) filters.tags = [tag];
  return { collections: parameters.getAll("collection"), filters };
}

/**
 * The parameters of the address that stand for the scope of a turn. Of a past one it is on record which collections
 * were searched: all that there were then, or those that were chosen.
 */
function parametersOf({ scope: { collections: asked, filters }, body }, collections) {
  const { documents: [document] = [], date_range: { start, end } = {}, tags: [tag] = [] } = filters;
  const name = document && body?.sources?.find((source) => source.document_id === document)?.document_name;
  const searched = collections.filter(({ id }) => body?.collection_ids?.includes(id));
  const chosen = searched.length < collections.filter(({ created_at }) => created_at <= body?.created_at).length;
  return { collection: chosen ? searched.map((one) => one.name) : asked, document, name, since: start, until: end, tag };
}

/** @param {{parameters: URLSearchParams, collections: any[], onOpen: (citation: any, all: any[]) => void, say: (text: string, how?: {quiet?: boolean}) => void, onAsked: () => void}} props */
export function AskView({ parameters, collections, onOpen, say, onAsked }) {
  const id = parameters.get("c") || "";
  const fresh = parameters.get("new") || "";
  const held = useRef(null);
  const conversation = useMemo(() => {
    const writing = held.current;
    return writing && writing.id === id && id ? writing : conversationOf(id);
  }, [id, fresh]);
  held.current = conversation;
  useConversation(conversation);
  useEffect(() => () => conversation.id || conversation.stop(), [conversation]);
  const turns = useRef(null);
  useEffect(() => void turns.current.querySelector(".turn:last-child")?.scrollIntoView({ block: "start" }), [conversation.turns.at(-1)?.key]);
  const scope = scopeOf(parameters);
  const loaded = !conversation.loading && collections.length > 0;
  useEffect(() => {
    const last = conversation.turns.at(-1);
    if (loaded && last && !scope.collections.length && !Object.keys(scope.filters).length)
      navigate(addressWith(parametersOf(last, collections)), { replace: true });
  }, [conversation, loaded]);
  useTitle(conversation.turns[0]?.question || "");

  const ask = async (question, options) => {
    say(t("Answering."), { quiet: true });
    await conversation.ask(question, scopeOf(new URLSearchParams(location.search)), options);
    const turn = conversation.turns.at(-1);
    if (turn.error?.status === 401) sessionStorage.setItem(DRAFT, question); // the log-in page comes next
    say(announcement(turn), { quiet: true });
    if (conversation.id && new URLSearchParams(location.search).get("c") !== conversation.id && held.current === conversation)
      navigate(addressWith({ c: conversation.id, new: "", q: "" }, "/"), { replace: true });
    onAsked();
  };
  const asked = parameters.get("q");
  useEffect(() => {
    if (asked && !conversation.turns.length && !conversation.id) ask(asked);
  }, [asked, conversation]);

  return html`<section class="ask" aria-label=${t("Conversation")}>
    <div class="turns" ref=${turns}>
      ${conversation.turns.length > 0 && html`<h1 class="visually-hidden">${t("Conversation")}</h1>`}
      ${!conversation.turns.length && !conversation.loading && html`<${Welcome} collections=${collections} />`}
      ${conversation.error && html`<p class="problem" role="alert">${conversation.error.message}</p>`}
      ${conversation.turns.map(
        (turn, index) => html`<${Turn} key=${turn.key} turn=${turn} conversation=${conversation} onOpen=${onOpen}
          retry=${index === conversation.turns.length - 1 ? () => ask(turn.question, { again: true }) : null} ask=${ask} say=${say} />`,
      )}
    </div>
    <${Composer} conversation=${conversation} ask=${ask} scope=${scope} collections=${collections} parameters=${parameters} />
  </section>`;
}

function announcement(turn) {
  if (turn.state === "failed") return t("The answer failed.");
  if (turn.state === "stopped") return t("Stopped.");
  if (!turn.body.answered) return t("There is not enough information.");
  return tn("Answer ready, {n} source.", "Answer ready, {n} sources.", turn.body.sources.length);
}

function Welcome({ collections }) {
  const documents = collections.reduce((sum, collection) => sum + collection.document_count, 0);
  const languages = servedLanguages(collections[0]?.settings.embedding_model);
  return html`<div class="welcome">
    <h1>${t("Ask your documents")}</h1>
    ${documents
      ? html`<p>${tn("{n} document is here.", "{n} documents are here.", documents)} ${t("Every statement of an answer shows where it stands; click its number to see the page.")}</p>`
      : html`<p>${t("There are no documents yet.")} <a href="/documents" data-inside>${t("Bring some in")}</a>${t(", then ask.")}</p>`}
    ${languages && html`<p class="hint">${t("Answers were measured in {languages}; other languages may be refused more often.", { languages })}</p>`}
  </div>`;
}

function Composer({ conversation, ask, scope, collections, parameters }) {
  const [text, setText] = useState(() => sessionStorage.getItem(DRAFT) || "");
  const write = (written) => {
    setText(written);
    sessionStorage.setItem(DRAFT, written);
  };
  const field = useRef(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), [conversation]);
  const send = () => {
    if (!text.trim() || conversation.writing) return;
    write("");
    ask(text.trim());
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send();
    }
  };
  return html`<form class="composer" onSubmit=${(event) => { event.preventDefault(); send(); }}>
    <div class="field">
      <textarea id="question" ref=${field} rows="1" maxlength="2000" dir="auto" value=${text} aria-label=${t("Your question")}
        placeholder=${conversation.turns.length ? t("Ask a follow-up question") : t("Ask a question")}
        onInput=${(event) => write(event.target.value)} onKeyDown=${onKeyDown}></textarea>
      ${conversation.writing
        ? html`<button type="button" class="primary" onClick=${() => conversation.stop()}>${t("Stop")}</button>`
        : html`<button class="primary" disabled=${!text.trim()}>${t("Ask")}</button>`}
    </div>
    <${ScopePicker} scope=${scope} collections=${collections} parameters=${parameters} />
  </form>`;
}

/** Which collections and documents are asked; the choice is part of the address. */
function ScopePicker({ scope, collections, parameters }) {
  const set = (name) => (event) => navigate(addressWith({ [name]: event.target.value }));
  const toggle = (event) => {
    const chosen = new URLSearchParams(location.search);
    const names = chosen.getAll("collection").filter((name) => name !== event.target.value);
    chosen.delete("collection");
    for (const name of event.target.checked ? [...names, event.target.value] : names) chosen.append("collection", name);
    navigate(chosen.size ? `${location.pathname}?${chosen}` : location.pathname);
  };
  const unknown = scope.collections.filter((chosen) => !collections.some(({ name }) => name === chosen)).map((name) => ({ name }));
  const document = parameters.get("document");
  const filtered = Object.keys(scope.filters).length;
  return html`<div class="scope">
    <details class="menu">
      <summary>${scope.collections.length ? scope.collections.join(", ") : t("All collections")}</summary>
      <fieldset><legend>${t("Collections")}</legend>
        ${[...collections, ...unknown].map(({ name, document_count: count }) => html`<label><input type="checkbox" value=${name}
          checked=${scope.collections.includes(name)} onChange=${toggle} /> ${name} <small>${count === undefined ? "" : number(count)}</small></label>`)}
      </fieldset>
    </details>
    <details class="menu">
      <summary>${filtered ? tn("{n} filter", "{n} filters", filtered) : t("Filters")}</summary>
      <fieldset><legend>${t("Only documents")}</legend>
        <label>${t("brought in since")} <input type="date" value=${parameters.get("since") || ""} onChange=${set("since")} /></label>
        <label>${t("brought in until")} <input type="date" value=${parameters.get("until") || ""} onChange=${set("until")} /></label>
        <label>${t("with the tag")} <input type="text" maxlength="100" value=${parameters.get("tag") || ""} onChange=${set("tag")} /></label>
      </fieldset>
    </details>
    ${document && html`<button type="button" class="chip" onClick=${() => navigate(addressWith({ document: "", name: "" }))}
      aria-label=${t("Ask all documents again")}>${t("Only {name}", { name: parameters.get("name") || t("one document") })} ✕</button>`}
    ${filtered > 0 && html`<button type="button" class="chip" onClick=${() => navigate(addressWith({ document: "", name: "", since: "", until: "", tag: "" }))}>${t("Drop filters")} ✕</button>`}
  </div>`;
}

function Turn({ turn, conversation, onOpen, retry, ask, say }) {
  const { body, state } = turn;
  const gone = body?.answered && !turn.text;
  const open = (citation) => onOpen(citation, body?.citations || [citation]);
  return html`<article class=${`turn ${state}`}>
    <h2 dir="auto" title=${turn.question}>${turn.question}</h2>
    ${body?.rewritten_query && html`<p class="hint">${t("Understood as:")} <span dir="auto">${body.rewritten_query}</span></p>`}
    <${SourceCards} turn=${turn} onOpen=${open} />
    ${state === "writing" && !turn.text && html`<p class="hint">${turn.passages.length ? t("Writing …") : t("Searching …")}</p>`}
    ${state === "failed"
      ? html`<p class="problem" role="alert">${failureText(turn.error)}</p><${AskAllCollections} turn=${turn} retry=${retry} ask=${ask} />`
      : body && !body.answered
        ? html`<${NotEnough} turn=${turn} onOpen=${open} retry=${retry} ask=${ask} />`
        : gone
          ? html`<p class="hint">${t("The document was deleted; what it said is gone.")}</p>`
          : html`<${AnswerText} text=${turn.text} body=${body} onOpen=${open} />`}
    ${state === "stopped" && html`<p class="hint">${t("Stopped. What stands here was not checked.")}</p>`}
    ${turn.replaced && html`<details class="hint"><summary>${t("The check put this answer in the place of another.")}</summary><p dir="auto">${turn.replaced}</p></details>`}
    ${body && !gone && html`<${Verification} body=${body} />`}
    ${body?.warnings?.map((warning) => html`<p class="hint">⚠ ${warning.title || warning.document_name}: ${warning.message}
      <a href=${`/documents/${warning.document_id}`} data-inside>${t("Show its pages")}</a></p>`)}
    ${state !== "writing" && html`<${TurnActions} turn=${turn} conversation=${conversation} retry=${retry} say=${say} />`}
  </article>`;
}

function failureText(error) {
  if (error?.code === "CLIENT_LEFT") return t("The question was stopped before there was an answer.");
  if (error?.retryAfter) return `${asSentence(error.message)} ${tn("Try again in {n} second.", "Try again in {n} seconds.", error.retryAfter)}`;
  return error?.message || t("The question failed ({code}).", { code: error?.code || "?" });
}

/** The documents that the answer comes from: before it is written what was found, then what it cites. */
function SourceCards({ turn, onOpen }) {
  const cited = turn.body?.sources || [];
  const cards = turn.body ? cited : turn.passages;
  if (!cards.length) return null;
  return html`<ul class="sources" aria-label=${t("Sources")}>${cards.map((source) => {
    const citation = citationAt(turn.body?.citations, { marker: source.citation_index, start: 0 });
    return html`<li key=${source.chunk_id}><button type="button" onClick=${() => onOpen(citation || wholePassage(source))}>
      <b>${source.citation_index ? html`<span class="number">${source.citation_index}</span> ` : ""}${placeOf(source)}</b>
      <span dir="auto">${source.content_snippet}</span>
    </button></li>`;
  })}</ul>`;
}

function wholePassage(source) {
  return { ...source, quoted_text: source.content_snippet };
}

const REASONS = {
  no_documents: () => t("There are no documents to look in."),
  embeddings_pending: () => t("The documents are still being read in. Ask again when that is done."),
  filtered_out: () => t("The filters hide everything that could answer it."),
  below_threshold: () => t("No passage of the documents was near enough to the question."),
  model_declined: () => t("The model read the passages and found no answer in them."),
  not_supported: () => t("What the model wrote did not stand in the documents, so it is not shown."),
};

const LEAST_RELEVANCE = 0.05; // what is less has nothing to do with the question

/** Why there is no answer, what came nearest, and what helps. */
function NotEnough({ turn, onOpen, retry, ask }) {
  const { body, scope, question } = turn;
  const suggestion = useSuggestion(body, question, scope);
  const filtered = Object.keys(scope.filters).length > 0;
  const nearest = (body.nearest || []).filter(({ relevance }) => relevance >= LEAST_RELEVANCE);
  return html`<div class="not-enough">
    <p><b>${t("Your documents do not say enough to answer this.")}</b> ${(REASONS[body.reason] || (() => ""))()}</p>
    ${suggestion && html`<p>${t("Did you mean:")} <button type="button" dir="auto" onClick=${() => ask(suggestion)}>${suggestion}</button></p>`}
    ${body.reason === "embeddings_pending" && html`<${Pending} />`}
    ${body.reason === "no_documents" && html`<p><a href="/documents" data-inside>${t("Bring documents in")}</a></p>`}
    ${filtered && html`<p><button type="button" onClick=${() => navigate(addressWith({ document: "", name: "", since: "", until: "", tag: "" }))}>${t("Drop the filters")}</button></p>`}
    <${AskAllCollections} turn=${turn} retry=${retry} ask=${ask} />
    ${nearest.length > 0 && html`<p>${t("Nearest passages: not sure enough that they answer")}</p>
      <ul class="sources nearest">${nearest.map((source) => html`<li key=${source.chunk_id}><button type="button" onClick=${() => onOpen(wholePassage(source))}>
        <b>${placeOf(source)}</b><span dir="auto">${source.content_snippet}</span></button></li>`)}</ul>`}
  </div>`;
}

function AskAllCollections({ turn, retry, ask }) {
  if (!turn.scope.collections.length) return null;
  const onClick = () => {
    navigate(addressWith({ collection: "" }));
    if (retry) retry();
    else ask(turn.question);
  };
  return html`<p><button type="button" onClick=${onClick}>${t("Ask all collections")}</button></p>`;
}

/** The question with its words put right, where the documents have others that are one letter away. */
function useSuggestion(body, question, scope) {
  const [suggestion, setSuggestion] = useState(null);
  useEffect(() => {
    if (body.reason !== "below_threshold" && body.reason !== "model_declined") return;
    const collection = scope.collections.length === 1 ? scope.collections[0] : "";
    call(`/v1/spelling${query({ q: question, collection })}`).then((found) => setSuggestion(found.suggestion), () => {});
  }, [body]);
  return suggestion;
}

/** How far the embedding of the documents is; asked again until it is done. */
function Pending() {
  const [jobs, setJobs] = useState([]);
  useEffect(() => {
    let live = true;
    const look = async () => {
      const { jobs: running } = await call("/v1/ingest?status=processing&limit=5").catch(() => ({ jobs: [] }));
      if (!live) return;
      setJobs(running);
      if (running.length) await call(`/v1/ingest/${running[0].job_id}?wait=10`).catch(() => null);
      if (live && running.length) look();
    };
    look();
    return () => void (live = false);
  }, []);
  return jobs.map(({ job_id, progress }) => html`<p key=${job_id}><progress max=${progress.chunks_made || 1} value=${progress.chunks_embedded}></progress>
    ${t("{done} of {all} passages are ready.", { done: number(progress.chunks_embedded), all: number(progress.chunks_made) })}</p>`);
}

function TurnActions({ turn, retry, say }) {
  const [rating, setRating] = useState(turn.rating);
  const [comment, setComment] = useState(null);
  const [copied, setCopied] = useState(false);
  const id = turn.body?.query_id;
  const send = async (feedback) => {
    try {
      await call("/v1/feedback", { json: { query_id: id, ...feedback } });
      say(t("Thank you."));
      return true;
    } catch (error) {
      say(error.message);
      return false;
    }
  };
  const rate = async (value) => {
    if (!(await send({ rating: value }))) return;
    setRating((turn.rating = value));
    setComment("");
  };
  const sendComment = async (event) => {
    event.preventDefault();
    if (!comment.trim() || (await send({ rating, comment }))) setComment(null);
  };
  const copy = async () => {
    const done = await copyText(withSources(turn));
    setCopied(done);
    say(done ? t("Copied.") : t("The browser does not let the page copy. Select the text and copy it by hand."));
  };
  return html`<div class="actions">
    ${retry && html`<button type="button" onClick=${retry}>${t("Ask again")}</button>`}
    ${turn.body?.answered && turn.text && html`<button type="button" onClick=${copy}>${copied ? t("Copied") : t("Copy with sources")}</button>`}
    ${id && html`<button type="button" aria-pressed=${rating === "thumbs_up"} aria-label=${t("This answer is good")} title=${t("This answer is good")} onClick=${() => rate("thumbs_up")}><${Thumb} /></button>
      <button type="button" aria-pressed=${rating === "thumbs_down"} aria-label=${t("This answer is bad")} title=${t("This answer is bad")} onClick=${() => rate("thumbs_down")}><${Thumb} down /></button>`}
    ${turn.body?.latency_ms > 0 && html`<small>${t("{seconds} s", { seconds: number(Math.round(turn.body.latency_ms / 100) / 10) })}${turn.body.cached ? ` · ${t("remembered")}` : ""}</small>`}
    ${comment !== null && html`<form onSubmit=${sendComment}><input type="text" maxlength="2000" value=${comment} autofocus
      aria-label=${t("What was good or bad?")} placeholder=${t("What was good or bad?")} onInput=${(event) => setComment(event.target.value)} />
      <button>${t("Send")}</button></form>`}
  </div>`;
}

function Thumb({ down = false }) {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><path transform=${down ? "rotate(180 12 12)" : undefined}
    d="M7 10v11H3V10zm0 1 4-8c1.7 0 2.6 1 2.6 2.6V9h5.2c1.3 0 2.2 1.2 1.9 2.5l-1.6 7c-.2 1-1.1 1.6-2.1 1.6H7" /></svg>`;
}

/** The answer as plain text, with its sources and their quotes below. */
function withSources({ text, body }) {
  const sources = body.sources.map((source) => {
    const quote = citationAt(body.citations, { marker: source.citation_index, start: 0 })?.quoted_text;
    return `[${source.citation_index}] ${placeOf(source)}${quote ? `: “${quote}”` : ""}`;
  });
  return `${text}\n\n${sources.join("\n")}`;
}
