/** Uploads: files that were dropped or chosen, sent a few at a time, and how far each is until it can be asked. */

import { ApiError, asSentence, call, problemText, query, upload } from "./api.js";
import { t } from "./i18n.js";

const AT_ONCE = 2;
const ENDED = new Set(["completed", "failed", "duplicate", "refused"]);

/**
 * @typedef {{key: number, file: File, path: string, state: "waiting" | "sending" | "reading" | "completed" | "failed" | "duplicate" | "refused",
 *   sent: number, document: any, message: string, since: number, older: any}} UploadItem
 *   older: another document of the same name that was there before, mostly an earlier version; else null.
 *   state "refused": the server did not take the file, and nothing of it is there.
 */

let count = 0;

/** All uploads of this page. Listeners are called when any of them gets on. */
export const uploads = {
  /** @type {UploadItem[]} */
  items: [],
  listeners: new Set(),

  /** @param {{file: File, path: string}[]} files @param {string} collection */
  add(files, collection) {
    const items = files.map(({ file, path }) => ({
      key: ++count, file, path, collection, state: "waiting", sent: 0, document: null, message: "", since: 0, older: null,
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

  get running() {
    return this.items.some((item) => !ENDED.has(item.state));
  },

  changed() {
    for (const listener of this.listeners) listener();
  },

  next() {
    this.changed();
    const sending = this.items.filter((item) => item.state === "sending").length;
    const waiting = this.items.filter((item) => item.state === "waiting");
    for (const item of waiting.slice(-Math.max(0, AT_ONCE - sending))) if (sending < AT_ONCE) this.send(item);
  },

  async send(item) {
    item.state = "sending";
    this.changed();
    const form = new FormData();
    form.append("collection_id", item.collection);
    form.append("file", item.file, item.file.name);
    try {
      const job = await upload("/v1/ingest", form, (share) => {
        item.sent = share;
        this.changed();
      });
      this.follow(item, job.job_id);
    } catch (error) {
      item.state = "refused";
      item.message = problemText(error.code, error.message);
      if (error instanceof ApiError && error.retryAfter) item.message = `${asSentence(item.message)} ${t("Try again later.")}`;
    }
    this.next();
  },

  /** Ask the server how far the file is, which answers when something has changed or after 20 s. */
  async follow(item, jobId) {
    item.state = "reading";
    item.since = Date.now();
    let failures = 0;
    while (item.state === "reading") {
      try {
        const report = await call(`/v1/ingest/${jobId}?wait=1`);
        failures = 0;
        item.document = report.documents[0];
        const { status, error_code: code } = item.document;
        if (status === "completed") item.state = "completed";
        else if (status === "failed") item.state = code === "DUPLICATE" ? "duplicate" : "failed";
        item.message = problemText(code, item.document.error || "");
        this.changed();
        if (item.state === "completed") item.older = await this.olderThan(item);
      } catch (error) {
        if (++failures > 10) Object.assign(item, { state: "failed", message: error.message });
        else await new Promise((resolve) => setTimeout(resolve, 1000 * failures));
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
