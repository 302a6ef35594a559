/** Conversations: questions with their answers as they are written, kept while the reader looks at something else. */

import { useEffect, useState } from "./vendor/preact-htm.js";
import { call, events, query } from "./api.js";

/**
 * @typedef {{
 *   key: number, question: string, scope: Scope, state: "writing" | "done" | "stopped" | "failed",
 *   text: string, passages: any[], body: any, replaced: string, error: any, rating: string | null,
 * }} Turn
 *   text: as it was written. body: of the whole answer, when it is there. replaced: what was written before the check
 *   put another answer in its place.
 * @typedef {{collections: string[], filters: Record<string, unknown>}} Scope
 */

let turnCount = 0;

export class Conversation {
  constructor(id = "") {
    this.id = id;
    /** @type {Turn[]} */
    this.turns = [];
    this.loading = Boolean(id);
    this.error = null;
    this.listeners = new Set();
    this.stopping = null;
  }

  get writing() {
    return this.turns.at(-1)?.state === "writing";
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  /** Load the past turns of a conversation. */
  async load() {
    try {
      const { turns } = await call(`/v1/conversations/${encodeURIComponent(this.id)}`);
      this.turns = turns.map(pastTurn);
    } catch (error) {
      this.error = error;
    }
    this.loading = false;
    this.changed();
  }

  /** Ask a question, or the last one again. @param {string} question @param {Scope} scope */
  async ask(question, scope, { again = false } = {}) {
    if (this.writing) return;
    if (again) this.turns.pop();
    this.error = null;
    /** @type {Turn} */
    const turn = {
      key: ++turnCount, question, scope, state: "writing", text: "", passages: [], body: null, replaced: "", error: null,
      rating: null,
    };
    this.turns.push(turn);
    this.stopping = new AbortController();
    this.changed();
    try {
      await this.#write(turn, this.stopping.signal, again);
    } catch (error) {
      turn.state = this.stopping.signal.aborted ? "stopped" : "failed";
      turn.error = error;
    }
    this.changed();
  }

  async #write(turn, signal, again) {
    const request = {
      query: turn.question,
      collections: turn.scope.collections,
      filters: turn.scope.filters,
      conversation_id: this.id || undefined,
      settings: { streaming: true, passages_first: true },
    };
    for await (const { type, data } of events("/v1/query", request, signal, again)) {
      if (type === "passages") turn.passages = data.passages;
      else if (type === "token") turn.text += data.text;
      else if (type === "sources") turn.sources = data.sources;
      else if (type === "error") throw Object.assign(new Error(data.message), { code: data.error, details: data.details });
      else if (type === "done") this.#finish(turn, data);
      this.changed();
    }
    if (turn.state === "writing") throw new Error("The answer broke off.");
  }

  #finish(turn, data) {
    turn.body = { ...data, sources: turn.sources || [], answered: !data.reason };
    if (turn.text && turn.text.trim() !== data.answer.trim()) turn.replaced = turn.text;
    turn.text = data.answer;
    turn.state = "done";
    this.id ||= data.conversation_id;
    known.set(this.id, this);
  }

  stop() {
    this.stopping?.abort();
  }
}

function pastTurn(past) {
  return {
    key: ++turnCount,
    question: past.query,
    scope: { collections: [], filters: past.filters },
    state: past.error ? "failed" : "done",
    text: past.answer ?? "",
    passages: [],
    body: { ...past, nearest: [], warnings: [] },
    replaced: "",
    error: past.error ? { code: past.error, message: "" } : null,
    rating: past.feedback,
  };
}

const known = new Map();

/** The conversation of this id; a new one for "". Loaded once. @param {string} id */
export function conversationOf(id) {
  if (!id) return new Conversation();
  if (!known.has(id)) {
    const conversation = new Conversation(id);
    known.set(id, conversation);
    conversation.load();
  }
  return known.get(id);
}

/** Render again whenever the conversation changes. @param {Conversation} conversation */
export function useConversation(conversation) {
  const [, render] = useState(0);
  useEffect(() => {
    const listener = () => render((count) => count + 1);
    conversation.listeners.add(listener);
    return () => void conversation.listeners.delete(listener);
  }, [conversation]);
}

/** One page of past conversations, newest first. @param {{q?: string, cursor?: string}} wanted */
export function listConversations(wanted) {
  return call(`/v1/conversations${query({ limit: 30, ...wanted })}`);
}
