/** A page of a document beside the answer, with the quote marked where it stands. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact-htm.js";
import { call, query } from "./api.js";
import { copyText } from "./copying.js";
import { t } from "./i18n.js";
import { useTitle } from "./routing.js";

const WIDTHS = [400, 800, 1200, 1600];
const LEAST_LETTER_PX = 13; // smaller than this nobody reads: the page is enlarged

/**
 * @typedef {{document_id: string, document_name?: string, start_char?: number, end_char?: number, page_number?: number, checksum?: string, quoted_text?: string}} Target
 * @param {{target: Target, quotes: Target[], onTarget: (target: Target) => void, onClose?: () => void}} props
 *   quotes: all citations of the answer, for the next and the previous one.
 */
export function Viewer({ target, quotes, onTarget, onClose }) {
  const shown = useHighlights(target);
  const root = useRef(null);
  useEffect(() => {
    if (!onClose) return undefined;
    const opener = document.activeElement; // has the focus again when the page is closed
    root.current.focus({ preventScroll: true });
    return () => opener.focus();
  }, []);
  const [page, setPage] = useState(0);
  const [zoom, setZoom] = useState(0);
  useEffect(() => {
    setPage(0);
    setZoom(0);
  }, [target]);
  const index = quotes.findIndex((quote) => quote === target);
  const go = (step) => quotes.length > 1 && onTarget(quotes[(index + step + quotes.length) % quotes.length]);
  const { data, error } = shown;
  const replaced = data && (data.replaced || target.status === "replaced");
  const number = page || data?.pages[0]?.number || target.page_number || 1;
  const turn = (step) => setPage(Math.min(Math.max(1, number + step), data.document.page_count));
  const onKeyDown = (event) => {
    if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = { n: () => go(1), p: () => go(-1), "+": () => setZoom((zoom || 1) * 1.25), "-": () => setZoom((zoom || 1) / 1.25), PageDown: () => turn(1), PageUp: () => turn(-1), Escape: onClose }[event.key];
    if (action && (data || event.key === "Escape")) {
      event.preventDefault();
      action();
    }
  };
  const name = data?.document.filename || target.document_name || t("Document");
  useTitle(onClose ? undefined : name);
  return html`<section class="viewer" tabindex="-1" ref=${root} aria-label=${name} onKeyDown=${onKeyDown}>
    <header>
      <h2><a href=${`/documents/${target.document_id}`} data-inside>${name}</a></h2>
      ${data && html`<span class="pages">
        ${data.document.has_pages
          ? html`<button type="button" aria-label=${t("Previous page")} disabled=${number <= 1} onClick=${() => turn(-1)}>‹</button>
            <span>${t("page {page} of {count}", { page: number, count: data.document.page_count })}</span>
            <button type="button" aria-label=${t("Next page")} disabled=${number >= data.document.page_count} onClick=${() => turn(1)}>›</button>
            <button type="button" aria-label=${t("Smaller")} onClick=${() => setZoom((zoom || 1) / 1.25)}>−</button>
            <button type="button" aria-label=${t("Larger")} onClick=${() => setZoom((zoom || 1) * 1.25)}>+</button>`
          : null}
      </span>`}
      ${quotes.length > 1 && html`<span class="quotes"><button type="button" onClick=${() => go(-1)} aria-label=${t("Previous quote")}>↑</button>
        <span>${t("quote {n} of {count}", { n: index + 1, count: quotes.length })}</span>
        <button type="button" onClick=${() => go(1)} aria-label=${t("Next quote")}>↓</button></span>`}
      <span class="links">
        ${data && html`<a href=${`/v1/documents/${target.document_id}/file`} download>${t("Original file")}</a>`}
        <${CopyLink} target=${target} />
        ${onClose && html`<button type="button" class="close" onClick=${onClose} aria-label=${t("Close the page")}>✕</button>`}
      </span>
    </header>
    ${error && html`<p class="problem" role="alert">${error.message}</p>`}
    ${replaced && html`<p class="notice" role="status">${t("This document has a newer version. The quote is of an earlier one and may stand elsewhere now, or nowhere.")}</p>`}
    ${replaced && target.quoted_text && html`<blockquote dir="auto">${target.quoted_text}</blockquote>`}
    ${data && !replaced && data.pages.some(({ method }) => method === "none") && data.quoted_text && html`<p class="notice">${t("The place on the page is not known for sure. The quote:")} <q dir="auto">${data.quoted_text}</q></p>`}
    ${data && (data.document.has_pages
      ? html`<${PageOfPdf} key=${`${target.document_id}/${number}`} id=${target.document_id} number=${number} zoom=${zoom}
          checksum=${data.document.content_hash} marked=${replaced ? null : data.pages.find((one) => one.number === number)} />`
      : html`<${PageOfText} key=${target.document_id} id=${target.document_id} data=${data} />`)}
  </section>`;
}

function useHighlights(target) {
  const [shown, setShown] = useState({});
  useEffect(() => {
    const leaving = new AbortController();
    setShown({});
    const asked = { start: target.start_char, end: target.end_char, checksum: target.checksum };
    call(`/v1/documents/${target.document_id}/highlights${query(asked)}`, { signal: leaving.signal })
      .then((data) => setShown({ data }))
      .catch((error) => leaving.signal.aborted || setShown({ error }));
    return () => leaving.abort();
  }, [target]);
  return shown;
}

/** The picture of a page, the quote's rectangles, and the text as a transparent layer to select and to read aloud. */
function PageOfPdf({ id, number, zoom, checksum, marked }) {
  const [layout, setLayout] = useState(null);
  const [failure, setFailure] = useState("");
  const scroller = useRef(null);
  const [room, setRoom] = useState(0);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setRoom(entry.contentRect.width));
    watch.observe(scroller.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const leaving = new AbortController();
    call(`/v1/documents/${id}/pages/${number}`, { signal: leaving.signal })
      .then(setLayout)
      .catch((error) => leaving.signal.aborted || setFailure(error.message));
    return () => leaving.abort();
  }, [id, number]);
  const rects = marked?.rects || [];
  const size = marked || layout;
  const scale = zoom || readableZoom(rects, size, room);
  const width = Math.round(room * scale);
  const wanted = WIDTHS.find((one) => one >= width * Math.min(devicePixelRatio, 2)) || WIDTHS.at(-1);
  useLayoutEffect(() => {
    if (!rects.length || !width || !size) return;
    const [x0, y0, x1, y1] = rects[0];
    const height = (width * size.height) / size.width;
    scroller.current.scrollTo({
      top: ((y0 + y1) / 2) * height - scroller.current.clientHeight / 3,
      left: ((x0 + x1) / 2) * width - room / 2,
    });
  }, [marked, width, Boolean(size)]);
  return html`<div class="sheet" ref=${scroller} tabindex="0" aria-label=${t("Page {page}", { page: number })}>
    ${size && width > 0 && html`<div class="paper" style=${{ width: `${width}px`, aspectRatio: `${size.width} / ${size.height}` }}>
      <img alt="" decoding="async" src=${`/v1/documents/${id}/pages/${number}/image${query({ width: wanted, checksum })}`}
        onError=${() => setFailure(t("The page cannot be drawn."))} />
      <svg viewBox=${`0 0 ${size.width} ${size.height}`} preserveAspectRatio="none" role="document" aria-label=${t("Text of page {page}", { page: number })}>
        <g class="marks">${rects.map(([x0, y0, x1, y1]) => html`<rect x=${x0 * size.width - 1} y=${y0 * size.height - 1}
          width=${(x1 - x0) * size.width + 2} height=${(y1 - y0) * size.height + 2} rx="1.5" />`)}</g>
        ${layout?.lines?.map(({ text, box: [x0, y0, x1, y1] }) => html`<text x=${x0 * size.width} y=${y1 * size.height - (y1 - y0) * size.height * 0.22}
          font-size=${(y1 - y0) * size.height} textLength=${(x1 - x0) * size.width} lengthAdjust="spacingAndGlyphs">${text}</text>`)}
      </svg>
    </div>`}
    ${failure && html`<p class="problem" role="alert">${failure}</p>${layout && html`<p class="plain" dir="auto">${layout.text}</p>`}`}
  </div>`;
}

/** Enlarge until the quote's letters can be read; the whole width otherwise. */
function readableZoom(rects, size, room) {
  if (!rects.length || !size || !room) return 1;
  const heights = rects.map(([, y0, , y1]) => (y1 - y0) * ((room * size.height) / size.width)).sort((a, b) => a - b);
  const letter = heights[heights.length >> 1];
  return Math.min(2.5, Math.max(1, LEAST_LETTER_PX / letter));
}

/** The text of a document without pages, around the quote. */
function PageOfText({ id, data }) {
  const mark = useRef(null);
  useLayoutEffect(() => mark.current?.scrollIntoView({ block: "center" }), [data]);
  const { before, quote, after } = data.text || {};
  return html`<div class="sheet text" tabindex="0" key=${id}><p class="plain" dir="auto">${before}${quote && html`<mark ref=${mark}>${quote}</mark>`}${after}</p></div>`;
}

function CopyLink({ target }) {
  const [copied, setCopied] = useState(null);
  useEffect(() => setCopied(null), [target]);
  const link = new URL(linkTo(target), location.origin).href;
  if (copied === false) return html`<label>${t("Copy it by hand:")} <input readonly value=${link} onFocus=${(event) => event.target.select()} /></label>`;
  const copy = async () => setCopied(await copyText(link));
  return html`<button type="button" onClick=${copy}>${copied ? t("Copied") : t("Copy link")}</button>`;
}

/** The address of a quote that can be sent to somebody. @param {Target} target */
export function linkTo({ document_id, start_char, end_char, checksum, page_number }) {
  const asked = start_char === undefined ? { page: page_number } : { start: start_char, end: end_char };
  return `/d/${document_id}${query({ ...asked, checksum })}`;
}

/** The target that an address names: of `/d/{id}`, or of the parameters that hold an open quote. */
export function targetOf(documentId, parameters) {
  const value = (name) => (parameters.get(name) ? Number(parameters.get(name)) : undefined);
  return {
    document_id: documentId,
    start_char: value("start"),
    end_char: value("end"),
    page_number: value("page"),
    checksum: parameters.get("checksum") || undefined,
  };
}
