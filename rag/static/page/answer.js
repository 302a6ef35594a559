/** An answer with its markers, what the check found, and the cards that show a citation. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact-htm.js";
import { t, tn } from "./i18n.js";
import { parseAnswer, splitRun } from "./markup.js";

/** In plain words, with a sign that does not depend on colour. */
export const SUPPORT = {
  exact: { sign: "✓", name: () => t("word for word"), tell: () => t("These words stand in the document.") },
  supported: {
    sign: "✓",
    name: () => t("checked"),
    tell: () => t("Numbers, dates, names and negations were found in the quote, and the quote says it."),
  },
  unverified: {
    sign: "?",
    name: () => t("check it yourself"),
    tell: () => t("It comes from this passage, but the check could not confirm it. Read the passage."),
  },
};

const ROWS = /^(.*, )?rows? (\d+)(?:-(\d+))?$/;

/** The place of a citation in a document: file name and page, slide, rows or chapter. @param {{document_name: string, page_number?: number | null, place?: string | null}} source */
export function placeOf(source) {
  const name = source.document_name || t("a deleted document");
  const { place, page_number: page } = source;
  if (page && place === `slide ${page}`) return t("{name}, slide {page}", { name, page });
  if (page && (!place || place === `page ${page}`)) return t("{name}, page {page}", { name, page });
  const rows = place?.match(ROWS);
  if (rows) return `${name}, ${rows[1]}${rows[3] ? t("rows {first}-{last}", { first: rows[2], last: rows[3] }) : t("row {row}", { row: rows[2] })}`;
  return place ? `${name}, ${place}` : name;
}

/**
 * @param {{text: string, body?: any, onOpen: (citation: any) => void}} props body: of `done`; without it the text is
 *   still being written, and markers cannot be opened yet.
 */
export function AnswerText({ text, body, onOpen }) {
  const [active, setActive] = useState(null);
  const contradicted = body?.contradicted || [];
  const spans = contradicted.map((claim) => [claim.answer_start, claim.answer_end]);
  if (active) spans.push([active.answer_start, active.answer_end]);
  const shown = (run) =>
    splitRun(run, spans).map((piece) => {
      const wrong = contradicted.find((claim) => piece.start >= claim.answer_start && piece.end <= claim.answer_end);
      const chosen = active && piece.start >= active.answer_start && piece.end <= active.answer_end;
      const inner = piece.style ? html`<${piece.style}>${piece.text}<//>` : piece.text;
      if (wrong) return html`<${Contradicted} claim=${wrong} last=${piece.end === wrong.answer_end}>${inner}<//>`;
      return chosen ? html`<span class="claim">${inner}</span>` : inner;
    });
  const inline = (runs) =>
    runs.map((run) => {
      if (!("marker" in run)) return shown(run);
      const citation = body && citationAt(body.citations, run);
      if (!citation) return html`<sup class="marker plain">${run.marker}</sup>`;
      return html`<${Marker} citation=${citation} onOpen=${onOpen} onActive=${setActive} />`;
    });
  return html`<div class="answer" dir="auto">${parseAnswer(text).map((block) => renderBlock(block, inline))}</div>`;
}

function renderBlock({ kind, rows }, inline) {
  switch (kind) {
    case "ul":
    case "ol":
      return html`<${kind} dir="auto">${rows.map((cells) => html`<li>${inline(cells[0])}</li>`)}<//>`;
    case "pre":
      return html`<pre>${rows.map((cells) => [cells[0][0].text, "\n"])}</pre>`;
    case "table":
      return html`<table><tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody></table>`;
    case "heading":
      return html`<p class="heading" dir="auto">${inline(rows[0][0])}</p>`;
    default:
      return html`<p dir="auto">${inline(rows[0][0])}</p>`;
  }
}

/**
 * The citation that a marker stands for: of those with its number, the one whose claim ends nearest to it. Of several
 * quotes of a claim it is the last: where they are rows of a table, the first is its header.
 */
export function citationAt(citations, { marker, start }) {
  const distance = (citation) => Math.abs(citation.answer_end - start);
  return (citations || [])
    .filter((citation) => citation.citation_index === marker)
    .reverse()
    .sort((a, b) => distance(a) - distance(b))[0];
}

function Marker({ citation, onOpen, onActive }) {
  const support = SUPPORT[citation.support];
  const label = t("Source {n}: {place}. {support}.", {
    n: citation.citation_index,
    place: placeOf(citation),
    support: support.name(),
  });
  const card = useCard();
  const set = (shown) => {
    card.show(shown);
    onActive(shown ? citation : null);
  };
  return html`<span class="marker-place" onMouseEnter=${() => set(true)} onMouseLeave=${() => set(false)}>
    <button type="button" class=${`marker ${citation.support}`} aria-label=${label} ref=${card.anchor}
      onFocus=${() => set(true)} onBlur=${() => set(false)} onKeyDown=${(event) => event.key === "Escape" && set(false)}
      onClick=${() => onOpen(citation)}>${citation.citation_index}<span aria-hidden="true">${support.sign}</span></button>
    ${card.shown && html`<${Card} anchor=${card.anchor}>
      <b class="place">${placeOf(citation)}</b>
      <q dir="auto">${citation.quoted_text ?? t("The document was deleted; what it said is gone.")}</q>
      <span class=${`state ${citation.support}`}>${support.sign} ${support.name()}</span>
      <small>${support.tell()}</small>
      ${citation.status === "replaced" && html`<small>${t("The document has a newer version; this is what the former one said.")}</small>`}
    <//>`}
  </span>`;
}

/** A claim that the documents contradict; its explanation opens like a citation's card. */
function Contradicted({ claim, last, children }) {
  const card = useCard();
  const missing = claim.missing?.length
    ? t("Not in the documents: {what}.", { what: claim.missing.join(", ") })
    : t("The documents say otherwise.");
  return html`<span class="contradicted">${children}</span>${last &&
  html`<span class="marker-place" onMouseEnter=${() => card.show(true)} onMouseLeave=${() => card.show(false)}>
    <button type="button" class="marker withdrawn" ref=${card.anchor} aria-label=${t("Withdrawn. {missing}", { missing })}
      onFocus=${() => card.show(true)} onBlur=${() => card.show(false)}
      onKeyDown=${(event) => event.key === "Escape" && card.show(false)}>✗</button>
    ${card.shown && html`<${Card} anchor=${card.anchor}><b>${t("Withdrawn by the check")}</b><span>${missing}</span><//>`}
  </span>`}`;
}

/** The state of a card that opens on hover and focus; it stays while the pointer is on its way into it. */
function useCard() {
  const [shown, setShown] = useState(false);
  const anchor = useRef(null);
  const closing = useRef(0);
  useEffect(() => () => clearTimeout(closing.current), []);
  const show = (wanted) => {
    clearTimeout(closing.current);
    if (wanted) setShown(true);
    else closing.current = setTimeout(() => setShown(false), 150);
  };
  return { anchor, shown, show };
}

/** In the top layer, above or below its anchor, inside the window. */
function Card({ anchor, children }) {
  const card = useRef(null);
  useLayoutEffect(() => {
    const element = card.current;
    element.showPopover?.();
    const at = anchor.current.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const above = at.top - height - 6;
    element.style.left = `${Math.max(8, Math.min(at.left - 12, innerWidth - width - 8))}px`;
    element.style.top = `${above > 8 ? above : at.bottom + 6}px`;
  }, []);
  return html`<span class="card" popover="manual" role="tooltip" ref=${card}>${children}</span>`;
}

/** What the check found, in one line. @param {{body: any}} props */
export function Verification({ body }) {
  const counts = body.verification;
  if (!counts || !body.answered) return null;
  const verified = counts.exact + counts.supported;
  const parts = [
    verified && html`<span class="state exact">✓ ${tn("{n} statement checked", "{n} statements checked", verified)}</span>`,
    counts.unverified && html`<span class="state unverified">? ${tn("{n} to check yourself", "{n} to check yourself", counts.unverified)}</span>`,
    counts.contradicted && html`<span class="state withdrawn">✗ ${tn("{n} withdrawn", "{n} withdrawn", counts.contradicted)}</span>`,
    counts.uncited && html`<span class="state uncited">– ${tn("{n} without a source", "{n} without a source", counts.uncited)}</span>`,
  ].filter(Boolean);
  return parts.length ? html`<p class="verification">${parts}</p>` : null;
}
