/**
 * What becomes of questions: sent one at a time, in line, taken, handed back.
 *
 * The rules are those of the terminal chat (docs/spec/chat/index.md, "Questions"): a question whose
 * fate is unknown is sent again under its key, one that the gateway's line forgot too, before those
 * behind it; one that is refused for good goes back to who wrote it.
 */

import { draftFile, joined } from "./state.ts";
import type {
  ComposerState,
  Effect,
  Fault,
  LeftTurn,
  Notice,
  Question,
  TurnAnswer,
} from "./types.ts";
import { isDoubtful, pauseMs, wayOf } from "./ways.ts";

/** Between two looks at a turn that is said to be handed back. */
export const RETURN_MS = 2_000;

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "interrupted"]);

/** Whether the gateway handed this turn back from its line: nothing of it was stored. */
export function isHandedBack(turn: TurnAnswer): boolean {
  return turn.status === "cancelled" && !turn.durable;
}

/** Return `state` with the question of `key` changed; null takes it out. */
export function withQuestion(
  state: ComposerState,
  key: string,
  changed: Question | null,
): ComposerState {
  const questions = state.questions.flatMap((one) => {
    if (one.key !== key) return [one];
    return changed === null ? [] : [changed];
  });
  return { ...state, questions };
}

export function ofTurn(state: ComposerState, turnId: string): Question | undefined {
  return state.questions.find((one) => one.turnId === turnId);
}

/** Put questions back into the draft, before what stands there. */
export function handBack(
  state: ComposerState,
  returned: readonly Question[],
  notice: Notice | null,
): ComposerState {
  if (returned.length === 0) return state;
  const keys = new Set(returned.map((one) => one.key));
  const doubtful = returned.find((one) => one.isDoubtful);
  return {
    ...state,
    questions: state.questions.filter((one) => !keys.has(one.key)),
    text: joined([...returned.map((one) => one.text), state.text]),
    files: [...returned.flatMap((one) => one.files).map(draftFile), ...state.files],
    wanted: null,
    doubtful: doubtful ?? state.doubtful,
    notice: notice ?? state.notice,
  };
}

/** Take what the gateway answered to a submit. */
export function submitted(
  state: ComposerState,
  key: string,
  turn: TurnAnswer,
  effects: Effect[],
): ComposerState {
  const question = state.questions.find((one) => one.key === key);
  const asked: ComposerState = { ...state, hold: null, tries: 0, isEmptyOwn: false };
  if (state.isEmptyOwn && state.conversationId !== null) {
    effects.push({ type: "show", conversationId: state.conversationId });
  }
  if (question === undefined) {
    // It was taken back while it was on its way, and arrived all the same.
    const isReturned = state.doubtful?.key === key;
    if (isReturned && !OVER.has(turn.status)) effects.push({ type: "cancel", turnId: turn.id });
    return isReturned ? { ...asked, doubtful: null } : asked;
  }
  if (isHandedBack(turn)) return handBack(asked, [question], handedBack(question));
  if (OVER.has(turn.status)) return withQuestion(asked, key, null);
  if (question.isUnwanted) effects.push({ type: "cancel", turnId: turn.id });
  return withQuestion(asked, key, {
    ...question,
    stage: turn.status === "queued" ? "queued" : "taken",
    turnId: turn.id,
    position: turn.position,
    isDoubtful: false,
  });
}

/** Take that a submit was refused, or that nobody knows what became of it. */
export function submitFailed(
  state: ComposerState,
  key: string,
  fault: Fault,
  nowMs: number,
  effects: Effect[],
): ComposerState {
  const found = state.questions.find((one) => one.key === key);
  // An answer that came after all, for a question that has its turn, says nothing new.
  if (found === undefined || found.turnId !== null) return state;
  const question = { ...found, isDoubtful: found.isDoubtful || isDoubtful(fault) };
  if (question.isUnwanted) return handBack(state, [question], null);
  const waiting: Question = { ...question, stage: "waiting" };
  switch (wayOf(fault)) {
    case "again":
      return {
        ...withQuestion(state, key, waiting),
        hold: { untilMs: nowMs + pauseMs(fault, state.tries), fault },
        tries: state.tries + 1,
      };
    case "login":
      effects.push({ type: "login" });
      return { ...withQuestion(state, key, waiting), hold: { untilMs: null, fault } };
    case "decide":
      return withQuestion(state, key, { ...question, stage: "undecided" });
    case "arrived":
      return {
        ...withQuestion(state, key, null),
        notice: { kind: "arrived-already", fault: null, count: 1 },
      };
    case "gone":
      return gone(state, fault);
    case "return":
      return handBack(state, [question], { kind: "refused", fault, count: 1 });
  }
}

/** The conversation is not there any more: everything goes back to who wrote it. */
export function gone(state: ComposerState, fault: Fault | null): ComposerState {
  const notice: Notice = { kind: "gone", fault, count: 0 };
  const back = handBack({ ...state, isGone: true }, state.questions, notice);
  return {
    ...back,
    notice,
    running: null,
    stoppingId: null,
    others: [],
    lineIds: [],
    checking: [],
    doubtful: null,
  };
}

/** Take what became of a turn that was looked up. */
export function checked(state: ComposerState, turnId: string, turn: TurnAnswer): ComposerState {
  const next = { ...state, checking: state.checking.filter((id) => id !== turnId) };
  const others = next.others.map((other) =>
    other.turnId === turnId ? { ...other, text: turn.text ?? "" } : other,
  );
  const question = ofTurn(next, turnId);
  if (question === undefined) return { ...next, others };
  if (turn.status === "queued") {
    return withQuestion(next, question.key, {
      ...question,
      stage: "queued",
      position: turn.position,
    });
  }
  if (isHandedBack(turn)) return handBack(next, [question], handedBack(question));
  // Who watches sees the turn itself soon; who does not would wait for ever.
  const isSeenSoon = next.isLive && !OVER.has(turn.status);
  return withQuestion(next, question.key, isSeenSoon ? { ...question, stage: "taken" } : null);
}

/** Take that a turn could not be looked up. */
export function checkFailed(
  state: ComposerState,
  turnId: string,
  fault: Fault,
  nowMs: number,
): ComposerState {
  const next = { ...state, checking: state.checking.filter((id) => id !== turnId) };
  const question = ofTurn(next, turnId);
  if (question === undefined) {
    if (!isNotThere(fault)) return next;
    // It is in no line either, whatever the stream told last: nobody asks for it again and again.
    return {
      ...next,
      others: next.others.filter((other) => other.turnId !== turnId),
      lineIds: next.lineIds.filter((id) => id !== turnId),
    };
  }
  if (fault.code === "conversation_not_found") return gone(next, fault);
  if (fault.code === "turn_handed_back") {
    if (question.isReturning || question.isUnwanted) {
      return handBack(next, [question], handedBack(question));
    }
    // A gateway that stops empties its line; the next one does not know the turn, and is asked anew.
    const returning = withQuestion(next, question.key, { ...question, isReturning: true });
    return { ...returning, checkAtMs: nowMs + RETURN_MS };
  }
  if (fault.code !== "turn_not_found") return next;
  if (question.isUnwanted) return handBack(next, [question], null);
  if (question.isStale)
    return handBack(next, [question], { kind: "handed-back", fault: null, count: 1 });
  // A gateway that was started anew knows nothing of its line; the key asks it once.
  return withQuestion(next, question.key, {
    ...question,
    stage: "waiting",
    turnId: null,
    position: null,
    isReturning: false,
    isDoubtful: true,
  });
}

/** Take what the stream told of turns that left the line without a start. */
export function dequeued(state: ComposerState, left: readonly LeftTurn[]): ComposerState {
  return left.reduce((next, { turnId, reason }) => {
    const question = ofTurn(next, turnId);
    // What a gateway that stops had in line is asked again of the next one.
    if (question === undefined || reason === "stopping") return next;
    if (reason === "cancelled") return handBack(next, [question], handedBack(question));
    if (question.isUnwanted) return handBack(next, [question], null);
    const fault: Fault = {
      code: reason,
      message: "",
      status: 409,
      retryable: false,
      retryAfterS: null,
    };
    if (wayOf(fault) !== "decide") {
      return handBack(next, [question], { kind: "refused", fault, count: 1 });
    }
    return withQuestion(next, question.key, {
      ...question,
      stage: "undecided",
      turnId: null,
      position: null,
    });
  }, state);
}

/** Take that a turn is over, or out of the line, because it was to be. */
export function cancelled(state: ComposerState, turnId: string, turn: TurnAnswer): ComposerState {
  const stoppingId = state.stoppingId === turnId && OVER.has(turn.status) ? null : state.stoppingId;
  const next = { ...state, stoppingId };
  const question = ofTurn(next, turnId);
  if (question === undefined) return next;
  if (isHandedBack(turn)) return handBack(next, [question], null);
  return withQuestion(next, question.key, null);
}

/** Take that a turn could not be cancelled. */
export function cancelFailed(state: ComposerState, turnId: string, fault: Fault): ComposerState {
  const next = state.stoppingId === turnId ? { ...state, stoppingId: null } : state;
  const question = ofTurn(next, turnId);
  if (question !== undefined && isNotThere(fault)) return handBack(next, [question], null);
  const freed =
    question === undefined
      ? next
      : withQuestion(next, question.key, { ...question, isUnwanted: false });
  // What is over already needed no stopping.
  if (fault.code === "turn_terminal" || isNotThere(fault)) return freed;
  return { ...freed, notice: { kind: "stop-failed", fault, count: 1 } };
}

/** Take a question back, wherever it stands. */
export function takeBack(state: ComposerState, key: string, effects: Effect[]): ComposerState {
  const question = state.questions.find((one) => one.key === key);
  if (question === undefined || question.isUnwanted) return state;
  if (question.turnId !== null) {
    effects.push({ type: "cancel", turnId: question.turnId });
    return withQuestion(state, key, { ...question, isUnwanted: true });
  }
  if (question.stage === "sent") {
    return withQuestion(state, key, { ...question, isUnwanted: true });
  }
  return handBack(state, [question], null);
}

function isNotThere(fault: Fault): boolean {
  return fault.code === "turn_not_found" || fault.code === "turn_handed_back";
}

function handedBack(question: Question): Notice | null {
  return question.isUnwanted ? null : { kind: "handed-back", fault: null, count: 1 };
}
