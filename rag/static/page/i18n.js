/**
 * The words of the page, in the reader's language.
 *
 * The shell holds the catalog of its language as JSON: English message -> translation, or a list of plural forms.
 */

const data = JSON.parse(document.getElementById("catalog")?.textContent || "{}");
const messages = data.messages || {};

/** The language of the page, as in `<html lang>`. */
export const language = document.documentElement.lang || "en";

/**
 * Translate a message. `{name}` in it stands for `values.name`.
 * @param {string} message @param {Record<string, unknown>} [values] @returns {string}
 */
export function t(message, values) {
  return fill(messages[message] || message, values);
}

/**
 * Translate a message that depends on a number, which it may name as `{n}`.
 * @param {string} one @param {string} many @param {number} n @param {Record<string, unknown>} [values]
 */
export function tn(one, many, n, values) {
  const forms = messages[one];
  const text = n === 1 ? (forms?.[0] ?? one) : (forms?.[1] ?? many);
  return fill(text, { n: number(n), ...values });
}

function fill(text, values) {
  return values ? text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all)) : text;
}

/**
 * Name the languages that an embedding model was found to serve well; "" of one that nobody measured.
 * @param {string} [model]
 */
export function servedLanguages(model) {
  const codes = JSON.parse(document.getElementById("languages")?.textContent || "{}")[model || ""] || [];
  const names = new Intl.DisplayNames([language], { type: "language" });
  return new Intl.ListFormat(language).format(codes.map((/** @type {string} */ code) => names.of(code) || code));
}

/** @param {number} value */
export function number(value) {
  return new Intl.NumberFormat(language).format(value);
}

/** @param {number} bytes */
export function fileSize(bytes) {
  const step = bytes >= 1e6 ? ["megabyte", 1e6] : bytes >= 1e3 ? ["kilobyte", 1e3] : ["byte", 1];
  const options = { style: "unit", unit: step[0], unitDisplay: bytes >= 1e3 ? "short" : "long", maximumFractionDigits: bytes >= 1e6 ? 1 : 0 };
  return new Intl.NumberFormat(language, options).format(bytes / step[1]);
}

/** @param {string} iso */
export function dateTime(iso) {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso));
}

/** A span of time in whole seconds or minutes, such as "about 2 minutes". @param {number} seconds */
export function duration(seconds) {
  return seconds < 90
    ? tn("about {n} second", "about {n} seconds", Math.max(1, Math.round(seconds)))
    : tn("about {n} minute", "about {n} minutes", Math.round(seconds / 60));
}
