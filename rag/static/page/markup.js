/**
 * The little Markdown that chat models write, read into runs of text that keep their offsets in the answer.
 *
 * Nothing here makes HTML: links, images and raw HTML of an answer stay plain text, so that a document cannot make
 * the page load or run anything. Offsets count characters as the API does (code points), see `characters`.
 */

/**
 * @typedef {{text: string, start: number, style: "" | "strong" | "em" | "code"}} Run
 * @typedef {{marker: number, start: number}} Marker
 * @typedef {{kind: "p" | "ul" | "ol" | "heading" | "pre" | "table", rows: (Run | Marker)[][][]}} Block
 */

const LINE = /^(?:(#{1,6})[ \t]+|[ \t]*(?:([-*•])|(\d{1,3})[.)])[ \t]+)?/;
const INLINE = /\[(\d{1,3})\]|\*\*([^*\n]+?)\*\*|__([^_\n]+?)__|`([^`\n]+)`|(?<![*\w])\*([^*\s][^*\n]*?)\*(?![*\w])/gu;

/** Read an answer into blocks. @param {string} answer @returns {Block[]} */
export function parseAnswer(answer) {
  const blocks = [];
  let fenced = false;
  let start = 0;
  for (const line of answer.split("\n")) {
    addLine(blocks, line, start, fenced);
    if (line.trimStart().startsWith("```")) fenced = !fenced;
    start += characters(line) + 1;
  }
  return blocks.filter((block) => block.rows.length);
}

function addLine(blocks, line, start, fenced) {
  const last = blocks.at(-1);
  const join = (kind, cells) => {
    if (last?.kind === kind) last.rows.push(cells);
    else blocks.push({ kind, rows: [cells] });
  };
  if (line.trimStart().startsWith("```")) return;
  if (fenced) return join("pre", [[{ text: line, start, style: "" }]]);
  if (!line.trim()) return void blocks.push({ kind: "p", rows: [] });
  if (/^\s*\|.*\|\s*$/.test(line)) {
    if (!/^[\s|:-]+$/.test(line)) join("table", tableCells(line, start));
    return;
  }
  const [opening, heading, bullet, count] = line.match(LINE);
  const runs = parseRuns(line.slice(opening.length), start + characters(opening));
  if (heading) blocks.push({ kind: "heading", rows: [[runs]] });
  else if (bullet) join("ul", [runs]);
  else if (count) join("ol", [runs]);
  else if (last?.kind === "p" && last.rows.length) last.rows[0][0].push({ text: " ", start, style: "" }, ...runs);
  else join("p", [runs]);
}

function tableCells(line, start) {
  const inner = line.trim().slice(1, -1);
  let at = start + characters(line.slice(0, line.indexOf("|") + 1));
  return inner.split("|").map((cell) => {
    const runs = parseRuns(cell, at);
    at += characters(cell) + 1;
    return runs;
  });
}

/** @param {string} text @param {number} start @returns {(Run | Marker)[]} */
function parseRuns(text, start) {
  const runs = [];
  let from = 0;
  const add = (piece, at, style) => piece && runs.push({ text: piece, start: start + characters(text.slice(0, at)), style });
  for (const match of text.matchAll(INLINE)) {
    add(text.slice(from, match.index), from, "");
    const [whole, marker, strong, strong2, code, em] = match;
    if (marker) runs.push({ marker: Number(marker), start: start + characters(text.slice(0, match.index)) });
    else if (code) add(code, match.index + 1, "code");
    else if (em) add(em, match.index + 1, "em");
    else for (const part of parseRuns(strong || strong2, start + characters(text.slice(0, match.index + 2))))
      runs.push("marker" in part ? part : { ...part, style: part.style || "strong" });
    from = match.index + whole.length;
  }
  add(text.slice(from), from, "");
  return runs;
}

/** The length of a text in characters as Python counts them: a pair of surrogates is one. @param {string} text */
export function characters(text) {
  let pairs = 0;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) pairs++;
  return text.length - pairs;
}

/** A part of a text by offsets in characters. @param {string} text */
export function slice(text, start, end) {
  return characters(text) === text.length ? text.slice(start, end) : Array.from(text).slice(start, end).join("");
}

/** Split a run where spans begin and end, so that each piece lies inside or outside of each. @param {Run} run */
export function splitRun(run, spans) {
  const end = run.start + characters(run.text);
  const cuts = new Set([run.start, end]);
  for (const [from, to] of spans) for (const cut of [from, to]) if (cut > run.start && cut < end) cuts.add(cut);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((from, i) => ({
    text: slice(run.text, from - run.start, places[i + 1] - run.start),
    start: from,
    end: places[i + 1],
    style: run.style,
  }));
}
