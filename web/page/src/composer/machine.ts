/**
 * What the composer does: events in, the next state and effects out. Nothing is performed here.
 *
 * Spec: docs/spec/page/composer.md.
 */

import { answeredElsewhere, takeAnswer } from "./answers.ts";
import { bodyBytes } from "./body.ts";
import { addFiles, fileDone, fileFailed, fileProgress, removeFile, retryFile } from "./files.ts";
import {
  cancelFailed,
  cancelled,
  checked,
  checkFailed,
  dequeued,
  gone,
  handBack,
  submitFailed,
  submitted,
  takeBack,
  withQuestion,
} from "./questions.ts";
import { look, settle } from "./settle.ts";
import { asksTheSame, joined, sentFile } from "./state.ts";
import type {
  ComposerEvent,
  ComposerState,
  Effect,
  Fault,
  FeedView,
  Press,
  Question,
} from "./types.ts";
import { isDoubtful, pauseMs, wayOf } from "./ways.ts";

export interface Step {
  readonly state: ComposerState;
  readonly effects: readonly Effect[];
}

/** Return what follows from `event` at `nowMs`. */
export function step(state: ComposerState, event: ComposerEvent, nowMs: number): Step {
  const effects: Effect[] = [];
  const taken = take(state, event, nowMs, effects);
  return { state: settle(taken, nowMs, effects), effects };
}

function take(
  state: ComposerState,
  event: ComposerEvent,
  nowMs: number,
  effects: Effect[],
): ComposerState {
  switch (event.type) {
    case "typed":
      // Who goes on writing does not want the question to leave by itself.
      return event.text === state.text ? state : { ...state, text: event.text, wanted: null };
    case "send":
      return send(state, event, event.withoutFiles, nowMs, effects);
    case "unwant":
      return { ...state, wanted: null };
    case "take-back":
      return takeBack(state, event.key, effects);
    case "cancel-other":
      effects.push({ type: "cancel", turnId: event.turnId });
      return state;
    case "send-anyway":
      return sendAnyway(state, event.key);
    case "stop":
      return stop(state, effects);
    case "choose":
      return { ...state, engine: event.engine, model: event.model };
    case "dismiss":
      return { ...state, notice: null };
    case "bounds":
      return { ...state, bounds: event.bounds };
    case "files-added":
      return addFiles(state, event.files);
    case "file-removed":
      return removeFile(state, event.localId, effects);
    case "file-retry":
      return retryFile(state, event.localId);
    case "file-progress":
      return fileProgress(state, event.localId, event.share);
    case "file-done":
      return sendIfWanted(fileDone(state, event.localId, event.file), nowMs, effects);
    case "file-failed":
      return sendIfWanted(
        fileFailed(state, event.localId, event.fault, nowMs, effects),
        nowMs,
        effects,
      );
    case "created":
      return { ...made(state, event.conversationId), hold: null, tries: 0 };
    case "create-failed":
      return createFailed(state, event.fault, nowMs, effects);
    case "looked-up":
      return event.conversationId === null
        ? { ...state, creation: "none" }
        : { ...made(state, event.conversationId), hold: null, tries: 0 };
    case "look-up-failed":
      return createFailed({ ...state, creation: "doubtful" }, event.fault, nowMs, effects);
    case "submitted":
      return submitted(state, event.key, event.turn, effects);
    case "submit-failed":
      return submitFailed(state, event.key, event.fault, nowMs, effects);
    case "checked":
      return checked(state, event.turnId, event.turn);
    case "check-failed":
      return checkFailed(state, event.turnId, event.fault, nowMs);
    case "cancelled":
      return cancelled(state, event.turnId, event.turn);
    case "cancel-failed":
      return cancelFailed(state, event.turnId, event.fault);
    case "feed":
      return feed(state, event, effects);
    case "take-over":
      return {
        ...state,
        text: joined([event.text, state.text]),
        notice: { kind: "gone", fault: null, count: 0 },
      };
    case "detached":
      return { ...state, isLive: false, running: null, stoppingId: null, lineIds: [], others: [] };
    case "logged-in":
      return loggedIn(state);
    case "try-now":
      return { ...state, hold: state.hold?.untilMs === null ? state.hold : null };
    case "tick":
      // The timer is spent, also where it came a little before its time: settling sets another one.
      return { ...state, wakeAtMs: null };
    default:
      return takeAnswer(state, event, effects);
  }
}

function send(
  state: ComposerState,
  press: Press,
  withoutFiles: boolean,
  nowMs: number,
  effects: Effect[],
): ComposerState {
  if (state.isGone) return state;
  const { key, lastTurn } = press;
  const there = state.files.filter((file) => file.stage === "done");
  const isUnderWay = state.files.some((f) => f.stage === "waiting" || f.stage === "uploading");
  if (!withoutFiles && isUnderWay) return { ...state, wanted: { key, lastTurn } };
  const failed = state.files.filter((file) => file.stage === "failed").length;
  if (!withoutFiles && failed > 0) {
    return { ...state, wanted: null, notice: { kind: "files-failed", fault: null, count: failed } };
  }
  if (state.text.trim() === "" && there.length === 0) return { ...state, wanted: null };
  const question: Question = {
    key,
    // A half of a surrogate pair is no text, and the gateway would refuse it.
    text: state.text.replace(/\p{Surrogate}/gu, "\ufffd"),
    files: there.flatMap((file) => sentFile(file) ?? []),
    engine: state.engine,
    model: state.model,
    lastTurn,
    stage: "waiting",
    turnId: null,
    position: null,
    isUnwanted: false,
    isReturning: false,
    isDoubtful: false,
    isStale: false,
    askedAtMs: nowMs,
  };
  const bound = state.bounds.bodyBytes;
  if (bound !== null && bodyBytes(question) > bound) {
    const fault: Fault = {
      code: "body_too_large",
      message: "",
      status: 413,
      retryable: false,
      retryAfterS: null,
    };
    return { ...state, wanted: null, notice: { kind: "refused", fault, count: 1 } };
  }
  for (const file of state.files) effects.push({ type: "drop-file", localId: file.localId });
  const again = state.doubtful !== null && asksTheSame(state.doubtful, question);
  return {
    ...state,
    text: "",
    files: [],
    wanted: null,
    notice: null,
    // What may have arrived is asked under its own key, with its own condition.
    questions: [...state.questions, again ? revive(state.doubtful, question) : question],
    doubtful: null,
    // Whoever asks anew does not want to wait, except for somebody who logs in.
    hold: state.hold?.untilMs === null ? state.hold : null,
  };
}

function revive(doubtful: Question | null, question: Question): Question {
  if (doubtful === null) return question;
  return { ...question, key: doubtful.key, lastTurn: doubtful.lastTurn, isDoubtful: true };
}

/** Send what was to be sent when its files are there; not if one failed. */
function sendIfWanted(state: ComposerState, nowMs: number, effects: Effect[]): ComposerState {
  if (state.wanted === null) return state;
  const isUnderWay = state.files.some((f) => f.stage === "waiting" || f.stage === "uploading");
  return isUnderWay ? state : send(state, state.wanted, false, nowMs, effects);
}

function sendAnyway(state: ComposerState, key: string): ComposerState {
  const question = state.questions.find((one) => one.key === key);
  if (question?.stage !== "undecided") return state;
  return withQuestion(state, key, { ...question, stage: "waiting", lastTurn: undefined });
}

function stop(state: ComposerState, effects: Effect[]): ComposerState {
  if (state.running === null || state.stoppingId !== null) return state;
  effects.push({ type: "cancel", turnId: state.running.turnId });
  return { ...state, stoppingId: state.running.turnId };
}

function made(state: ComposerState, conversationId: string): ComposerState {
  return { ...state, conversationId, isEmptyOwn: true, creation: "none" };
}

function createFailed(
  state: ComposerState,
  fault: Fault,
  nowMs: number,
  effects: Effect[],
): ComposerState {
  const isUnknown = state.creation === "doubtful" || isDoubtful(fault);
  const failed: ComposerState = { ...state, creation: isUnknown ? "doubtful" : "none" };
  const way = wayOf(fault);
  if (way === "login") {
    effects.push({ type: "login" });
    return { ...failed, hold: { untilMs: null, fault } };
  }
  if (way === "again") {
    const untilMs = nowMs + pauseMs(fault, state.tries);
    return { ...failed, hold: { untilMs, fault }, tries: state.tries + 1 };
  }
  const files = failed.files.map((file) =>
    file.stage === "waiting" ? { ...file, stage: "failed" as const, fault } : file,
  );
  const notice = { kind: "refused", fault, count: failed.questions.length } as const;
  return handBack({ ...failed, creation: "none", files, notice }, failed.questions, notice);
}

function loggedIn(state: ComposerState): ComposerState {
  const files = state.files.map((file) =>
    file.stage === "failed" && file.fault?.status === 401
      ? { ...file, stage: "waiting" as const, tries: 0, fault: null }
      : file,
  );
  return { ...state, files, hold: null, tries: 0 };
}

function feed(state: ComposerState, view: FeedView, effects: Effect[]): ComposerState {
  if (view.isGone) return state.isGone ? state : gone(state, null);
  const seen = new Set(view.seenIds);
  const places = new Map(view.queued.map((one) => [one.turnId, one.position]));
  const questions = state.questions
    .filter((one) => one.turnId === null || !seen.has(one.turnId))
    .map((one): Question => {
      const position = one.turnId === null ? undefined : places.get(one.turnId);
      return position === undefined || position === one.position ? one : { ...one, position };
    });
  let next: ComposerState = {
    ...state,
    questions,
    isLive: view.isLive,
    running: view.running,
    stoppingId: state.stoppingId === view.running?.turnId ? state.stoppingId : null,
    lineIds: view.isLive ? view.queued.map((one) => one.turnId) : state.lineIds,
  };
  if (next.answering !== null && next.answering.requestId !== view.running?.request?.id) {
    next = next.answering.isSending ? { ...next, answering: null } : answeredElsewhere(next);
  }
  next = dequeued(next, view.left);
  if (!view.isLive) return next;
  const isBack = !state.isLive;
  // A network that is back is a reason to send at once, what was refused for a while is not.
  if (isBack && state.hold?.fault.status === 0) next = { ...next, hold: null, tries: 0 };
  const left = new Set(state.lineIds.filter((id) => !places.has(id)));
  const doubted = next.questions.flatMap((one) =>
    one.turnId !== null && (isBack || left.has(one.turnId)) ? [one.turnId] : [],
  );
  return look(next, doubted, effects);
}
