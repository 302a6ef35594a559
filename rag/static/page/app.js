/** The page: what stands around the views, and which view the address names. */

import { html, render, useCallback, useEffect, useErrorBoundary, useRef, useState } from "./vendor/preact-htm.js";
import { call, loginUrl } from "./api.js";
import { AskView } from "./ask.js";
import { listConversations } from "./conversation.js";
import { DocumentView, DocumentsView } from "./documents.js";
import { dateTime, t } from "./i18n.js";
import { addressWith, followLink, navigate, useAddress } from "./routing.js";
import { Viewer, targetOf } from "./viewer.js";

const facts = document.body.dataset;
const STATUS_MS = 10_000;

function App() {
  const { path, parameters } = useAddress();
  const [status, setStatus] = useState({ text: "", quiet: true });
  const say = useCallback((text, { quiet = false } = {}) => setStatus({ text, quiet }), []);
  const [collections, setCollections] = useState([]);
  const [asked, setAsked] = useState(0);
  const [quote, setQuote] = useState(null);
  const [menu, setMenu] = useState(false);
  const [failure] = useErrorBoundary((error) => console.error(error));
  const help = useRef(null);
  const loadCollections = useCallback(() => void readCollections().then(setCollections, (error) => say(error.message)), []);
  useEffect(loadCollections, []);
  useEffect(() => setMenu(false), [path, parameters.toString()]);

  const [, kind, id] = path.split("/");
  const single = kind === "d";
  const open = (citation, quotes) => {
    setQuote({ citation, quotes });
    navigate(addressWith({ d: citation.document_id, start: citation.start_char, end: citation.end_char, page: citation.start_char === undefined ? citation.page_number : "", checksum: citation.checksum }));
  };
  const inDocument = kind === "documents" && id && (parameters.has("start") || parameters.has("page")) ? id : "";
  const target = useQuote(inDocument || parameters.get("d"), parameters, quote);
  const close = () => navigate(addressWith({ d: "", start: "", end: "", page: "", checksum: "" }));
  useShortcuts(help, target && close);
  if (failure) return html`<main class="problem" role="alert"><p>${t("Something on this page went wrong.")}</p><p><button type="button" onClick=${() => location.reload()}>${t("Load it again")}</button></p></main>`;
  const view = () => {
    if (single) return html`<${SharedQuote} id=${id} parameters=${parameters} />`;
    if (kind === "documents" && id) return html`<${DocumentView} key=${id} id=${id} collections=${collections} say=${say} onChanged=${loadCollections} />`;
    if (kind === "documents") return html`<${DocumentsView} parameters=${parameters} collections=${collections} say=${say} onChanged=${loadCollections} />`;
    return html`<${AskView} parameters=${parameters} collections=${collections} onOpen=${open} say=${say} onAsked=${() => setAsked((count) => count + 1)} />`;
  };
  return html`<div class=${`frame ${target ? "with-side" : ""} ${menu ? "menu-open" : ""}`} onClick=${followLink}>
    <a class="skip" href="#main">${t("Skip to the content")}</a>
    <header class="top">
      <button type="button" class="menu-button" aria-expanded=${menu} aria-controls="menu" onClick=${() => setMenu(!menu)}>☰<span class="visually-hidden">${t("Menu")}</span></button>
      <a class="brand" href="/" data-inside>Knowlex</a>
      <nav aria-label=${t("Parts")}>
        <a href="/" data-inside aria-current=${!kind ? "page" : undefined}>${t("Ask")}</a>
        <a href="/documents" data-inside aria-current=${kind === "documents" ? "page" : undefined}>${t("Documents")}</a>
      </nav>
      <button type="button" onClick=${() => help.current.showModal()} aria-label=${t("Keys and help")} title=${t("Keys and help")}>?</button>
    </header>
    <${Conversations} asked=${asked} current=${parameters.get("c")} kept=${kind ? [] : [...parameters].filter(([name]) => name === "collection")} />
    <main id="main" tabindex="-1">${view()}</main>
    ${target && !single && html`<${SidePane} onClose=${close}><${Viewer} target=${target} quotes=${quote?.quotes || []} onTarget=${(citation) => open(citation, quote.quotes)} onClose=${close} /><//>`}
    <${Status} status=${status} />
    <${Help} dialog=${help} />
  </div>`;
}

/** What just happened: for all to see for a while, or if `quiet` for screen readers only. */
function Status({ status }) {
  const element = useRef(null);
  useEffect(() => {
    element.current.togglePopover(Boolean(status.text) && !status.quiet);
    const leaving = setTimeout(() => element.current?.togglePopover(false), STATUS_MS);
    return () => clearTimeout(leaving);
  }, [status]);
  return html`<p class="status" role="status" popover="manual" ref=${element}>${status.text}</p>`;
}

async function readCollections() {
  const found = [];
  let cursor = "";
  do {
    const page = await call(`/v1/collections?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    found.push(...page.collections);
    cursor = page.next_cursor;
  } while (cursor && found.length < 1000);
  return found;
}

/** The open quote: of the last click, or after a reload what the address says. */
function useQuote(id, parameters, quote) {
  const kept = useRef(null);
  if (!id) return (kept.current = null);
  const wanted = targetOf(id, parameters);
  const clicked = quote?.citation;
  const same = (one) => one && one.document_id === id && one.start_char === wanted.start_char && one.end_char === wanted.end_char && (wanted.start_char !== undefined || one.page_number === wanted.page_number);
  if (same(clicked)) return (kept.current = clicked);
  if (!same(kept.current)) kept.current = wanted;
  return kept.current;
}

/** Beside the answer on a wide screen; over everything on a phone. */
function SidePane({ children, onClose }) {
  const dialog = useRef(null);
  const [narrow, setNarrow] = useState(() => matchMedia("(max-width: 60rem)").matches);
  useEffect(() => {
    const media = matchMedia("(max-width: 60rem)");
    const listener = () => setNarrow(media.matches);
    media.addEventListener("change", listener);
    return () => media.removeEventListener("change", listener);
  }, []);
  useEffect(() => narrow && dialog.current?.showModal(), [narrow]);
  return narrow ? html`<dialog class="sheet-dialog" ref=${dialog} onClose=${onClose}>${children}</dialog>` : html`<aside class="side">${children}</aside>`;
}

/** `/d/{id}?start=&end=`: a quote that somebody sent. */
function SharedQuote({ id, parameters }) {
  const kept = useRef(targetOf(id, parameters));
  return html`<div class="shared"><${Viewer} target=${kept.current} quotes=${[]} onTarget=${() => {}} /></div>`;
}

/** @param {{asked: number, current: string | null, kept: string[][]}} props kept: parameters of the address that a new conversation has too. */
function Conversations({ asked, current, kept }) {
  const [q, setQ] = useState("");
  const [state, setState] = useState({ conversations: [], next_cursor: null, q: "" });
  useEffect(() => {
    let live = true;
    const typing = setTimeout(() => listConversations({ q }).then((found) => live && setState({ ...found, q }), () => {}), q ? 200 : 0);
    return () => {
      live = false;
      clearTimeout(typing);
    };
  }, [q, asked]);
  const more = async () => {
    const found = await listConversations({ q, cursor: state.next_cursor });
    setState({ ...state, ...found, conversations: [...state.conversations, ...found.conversations] });
  };
  return html`<nav class="conversations" id="menu" aria-label=${t("Conversations")}>
    <a class="button" href=${`/?${new URLSearchParams([["new", asked + 1], ...kept])}`} data-inside>${t("New conversation")}</a>
    <input type="search" value=${q} maxlength="200" aria-label=${t("Find a conversation")} placeholder=${t("Find a conversation")} onInput=${(event) => setQ(event.target.value)} />
    <ul>${state.conversations.map(({ id, title, last_asked_at }) => html`<li key=${id}><a href=${`/?c=${encodeURIComponent(id)}`} data-inside
      aria-current=${id === current ? "true" : undefined} title=${dateTime(last_asked_at)} dir="auto">${title}</a></li>`)}</ul>
    ${state.q && !state.conversations.length && html`<p class="hint">${t("No conversation found.")}</p>`}
    ${state.next_cursor && html`<button type="button" onClick=${more}>${t("Older ones")}</button>`}
    <p class="foot">${facts.user ? html`<span>${facts.user}</span> <${LogOut} />` : facts.login ? html`<a href=${loginUrl()}>${t("Log in")}</a>` : ""}
      ${"manages" in facts && html`<a href="/admin/">${t("Administration")}</a>`} <a href="/api/docs">API</a></p>
  </nav>`;
}

function LogOut() {
  const leave = async () => {
    await call("/logout", { method: "POST" }).catch(() => null);
    sessionStorage.clear(); // the next one at this screen finds no question that was not sent
    location.assign(facts.login);
  };
  return html`<button type="button" class="link" onClick=${leave}>${t("Log out")}</button>`;
}

function useShortcuts(help, close) {
  useEffect(() => {
    const onKeyDown = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, dialog[open]")) return;
      if (event.key === "/") {
        const field = document.querySelector("#question, [role=search] input");
        if (field) event.preventDefault();
        field?.focus();
      } else if (event.key === "?") help.current.showModal();
      else if (event.key === "Escape") close?.();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [close]);
}

function Help({ dialog }) {
  const keys = [
    ["/", t("go to the question, or to the search")],
    ["Enter", t("ask; Shift and Enter begin a new line")],
    ["Tab", t("from marker to marker; the card of a citation opens by itself")],
    ["Enter", t("on a marker: open the page with the quote marked")],
    ["n  p", t("next and previous quote, in the page")],
    ["PageUp  PageDown", t("previous and next page")],
    ["+  −", t("larger and smaller")],
    ["Esc", t("close what is open")],
    ["?", t("this help")],
  ];
  return html`<dialog ref=${dialog} class="help" aria-labelledby="help-title"><h2 id="help-title">${t("Keys")}</h2>
    <dl>${keys.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <h2>${t("What the signs mean")}</h2>
    <p><b>✓</b> ${t("The statement was checked: it stands in the document word for word, or its facts do and the quote says it.")}</p>
    <p><b>?</b> ${t("It comes from this passage, but the check could not confirm it: read the passage.")}</p>
    <p><b>✗</b> ${t("The documents contradict it, so it lost its source.")}</p>
    <form method="dialog"><button autofocus>${t("Close")}</button></form></dialog>`;
}

render(html`<${App} />`, document.getElementById("page"));
