/** Answers to a suspended turn, which are written apart from the draft. */

import { joined } from "./state.ts";
import type { ComposerEvent, ComposerState, Effect } from "./types.ts";
import { wayOf } from "./ways.ts";

const TOO_LATE: ReadonlySet<string> = new Set([
  "turn_not_suspended",
  "request_mismatch",
  "turn_terminal",
]);

/** What concerns an answer. */
export type AnswerEvent = Extract<ComposerEvent, { readonly type: `answer${string}` }>;

/** Return what follows from `event` for the answer. */
export function takeAnswer(
  state: ComposerState,
  event: AnswerEvent,
  effects: Effect[],
): ComposerState {
  const { answering, running } = state;
  switch (event.type) {
    case "answer-open": {
      const request = running?.request;
      if (!running || !request?.takesText || answering !== null) return state;
      const { turnId } = running;
      return { ...state, answering: { turnId, requestId: request.id, text: "", isSending: false } };
    }
    case "answer-close":
      return answering === null || answering.isSending ? state : closeAnswer(state);
    case "answer-typed":
      if (answering === null || answering.isSending) return state;
      return { ...state, answering: { ...answering, text: event.text } };
    case "answer-send": {
      if (answering === null || answering.isSending || answering.text.trim() === "") return state;
      const { turnId, requestId, text } = answering;
      effects.push({ type: "answer", turnId, requestId, text });
      return { ...state, answering: { ...answering, isSending: true } };
    }
    case "answered":
      return answering?.requestId === event.requestId ? { ...state, answering: null } : state;
    case "answer-failed": {
      if (answering?.requestId !== event.requestId) return state;
      if (TOO_LATE.has(event.fault.code)) return answeredElsewhere(state);
      if (wayOf(event.fault) === "login") effects.push({ type: "login" });
      const notice = { kind: "answer-failed", fault: event.fault, count: 1 } as const;
      return { ...state, answering: { ...answering, isSending: false }, notice };
    }
  }
}

/** Leave the answer; what was typed of it is not thrown away. */
function closeAnswer(state: ComposerState): ComposerState {
  const text = joined([state.answering?.text ?? "", state.text]);
  return { ...state, answering: null, text };
}

/** Leave an answer that is not needed any more, and say so. */
export function answeredElsewhere(state: ComposerState): ComposerState {
  return { ...closeAnswer(state), notice: { kind: "answered-elsewhere", fault: null, count: 1 } };
}
