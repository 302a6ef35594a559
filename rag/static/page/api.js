/** Requests to the public JSON API of this server: the page uses nothing else. */

import { language, t } from "./i18n.js";

/** A response that is no success. `code` and `details` are those of the error body. */
export class ApiError extends Error {
  constructor(status, body, retryAfter) {
    super(body?.message || t("The server answered with an error ({status}).", { status }));
    this.status = status;
    this.code = body?.error || "";
    this.details = body?.details || {};
    this.retryAfter = Number(retryAfter) || 0;
  }
}

const PROBLEMS = {
  DUPLICATE: () => t("The collection has this file already."),
  EMBEDDING_FAILED: () => t("The text could not be made searchable."),
  FORBIDDEN: () => t("You may not bring files in here."),
  INSUFFICIENT_STORAGE: () => t("The server cannot store files now: its disk is full or not writable."),
  NOT_FOUND: () => t("It is not there any more."),
  PAYLOAD_TOO_LARGE: () => t("The file is too large."),
  RATE_LIMITED: () => t("Too many requests at once."),
  SERVICE_UNAVAILABLE: () => t("The server cannot do it now."),
  TIMEOUT: () => t("Reading the file took too long."),
  UNPROCESSABLE: () => t("The file cannot be read."),
  UNSUPPORTED_MEDIA_TYPE: () => t("Files of this type cannot be read."),
};

/** Why a file was not taken, in the reader's language first: the API speaks English only. @param {string} code @param {string} message */
export const problemText = (code, message) => (language === "en" || !PROBLEMS[code] ? message : `${PROBLEMS[code]()} (${message})`);

/** A message that another sentence follows: not all of the API's end with a full stop. */
export const asSentence = (message) => message.replace(/[^.!?]$/, "$&.");

/**
 * @param {string} path
 * @param {{method?: string, json?: unknown, body?: BodyInit, signal?: AbortSignal, headers?: Record<string, string>}} [options]
 */
export async function call(path, options = {}) {
  const response = await request(path, options);
  return response.status === 204 ? null : response.json();
}

async function request(path, { method, json, body, signal, headers = {} }) {
  const init = { method: method || (json || body ? "POST" : "GET"), headers: { ...headers }, signal, body };
  if (json !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(json);
  }
  let response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { error: "UNREACHABLE", message: t("The server cannot be reached.") });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => null);
  if (response.status === 401 && document.body.dataset.login) location.assign(loginUrl());
  throw new ApiError(response.status, problem, response.headers.get("Retry-After"));
}

/** The address of the log-in page, which comes back to where the reader is now. */
export function loginUrl() {
  return `${document.body.dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`;
}

/**
 * Send a question and yield its server-sent events as `{type, data}`, until the stream ends.
 * @param {string} path @param {unknown} json @param {AbortSignal} signal
 */
export async function* events(path, json, signal) {
  const response = await request(path, { json, signal, headers: { Accept: "text/event-stream" } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split("\n");
      const type = lines.find((line) => line.startsWith("event: "));
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      if (type && data.length) yield { type: type.slice(7), data: JSON.parse(data.join("\n")) };
    }
  }
}

/**
 * Upload files by XMLHttpRequest, which alone tells how much is sent.
 * @param {string} path @param {FormData} form @param {(share: number) => void} onProgress
 */
export function upload(path, form, onProgress) {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", path);
    sending.responseType = "json";
    sending.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    sending.onload = () =>
      sending.status < 300
        ? resolve(sending.response)
        : reject(new ApiError(sending.status, sending.response, sending.getResponseHeader("Retry-After")));
    sending.onerror = () => reject(new ApiError(0, { message: t("The server cannot be reached.") }));
    sending.send(form);
  });
}

/** The query string of those values that are set. @param {Record<string, unknown>} values */
export function query(values) {
  const parts = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return parts.length ? `?${new URLSearchParams(parts.map(([name, value]) => [name, String(value)]))}` : "";
}
