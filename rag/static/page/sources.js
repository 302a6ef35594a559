/** Sources that stay in sync with a collection: how they stand, runs of them, and making new ones. */

import { html, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { call } from "./api.js";
import { dateTime, number, t, tn } from "./i18n.js";

const KINDS = { folder: () => t("a folder of the server"), webdav: () => t("WebDAV (Nextcloud and others)"), s3: () => t("a bucket of S3") };
const FIELDS = {
  folder: [["path", () => t("Path"), true]],
  webdav: [["url", () => t("Address of the folder"), true], ["username", () => t("User name"), false]],
  s3: [["bucket", () => t("Bucket"), true], ["prefix", () => t("Names begin with"), false], ["endpoint", () => t("Address, empty for AWS"), false], ["region", () => t("Region"), false], ["access_key_id", () => t("Access key"), false]],
};
const SECRETS = { webdav: () => t("Password"), s3: () => t("Secret access key") };
const STATES = {
  idle: () => t("not run yet"),
  pending: () => t("waiting"),
  running: () => t("is running"),
  completed: () => t("in sync"),
  needs_confirmation: () => t("asks whether to delete"),
  failed: () => t("failed"),
};
const COUNTS = {
  unchanged: (n) => tn("{n} unchanged", "{n} unchanged", n),
  added: (n) => tn("{n} new", "{n} new", n),
  replaced: (n) => tn("{n} replaced", "{n} replaced", n),
  moved: (n) => tn("{n} moved", "{n} moved", n),
  present: (n) => tn("{n} already there", "{n} already there", n),
  skipped: (n) => tn("{n} skipped", "{n} skipped", n),
  failed: (n) => tn("{n} failed", "{n} failed", n),
  deleted: (n) => tn("{n} document deleted", "{n} documents deleted", n),
  gone: (n) => tn("{n} file gone", "{n} files gone", n),
};
const MINUTES = [["", () => t("only by hand")], ["15", () => t("every 15 minutes")], ["60", () => t("every hour")], ["1440", () => t("every day")]];
export const POLL_MS = 2000;

/** @param {{collections: any[], say: (text: string) => void, onChanged: () => void}} props */
export function Sources({ collections, say, onChanged }) {
  const [sources, setSources] = useState(null);
  const [open, setOpen] = useState(false);
  const wasRunning = useRef(false);
  const load = async () => {
    try {
      setSources((await call("/v1/sources?limit=100")).sources);
    } catch (error) {
      say(error.message);
    }
  };
  const running = (sources || []).some(({ state }) => state === "pending" || state === "running");
  useEffect(() => void load(), []);
  useEffect(() => {
    if (wasRunning.current && !running) onChanged();
    wasRunning.current = running;
    if (!running) return undefined;
    const polling = setInterval(load, POLL_MS);
    return () => clearInterval(polling);
  }, [running]);
  if (!sources || (!sources.length && !("manages" in document.body.dataset))) return null;
  const act = async (path, options, words) => {
    try {
      await call(path, options);
      if (words) say(words);
    } catch (error) {
      say(error.message);
    }
    await load();
  };
  return html`<details class="origins" open=${open || sources.some(({ state }) => state === "needs_confirmation")} onToggle=${(event) => setOpen(event.target.open)}>
    <summary>${t("Sources that stay in sync")} (${number(sources.length)})</summary>
    <ul>${sources.map((source) => html`<${SourceRow} key=${source.id} source=${source} act=${act} />`)}</ul>
    <${NewSource} collections=${collections} onMade=${load} />
  </details>`;
}

function SourceRow({ source, act }) {
  const { id, name, state, stage, counts, error } = source;
  const running = state === "pending" || state === "running";
  const told = Object.entries(COUNTS).filter(([key]) => counts[key]).map(([key, words]) => words(counts[key]));
  const run = (json, words) => act(`/v1/sources/${id}/sync`, { json }, words);
  const confirmed = () => confirm(t("Delete the documents of {n} files that are gone?", { n: number(counts.gone) })) && run({ confirm_deletions: true }, t("It will be deleted."));
  const remove = () => confirm(t("Delete the source {name}? Its documents stay.", { name })) && act(`/v1/sources/${id}`, { method: "DELETE" }, t("Deleted"));
  return html`<li>
    <p class="origin"><b dir="auto">${name}</b> <small>${KINDS[source.kind]()} → <span dir="auto">${source.collection}</span></small>
      <span class=${`state ${state}`}>${STATES[state]()}${stage ? ` · ${number(counts.listed)}` : ""}</span>
      ${source.ended_at && !running && html`<small>${dateTime(source.ended_at)}</small>`}</p>
    ${told.length > 0 && html`<p class="hint">${source.dry_run ? `${t("Dry run, nothing was changed:")} ` : ""}${told.join(" · ")}${source.waiting ? ` · ${tn("{n} being read in", "{n} being read in", source.waiting)}` : ""}</p>`}
    ${error && html`<p class="problem">${error}</p>`}
    <p class="actions">
      <button type="button" disabled=${running} onClick=${() => run({}, t("The source is being looked through."))}>${t("Sync now")}</button>
      <button type="button" disabled=${running} onClick=${() => run({ dry_run: true })}>${t("Try without changes")}</button>
      ${state === "needs_confirmation" && html`<button type="button" class="danger" onClick=${confirmed}>${t("Delete what is gone")}</button>`}
      <button type="button" class="danger" disabled=${running} onClick=${remove}>${t("Delete")}<span class="visually-hidden"> ${name}</span></button>
    </p></li>`;
}

function NewSource({ collections, onMade }) {
  const [kind, setKind] = useState("folder");
  const [problem, setProblem] = useState("");
  const make = async (event) => {
    event.preventDefault();
    const form = event.target;
    const given = Object.fromEntries(new FormData(form));
    const config = Object.fromEntries(FIELDS[kind].map(([name]) => [name, given[name].trim()]).filter(([, value]) => value));
    try {
      await call("/v1/sources", { json: { name: given.name, collection: given.collection, kind, config, secret: given.secret || "", every_minutes: given.minutes ? Number(given.minutes) : null } });
      form.reset();
      setProblem("");
      onMade();
    } catch (error) {
      setProblem(error.message);
    }
  };
  return html`<details><summary>${t("New source")}</summary>
    <form class="new-origin" onSubmit=${make}>
      <label>${t("Kind")} <select name="kind" value=${kind} onChange=${(event) => setKind(event.target.value)}>${Object.entries(KINDS).map(([key, words]) => html`<option value=${key} selected=${key === kind}>${words()}</option>`)}</select></label>
      <label>${t("Name")} <input name="name" required maxlength="255" /></label>
      <label>${t("Collection")} <select name="collection">${(collections.length ? collections : [{ name: "default" }]).map(({ name }) => html`<option value=${name}>${name}</option>`)}</select></label>
      ${FIELDS[kind].map(([name, words, required]) => html`<label key=${`${kind}.${name}`}>${words()} <input name=${name} required=${required} autocomplete="off" /></label>`)}
      ${SECRETS[kind] && html`<label>${SECRETS[kind]()} <input name="secret" type="password" autocomplete="new-password" /></label>`}
      <label>${t("Schedule")} <select name="minutes">${MINUTES.map(([value, words]) => html`<option value=${value}>${words()}</option>`)}</select></label>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <button>${t("Make the source")}</button>
    </form></details>`;
}
