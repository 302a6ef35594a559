/** Uploads: files that were dropped or chosen, sent a few at a time, and how far each is until it can be asked. */

import { ApiError, asSentence, call, problemText, query, upload } from "./api.js";
import { t } from "./i18n.js";

const AT_ONCE = 2; // forms that are sent
const FOLLOWED = 3; // jobs: the browser has six connections, and a minute has some hundred requests
const MOST_FILES = 50; // of a form, which is one job
const MOST_BYTES = 10_000_000;
const MOST_TRIES = 60; // while too many requests are made in a minute
const OF_A_FILE = new Set([400, 413, 415, 422]); // the form was refused because of one of its files
const ENDED = new Set(["completed", "failed", "duplicate", "refused"]);

/**
 * @typedef {{key: number, file: File, path: string, state: "waiting" | "sending" | "reading" | "completed" | "failed" | "duplicate" | "refused",
 *   sent: number, document: any, message: string, since: number, older: any, job: string, alone: boolean}} UploadItem
 *   alone: it goes in a form of its own.
 *   older: another document of the same name that was there before, mostly an earlier version; else null.
 *   state "refused": the server did not take the file, and nothing of it is there.
 */

let count = 0;

/** All uploads of this page. Listeners are called when any of them gets on. */
export const uploads = {
  /** @type {UploadItem[]} */
  items: [],
  listeners: new Set(),
  sending: 0,
  following: 0,
  jobs: [], // that nobody follows yet

  /** @param {{file: File, path: string}[]} files @param {string} collection */
  add(files, collection) {
    const items = files.map(({ file, path }) => ({
      key: ++count, file, path, collection, state: "waiting", sent: 0, document: null, message: "", since: 0, older: null, job: "", alone: false,
    }));
    this.items = [...items, ...this.items];
    this.next();
  },

  retry(item) {
    Object.assign(item, { state: "waiting", sent: 0, document: null, message: "" });
    this.next();
  },

  forgetEnded() {
    this.items = this.items.filter((item) => !ENDED.has(item.state));
    this.changed();
  },

  get ended() {
    return this.items.filter((item) => ENDED.has(item.state)).length;
  },

  get running() {
    return this.ended < this.items.length;
  },

  changed() {
    for (const listener of this.listeners) listener();
  },

  next() {
    this.changed();
    for (let items; this.sending < AT_ONCE && (items = this.nextForm()).length; ) this.send(items);
  },

  /** The files that have waited longest, as many as go into one form. */
  nextForm() {
    const waiting = this.items.filter(({ state }) => state === "waiting").sort((a, b) => a.key - b.key);
    let bytes = 0;
    const end = waiting.findIndex((item, index) => {
      bytes += item.file.size;
      return index && (index === MOST_FILES || bytes > MOST_BYTES || item.alone || waiting[0].alone || item.collection !== waiting[0].collection);
    });
    return end < 0 ? waiting : waiting.slice(0, end);
  },

  async send(items) {
    const set = (values) => {
      for (const item of items) Object.assign(item, values);
      this.changed();
    };
    this.sending += 1;
    set({ state: "sending" });
    const form = new FormData();
    form.append("collection_id", items[0].collection);
    for (const { file } of items) form.append("file", file, file.name);
    try {
      const job = await patiently(() => upload("/v1/ingest", form, (sent) => set({ sent })));
      set({ state: "reading", since: Date.now(), job: job.job_id });
      this.jobs.push(items);
      this.follow();
    } catch (error) {
      const message = problemText(error.code, error.message);
      if (items.length > 1 && OF_A_FILE.has(error.status)) set({ state: "waiting", alone: true });
      else set({ state: "refused", message: error instanceof ApiError && error.retryAfter ? `${asSentence(message)} ${t("Try again later.")}` : message });
    }
    this.sending -= 1;
    this.next();
  },

  async follow() {
    if (this.following === FOLLOWED) return;
    this.following += 1;
    while (this.jobs.length) await this.followJob(this.jobs.shift());
    this.following -= 1;
  },

  /** Ask the server how far the files of a job are, which answers when it has ended or after a second. */
  async followJob(items) {
    const { job } = items[0];
    const open = () => items.filter((item) => item.job === job && item.state === "reading");
    let failures = 0;
    while (open().length) {
      try {
        const { documents } = await patiently(() => call(`/v1/ingest/${job}?wait=1`));
        failures = 0;
        for (const item of open()) {
          item.document = documents[items.indexOf(item)];
          const { status, error_code: code } = item.document;
          if (status === "completed") item.state = "completed";
          else if (status === "failed") item.state = code === "DUPLICATE" ? "duplicate" : "failed";
          item.message = problemText(code, item.document.error || "");
          this.changed();
          if (item.state === "completed") item.older = await patiently(() => this.olderThan(item));
        }
      } catch (error) {
        if (++failures > 10) for (const item of open()) Object.assign(item, { state: "failed", message: error.message });
        else await seconds(failures);
      }
      this.changed();
    }
  },

  /** Of a folder's files many have the same name, "README.md": there it tells nothing. */
  async olderThan({ path, collection, document }) {
    if (path !== document.filename) return null;
    const { documents } = await call(`/v1/documents${query({ collection, q: path.slice(0, 200), status: "completed", sort: "-created_at" })}`);
    return documents.find(({ id, filename }) => filename === path && id < document.id) || null; // ids are in the order of time
  },

  async deleteOlder(item) {
    await call(`/v1/documents/${item.older.id}`, { method: "DELETE" });
    item.older = null;
    this.changed();
  },
};

const seconds = (count) => new Promise((resolve) => setTimeout(resolve, 1000 * count));

/** What a request gives: asked again when the server takes more of them, after too many in a minute. */
async function patiently(request) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      if (error.code !== "RATE_LIMITED" || tries === MOST_TRIES) throw error;
      await seconds(error.retryAfter || 1);
    }
  }
}

addEventListener("beforeunload", (event) => {
  if (uploads.items.some(({ state }) => state === "waiting" || state === "sending")) event.preventDefault(); // the browser asks
});

/** How much of a file is done (0 to 1), and the seconds that are left, 0 where nobody knows. @param {UploadItem} item */
export function progressOf(item) {
  const document = item.document;
  if (item.state !== "reading" || !document) return { share: item.state === "sending" ? item.sent * 0.2 : 0, seconds: 0 };
  const pages = document.pages_total ? document.pages_extracted / document.pages_total : 0;
  const chunks = document.chunks_made ? document.chunks_embedded / document.chunks_made : 0;
  const share = 0.2 + 0.3 * pages + 0.5 * chunks;
  const passed = (Date.now() - item.since) / 1000;
  const done = 0.375 * pages + 0.625 * chunks;
  return { share, seconds: done > 0.1 && passed > 3 ? (passed * (1 - done)) / done : 0 };
}

/** The files of a drop, those in folders too. @param {DataTransfer} transfer */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, path: file.name }));
  return (await Promise.all(entries.map(filesOf))).flat();
}

async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return file.name.startsWith(".") ? [] : [{ file, path: entry.fullPath.slice(1) }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // at most 100 a call
    if (!some.length) return (await Promise.all(found.map(filesOf))).flat();
    found.push(...some);
  }
}
