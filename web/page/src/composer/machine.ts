/**
 * What the composer does: events in, the next state and effects out. Nothing is performed here.
 *
 * Spec: docs/spec/page/composer.md.
 */

import { bodyBytes } from "./body.ts";
import {
  addFiles,
  fileDone,
  fileFailed,
  fileProgress,
  isDue,
  removeFile,
  retryFile,
  startUploads,
} from "./files.ts";
import {
  cancelFailed,
  cancelled,
  checked,
  checkFailed,
  gone,
  handBack,
  ofTurn,
  submitFailed,
  submitted,
  takeBack,
  withQuestion,
} from "./questions.ts";
import { asksTheSame, joined, sentFile } from "./state.ts";
import type {
  ComposerEvent,
  ComposerState,
  Effect,
  Fault,
  FeedView,
  OtherQuestion,
  Press,
  Question,
} from "./types.ts";
import { isDoubtful, pauseMs, wayOf } from "./ways.ts";

/** Between two looks at questions of which no stream tells. */
export const CHECK_PAUSE_MS = 15_000;

const TOO_LATE: ReadonlySet<string> = new Set([
  "turn_not_suspended",
  "request_mismatch",
  "turn_terminal",
]);

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
      return state;
    default:
      return takeAnswer(state, event, effects);
  }
}

type AnswerEvent = Extract<ComposerEvent, { readonly type: `answer${string}` }>;

function takeAnswer(state: ComposerState, event: AnswerEvent, effects: Effect[]): ComposerState {
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

function answeredElsewhere(state: ComposerState): ComposerState {
  return { ...closeAnswer(state), notice: { kind: "answered-elsewhere", fault: null, count: 1 } };
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

/** Look turns up, each once at a time. */
function look(state: ComposerState, turnIds: readonly string[], effects: Effect[]): ComposerState {
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
function settle(state: ComposerState, nowMs: number, effects: Effect[]): ComposerState {
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
