/** The views of the library: all documents, bringing new ones in, and one document with its pages. */

import { Component, html, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { call, problemText, query } from "./api.js";
import { dateTime, duration, fileSize, number, t, tn } from "./i18n.js";
import { addressWith, navigate, useTitle } from "./routing.js";
import { POLL_MS, Sources } from "./sources.js";
import { droppedFiles, progressOf, uploads } from "./upload.js";

const STATUS = {
  pending: () => t("waiting"),
  processing: () => t("being read in"),
  completed: () => t("ready"),
  failed: () => t("failed"),
};
const SORTS = { "-created_at": () => t("newest first"), created_at: () => t("oldest first"), title: () => t("by title"), "-size": () => t("largest first") };
const TYPES = ["PDF", "MARKDOWN", "HTML", "DOCX", "TEXT", "XLSX", "CSV", "PPTX", "ODT", "RTF", "EPUB", "EML", "MSG"];

/** @param {{parameters: URLSearchParams, collections: any[], say: (text: string) => void, onChanged: () => void}} props */
export function DocumentsView({ parameters, collections, say, onChanged }) {
  const wanted = {
    q: parameters.get("q") || "",
    collection: parameters.get("collection") || "",
    status: parameters.get("status") || "",
    type: parameters.get("type") || "",
    sort: parameters.get("sort") || "-created_at",
  };
  const list = useList(wanted, say);
  useTitle(t("Documents"));
  const set = (name) => (event) => navigate(addressWith({ [name]: event.target.value }), { replace: name === "q" });
  return html`<section class="documents">
    <h1>${t("Documents")}</h1>
    <${DropZone} collections=${collections} chosen=${wanted.collection} say=${say} onEnded=${() => { list.reload(); onChanged(); }} />
    <${Sources} collections=${collections} say=${say} onChanged=${() => { list.reload(); onChanged(); }} />
    <form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
      <input type="search" value=${wanted.q} maxlength="200" placeholder=${t("Find by name or title")} aria-label=${t("Find by name or title")} onInput=${set("q")} />
      <${Choice} label=${t("Collection")} value=${wanted.collection} onChange=${set("collection")} options=${[["", t("all collections")], ...collections.map(({ name }) => [name, name])]} />
      <${Choice} label=${t("State")} value=${wanted.status} onChange=${set("status")} options=${[["", t("in any state")], ...Object.entries(STATUS).map(([key, name]) => [key, name()])]} />
      <${Choice} label=${t("Type")} value=${wanted.type} onChange=${set("type")} options=${[["", t("of any type")], ...TYPES.map((type) => [type, type])]} />
      <${Choice} label=${t("Order")} value=${wanted.sort} onChange=${set("sort")} options=${Object.entries(SORTS).map(([key, name]) => [key, name()])} />
    </form>
    ${list.error && html`<p class="problem" role="alert">${list.error.message}</p>`}
    <ul class="library">${list.batches.map(({ documents }) => html`<${Batch} key=${documents[0].id} documents=${documents} />`)}</ul>
    ${!list.loading && !list.batches.length && !list.error && html`<p class="hint">${wanted.q || wanted.status || wanted.type || wanted.collection ? t("No document fits.") : t("There are no documents yet. Drop some above.")}</p>`}
    <div ref=${list.end} class="end">${list.loading && html`<p class="hint">${t("Loading …")}</p>`}</div>
  </section>`;
}

const isUnsettled = ({ processing, replacing }) => replacing || processing.status === "pending" || processing.status === "processing";

/** A list that reads on when its end comes into view. */
function useList(wanted, say) {
  const [state, setState] = useState({ batches: [], cursor: null, loading: true, error: null });
  const [round, setRound] = useState(0);
  const end = useRef(null);
  const reading = useRef(null);
  const key = JSON.stringify(wanted);
  const find = (cursor, signal) => call(`/v1/documents${query({ ...wanted, limit: 50, cursor })}`, { signal });
  const read = async (cursor, before) => {
    reading.current?.abort();
    const leaving = (reading.current = new AbortController());
    setState((old) => ({ ...old, loading: true }));
    try {
      const found = await find(cursor, leaving.signal);
      setState({ batches: [...before, { cursor, documents: found.documents }].filter(({ documents }) => documents.length), cursor: found.next_cursor, loading: false, error: null });
      if (!cursor) say(tn("{n} document shown.", "{n} documents shown.", found.documents.length), { quiet: true });
    } catch (error) {
      if (!leaving.signal.aborted) setState((old) => ({ ...old, loading: false, error }));
    }
  };
  useEffect(() => {
    const typing = setTimeout(() => read(null, []), wanted.q && !round ? 150 : 0);
    return () => clearTimeout(typing);
  }, [key, round]);
  useEffect(() => {
    if (!state.cursor || state.loading) return undefined;
    const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && read(state.cursor, state.batches), { rootMargin: "600px" });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [state]);
  useEffect(() => {
    const isOpen = ({ documents }) => documents.some(isUnsettled);
    if (state.loading || !state.batches.some(isOpen)) return undefined;
    const leaving = new AbortController();
    const again = async (batch) => (isOpen(batch) ? { ...batch, documents: (await find(batch.cursor, leaving.signal)).documents } : batch);
    const polling = setTimeout(async () => {
      const batches = await Promise.all(state.batches.map(again)).catch(() => state.batches);
      if (!leaving.signal.aborted) setState({ ...state, batches: batches.filter(({ documents }) => documents.length) });
    }, POLL_MS);
    return () => {
      clearTimeout(polling);
      leaving.abort();
    };
  }, [state]);
  return { ...state, end, reload: () => setRound((count) => count + 1) };
}

export function Choice({ label, value, options, onChange }) {
  return html`<select aria-label=${label} value=${value} onChange=${onChange}>${options.map(([key, name]) => html`<option value=${key} selected=${key === value}>${name}</option>`)}</select>`;
}

/** Rows that were read together. They are drawn once: whoever scrolls through 100,000 documents waits for the new rows only. */
class Batch extends Component {
  shouldComponentUpdate({ documents }) {
    return documents !== this.props.documents;
  }

  render({ documents }) {
    return documents.map((document) => html`<${Row} key=${document.id} document=${document} />`);
  }
}

function Row({ document }) {
  const { processing } = document;
  return html`<li><a href=${`/documents/${document.id}`} data-inside>
    <span class="name"><b dir="auto">${document.filename}</b>${document.title && document.title !== document.filename && html` <span dir="auto">${document.title}</span>`}</span>
    <span class=${`state ${processing.status}`}>${STATUS[processing.status]()}${document.replacing ? ` · ${t("new version on its way")}` : ""}</span>
    <small>${document.page_count ? tn("{n} page", "{n} pages", document.page_count) : ""}</small>
    <small>${document.size_bytes === null ? "" : fileSize(document.size_bytes)}</small>
    <small>${dateTime(document.created_at)}</small>
  </a></li>`;
}

function DropZone({ collections, chosen, say, onEnded }) {
  const [over, setOver] = useState(false);
  const [wanted, setWanted] = useState(chosen);
  const names = collections.map(({ name }) => name);
  const collection = [wanted, "default", ...names].find((name) => names.includes(name)) || "default";
  const [, render] = useState(0);
  const wasRunning = useRef(uploads.running);
  useEffect(() => setWanted(chosen), [chosen]);
  useEffect(() => {
    const listener = () => {
      render((count) => count + 1);
      if (wasRunning.current && !uploads.running) onEnded();
      wasRunning.current = uploads.running;
    };
    uploads.listeners.add(listener);
    return () => void uploads.listeners.delete(listener);
  }, []);
  const take = (files) => files.length && uploads.add(files, collection);
  const onDrop = async (event) => {
    event.preventDefault();
    setOver(false);
    take(await droppedFiles(event.dataTransfer));
  };
  const onChoose = (event) => {
    take([...event.target.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    event.target.value = "";
  };
  return html`<div class=${`drop ${over ? "over" : ""}`} onDragOver=${(event) => { event.preventDefault(); setOver(true); }}
      onDragLeave=${() => setOver(false)} onDrop=${onDrop}>
    <p>${t("Drop files or folders here: PDF, office files, mail, e-books, web pages, Markdown or text")}</p>
    <p><label class="button primary">${t("Choose files")}<input type="file" multiple class="visually-hidden" onChange=${onChoose} /></label>
      <label class="button">${t("Choose a folder")}<input type="file" webkitdirectory class="visually-hidden" onChange=${onChoose} /></label>
      <label>${t("into")} <${Choice} label=${t("Collection of new documents")} value=${collection} onChange=${(event) => setWanted(event.target.value)} options=${names.map((name) => [name, name])} /></label></p>
    ${uploads.items.length > 0 && html`<ul class="uploads">${uploads.items.filter(({ state }, index) => index < 200 || state === "failed" || state === "refused").map((item) => html`<${UploadRow} key=${item.key} item=${item} say=${say} onChanged=${onEnded} />`)}</ul>
      ${uploads.running
        ? uploads.items.length > 1 && html`<p class="hint">${t("{done} of {all} files are done.", { done: number(uploads.ended), all: number(uploads.items.length) })}</p>`
        : html`<button type="button" onClick=${() => uploads.forgetEnded()}>${t("Clear this list")}</button>`}`}
  </div>`;
}

function UploadRow({ item, say, onChanged }) {
  const { share, seconds } = progressOf(item);
  const document = item.document;
  const name = html`<b dir="auto">${item.path}</b>`;
  switch (item.state) {
    case "completed":
      return html`<li class="completed">${name} <span>✓ ${t("ready")}</span> <a href=${`/documents/${document.id}`} data-inside>${t("open")}</a>
        <a href=${`/?document=${document.id}&name=${encodeURIComponent(document.filename)}`} data-inside>${t("ask about it")}</a>
        ${item.older && html`<${Older} item=${item} say=${say} onChanged=${onChanged} />`}</li>`;
    case "duplicate":
      return html`<li class="duplicate">${name} <span>${t("is already here")}</span> ${document.duplicate_of && html`<a href=${`/documents/${document.duplicate_of}`} data-inside>${t("show it")}</a>`}</li>`;
    case "failed":
    case "refused":
      return html`<li class="failed">${name} <span>✗ ${item.message}</span> <button type="button" onClick=${() => uploads.retry(item)}>${t("Try again")}</button></li>`;
    default:
      return html`<li>${name} <progress max="1" value=${share} aria-label=${item.path}></progress> <span>${stageText(item)}${seconds ? ` · ${t("{time} left", { time: duration(seconds) })}` : ""}</span></li>`;
  }
}

/** Both are asked until one goes: what was true last year stands beside what is true now. */
function Older({ item, say, onChanged }) {
  const { id, filename, created_at: at } = item.older;
  const remove = async () => {
    if (!confirm(t("Delete {name}, its passages and what past answers quote from it?", { name: filename }))) return;
    await uploads.deleteOlder(item).then(onChanged, (error) => say(error.message));
  };
  return html`<small>${t("Another one of this name is here, of {time}.", { time: dateTime(at) })} <a href=${`/documents/${id}`} data-inside>${t("show it")}</a>
    <button type="button" class="danger" onClick=${remove}>${t("Delete the older one")}</button></small>`;
}

function stageText({ state, document }) {
  if (state === "waiting") return t("waiting");
  if (state === "sending") return t("sending");
  if (!document || document.status === "pending") return t("waiting to be read");
  if (document.chunks_made) return t("{done} of {all} passages", { done: number(document.chunks_embedded), all: number(document.chunks_made) });
  if (document.pages_total) return t("{done} of {all} pages", { done: number(document.pages_extracted), all: number(document.pages_total) });
  return t("being read");
}

const READ_BY = {
  pdfium: () => t("read as text"),
  pypdf: () => t("read as text, by the second reader"),
  text: () => t("read as text"),
  ocr: () => t("read from a picture (OCR): there may be mistakes"),
  none: () => t("nothing to read on it"),
  unread: () => t("not read: it is a picture"),
};

/** @param {{id: string, collections: any[], say: (text: string) => void, onChanged: () => void}} props */
export function DocumentView({ id, collections, say, onChanged }) {
  const [state, setState] = useState({});
  const load = () =>
    Promise.all([call(`/v1/documents/${id}`), call(`/v1/documents/${id}/pages`), call(`/v1/documents/${id}/chunks?limit=100`)])
      .then(([document, { pages }, { chunks, next_cursor }]) => setState({ document, pages, chunks, next: next_cursor }))
      .catch((error) => setState((old) => (old.receipt ? old : { error })));
  useEffect(() => void load(), [id]);
  useEffect(() => {
    if (!state.document || !isUnsettled(state.document)) return undefined;
    const polling = setTimeout(load, POLL_MS);
    return () => clearTimeout(polling);
  }, [state]);
  const { document, pages, chunks, next, error, receipt } = state;
  useTitle(document?.filename || t("Document"));
  if (receipt) return html`<section class="document"><h1>${t("Deleted")}</h1><p role="status">${receipt}</p><p><a href="/documents" data-inside>${t("All documents")}</a></p></section>`;
  if (error) return html`<section class="document"><p class="problem" role="alert">${error.message}</p><p><a href="/documents" data-inside>${t("All documents")}</a></p></section>`;
  if (!document) return html`<section class="document"><p class="hint">${t("Loading …")}</p></section>`;
  const readOn = async () => {
    try {
      const more = await call(`/v1/documents/${id}/chunks${query({ limit: 100, cursor: next })}`);
      setState({ ...state, chunks: [...chunks, ...more.chunks], next: more.next_cursor });
    } catch (problem) {
      say(problem.message);
    }
  };
  const remove = async () => {
    if (!confirm(t("Delete {name}, its passages and what past answers quote from it?", { name: document.filename }))) return;
    try {
      const gone = await call(`/v1/documents/${id}`, { method: "DELETE" });
      setState({ receipt: t("{pages}, {chunks}, {vectors} and the file are gone.", { pages: tn("{n} page", "{n} pages", gone.pages_removed), chunks: tn("{n} passage", "{n} passages", gone.chunks_removed), vectors: tn("{n} vector", "{n} vectors", gone.vectors_removed) }) });
      onChanged();
    } catch (problem) {
      say(problem.message);
    }
  };
  return html`<section class="document">
    <p><a href="/documents" data-inside>‹ ${t("All documents")}</a></p>
    <h1 dir="auto">${document.filename}</h1>
    ${document.title && document.title !== document.filename && html`<p dir="auto">${document.title}</p>`}
    <${Facts} document=${document} collection=${collections.find((collection) => collection.id === document.collection_id)?.name} />
    <${DocumentActions} document=${document} reload=${load} remove=${remove} say=${say} />
    ${document.warnings.map((warning) => html`<p class="notice">⚠ ${warning}</p>`)}
    <${PageStrip} pages=${pages} id=${id} type=${document.type} />
    ${chunks.length > 0 && html`<h2>${t("Passages")}</h2>`}
    <ul class="sources chunks">${chunks.map((chunk) => html`<li key=${chunk.id}><button type="button" onClick=${() => navigate(addressWith({ start: chunk.position.start_char, end: chunk.position.end_char, page: "" }))}>
      <b>${document.type === "xlsx" ? chunk.metadata.chapter : chunk.position.page_number ? t("page {page}", { page: chunk.position.page_number }) : number(chunk.chunk_index + 1)}${chunk.metadata.section_title ? ` · ${chunk.metadata.section_title}` : ""}</b>
      <span dir="auto">${chunk.content.slice(0, 240)}</span></button></li>`)}</ul>
    ${next && html`<p><button type="button" onClick=${readOn}>${t("More passages")}</button></p>`}
  </section>`;
}

function Facts({ document, collection }) {
  const { processing } = document;
  const facts = [
    [t("State"), STATUS[processing.status]()],
    [t("Collection"), collection ? html`<a href=${`/documents${query({ collection })}`} data-inside>${collection}</a>` : "–"],
    [t("Type"), document.type ? document.type.toUpperCase() : "–"],
    [t("Pages"), number(document.page_count)],
    [t("Passages"), number(processing.chunk_count)],
    [t("Size"), document.size_bytes === null ? "–" : fileSize(document.size_bytes)],
    [t("Language"), document.language ? new Intl.DisplayNames([globalThis.document.documentElement.lang], { type: "language" }).of(document.language) : "–"],
    [t("Brought in"), dateTime(document.created_at)],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${processing.error_message && html`<p class="problem">${problemText(processing.error_code, processing.error_message)}</p>`}`;
}

function DocumentActions({ document, reload, remove, say }) {
  const replace = async (event) => {
    const form = new FormData();
    form.append("file", event.target.files[0]);
    event.target.value = "";
    try {
      const reply = await call(`/v1/documents/${document.id}`, { method: "PUT", body: form });
      say(reply.status === "unchanged" ? t("It is the same file; nothing was changed.") : t("The new version is being read. The old one answers until it is ready."));
      if (reply.job_id) {
        await reload();
        say(await outcomeOf(reply.job_id));
      }
      reload();
    } catch (error) {
      say(error.message);
    }
  };
  const retry = async () => {
    try {
      await call(`/v1/documents/${document.id}/retry`, { method: "POST" });
      say(t("It is being read again."));
    } catch (error) {
      say(error.message);
    }
    reload();
  };
  return html`<p class="actions">
    ${document.processing.status === "completed" && html`<a class="button primary" href=${`/?document=${document.id}&name=${encodeURIComponent(document.filename)}`} data-inside>${t("Ask about this document")}</a>`}
    <a class="button" href=${`/v1/documents/${document.id}/file`} download>${t("Original file")}</a>
    ${document.processing.status === "failed" && html`<button type="button" onClick=${retry}>${t("Try again")}</button>`}
    <label class="button">${t("Replace")}<input type="file" class="visually-hidden" onChange=${replace} /></label>
    <button type="button" class="danger" onClick=${remove}>${t("Delete")}</button>
  </p>`;
}

/** Wait until the new version of a document is read, and tell how that ended. */
async function outcomeOf(jobId) {
  for (;;) {
    const [{ status, error, error_code: code }] = (await call(`/v1/ingest/${jobId}?wait=20`)).documents;
    if (status === "completed") return t("The new version is here.");
    if (status === "failed") return t("The new version was not taken; the old one stays. {problem}", { problem: problemText(code, error) });
  }
}

/** All pages as a strip: the colour and the label say how each was read; a click opens it. */
function PageStrip({ pages, id, type }) {
  if (pages.length < 2 || type !== "pdf") return null;
  const kind = (page) => (page.warnings.includes("image_only") ? "unread" : page.read_by);
  const kinds = [...new Set(pages.map(kind))];
  return html`<h2>${t("Pages")}</h2>
    <ul class="strip">${pages.map((page) => html`<li><a class=${kind(page)} href=${`/documents/${id}?page=${page.page_number}`} data-inside
      title=${`${t("Page {page}", { page: page.page_number })}: ${READ_BY[kind(page)]()}`}>${page.page_number}</a></li>`)}</ul>
    <p class="legend">${kinds.map((one) => html`<span><i class=${one}></i> ${READ_BY[one]()}</span>`)}</p>`;
}
