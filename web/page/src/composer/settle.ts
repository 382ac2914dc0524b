/** What can begin after an event: the next question, uploads, a conversation for them, a look-up. */

import { isDue, startUploads } from "./files.ts";
import { ofTurn, withQuestion } from "./questions.ts";
import type { ComposerState, Effect, OtherQuestion, Question } from "./types.ts";

/** Between two looks at questions of which no stream tells. */
export const CHECK_PAUSE_MS = 15_000;

/** Look turns up, each once at a time. */
export function look(
  state: ComposerState,
  turnIds: readonly string[],
  effects: Effect[],
): ComposerState {
  const added = turnIds.filter((id) => !state.checking.includes(id));
  for (const turnId of added) effects.push({ type: "check", turnId });
  return added.length === 0 ? state : { ...state, checking: [...state.checking, ...added] };
}

/**
 * Tell apart who else waits in line. A place may be told before the answer to the submit that took
 * it, so while one is on its way a turn that is new here may be ours.
 */
function withOthers(state: ComposerState, effects: Effect[]): ComposerState {
  const known = new Map(state.others.map((other) => [other.turnId, other.text]));
  const isSending = state.questions.some((one) => one.stage === "sent");
  const others = state.lineIds.flatMap((turnId, at): OtherQuestion[] => {
    if (ofTurn(state, turnId) !== undefined || (isSending && !known.has(turnId))) return [];
    return [{ turnId, position: at + 1, text: known.get(turnId) ?? null }];
  });
  const isSame =
    others.length === state.others.length &&
    others.every(
      ({ turnId, position }, at) =>
        turnId === state.others[at]?.turnId && position === state.others[at]?.position,
    );
  if (isSame) return state;
  const unread = others.filter((other) => !known.has(other.turnId)).map((other) => other.turnId);
  return look({ ...state, others }, unread, effects);
}

/** Begin whatever can begin now, and say when there is more to do. */
export function settle(state: ComposerState, nowMs: number, effects: Effect[]): ComposerState {
  let next = state;
  if (next.hold?.untilMs != null && next.hold.untilMs <= nowMs) next = { ...next, hold: null };
  if (!next.isGone) {
    next = createIfNeeded(next, nowMs, effects);
    const { conversationId } = next;
    if (conversationId !== null) {
      if (next.hold?.untilMs !== null) next = startUploads(next, conversationId, nowMs, effects);
      next = sendNext(next, conversationId, effects);
      next = discardIfEmpty(next, conversationId, effects);
    }
    next = checkIfDue(withOthers(next, effects), nowMs, effects);
  }
  const wakeAtMs = nextWake(next, nowMs);
  if (wakeAtMs === state.wakeAtMs) return next;
  effects.push({ type: "wake", atMs: wakeAtMs });
  return { ...next, wakeAtMs };
}

function createIfNeeded(state: ComposerState, nowMs: number, effects: Effect[]): ComposerState {
  if (state.conversationId !== null || state.hold !== null) return state;
  if (state.creation === "doubtful") {
    effects.push({ type: "look-up", mark: state.mark });
    return { ...state, creation: "looking" };
  }
  const isNeeded = state.questions.length > 0 || state.files.some((file) => isDue(file, nowMs));
  if (state.creation !== "none" || !isNeeded) return state;
  effects.push({ type: "create", mark: state.mark });
  return { ...state, creation: "sent" };
}

function sendNext(state: ComposerState, conversationId: string, effects: Effect[]): ComposerState {
  if (state.hold !== null) return state;
  for (const question of state.questions) {
    // What is on its way, waits for a person, or has to be looked up goes before what is behind it.
    if (question.stage === "sent" || question.stage === "undecided") return state;
    if (question.turnId !== null && state.checking.includes(question.turnId)) return state;
    if (question.stage === "waiting") {
      const sent: Question = { ...question, stage: "sent" };
      effects.push({ type: "submit", conversationId, question: sent });
      return withQuestion(state, question.key, sent);
    }
  }
  return state;
}

/** A conversation that was made for a draft goes with it. */
function discardIfEmpty(
  state: ComposerState,
  conversationId: string,
  effects: Effect[],
): ComposerState {
  const isLeft = state.text === "" && state.files.length === 0 && state.questions.length === 0;
  if (!state.isEmptyOwn || !isLeft || state.doubtful !== null) return state;
  effects.push({ type: "delete", conversationId });
  return { ...state, conversationId: null, isEmptyOwn: false };
}

/** Look up now and then what the stream does not tell of. */
function checkIfDue(state: ComposerState, nowMs: number, effects: Effect[]): ComposerState {
  const unsure = state.questions.flatMap((one) =>
    one.turnId === null || (state.isLive && state.lineIds.includes(one.turnId)) ? [] : [one.turnId],
  );
  if (unsure.length === 0 || state.conversationId === null) {
    return state.checkAtMs === null ? state : { ...state, checkAtMs: null };
  }
  if (state.checkAtMs === null) return { ...state, checkAtMs: nowMs + CHECK_PAUSE_MS };
  if (state.checkAtMs > nowMs) return state;
  return { ...look(state, unsure, effects), checkAtMs: nowMs + CHECK_PAUSE_MS };
}

function nextWake(state: ComposerState, nowMs: number): number | null {
  if (state.isGone) return null;
  const times = [
    state.hold?.untilMs,
    state.checkAtMs,
    ...state.files.map((file) => (file.stage === "waiting" ? file.notBeforeMs : null)),
  ].filter((time): time is number => time != null && time > nowMs);
  return times.length === 0 ? null : Math.min(...times);
}
