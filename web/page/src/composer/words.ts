/** What the composer says, made of its state. */

import { strings } from "../strings.ts";
import type { ComposerState, Fault, Notice, Question } from "./types.ts";

const words = strings.composer;

/** A sentence on what went wrong and what to do. */
export function reason(fault: Fault): string {
  const known: { readonly [code: string]: string } = words.codes;
  const own = Object.hasOwn(known, fault.code) ? known[fault.code] : undefined;
  if (own !== undefined) return own;
  return fault.message === "" ? words.unexpected : `${sentence(fault.message)} (${fault.code})`;
}

function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/u.test(start) ? start : `${start}.`;
}

/** What is said above the input. */
export function noticeText(notice: Notice): string {
  const why = notice.fault === null ? "" : ` ${reason(notice.fault)}`;
  switch (notice.kind) {
    case "refused":
      return `${words.refused}${why}`;
    case "handed-back":
      return words.handedBack;
    case "stop-failed":
      return `${words.stopFailed}${why}`;
    case "answer-failed":
      return `${words.answerFailed}${why}`;
    case "answered-elsewhere":
      return words.answeredElsewhere;
    case "files-failed":
      return words.filesFailed(notice.count);
    case "files-lost":
      return words.filesLost(notice.count);
    case "arrived-already":
      return words.arrivedAlready;
    case "gone":
      return words.gone;
  }
}

/** Where a question stands, in a word or two. */
export function stageText(question: Question, state: ComposerState): string {
  if (question.isUnwanted) return words.takingBack;
  switch (question.stage) {
    case "waiting":
      if (state.hold !== null) return state.hold.untilMs === null ? words.needsLogin : words.held;
      return question.isDoubtful ? words.sendingAgain : words.waiting;
    case "sent":
      return question.isDoubtful ? words.sendingAgain : words.sending;
    case "queued":
      return question.position === null ? words.inLine : words.position(question.position);
    case "taken":
      return words.begins;
    case "undecided":
      return words.wentOn;
  }
}

/** What the region for screen readers says: only what changes now and then, no counts of seconds. */
export function statusText(state: ComposerState): string {
  if (state.stoppingId !== null) return words.stopping;
  if (state.answering?.isSending) return words.sendingAnswer;
  if (state.questions.some((one) => one.stage === "undecided")) return words.wentOn;
  const unsent = state.questions.filter((one) => one.turnId === null);
  if (unsent.length > 0) {
    if (state.hold === null) return words.sending;
    return state.hold.untilMs === null ? words.needsLogin : words.held;
  }
  const uploading = state.files.filter((f) => f.stage === "uploading" || f.stage === "waiting");
  if (uploading.length > 0) return words.uploading(uploading.length);
  const failed = state.files.filter((file) => file.stage === "failed").length;
  if (failed > 0) return words.filesFailed(failed);
  const queued = state.questions.filter((one) => one.stage === "queued").length;
  return queued > 0 ? words.queued(queued) : "";
}

const UNITS = ["B", "kB", "MB", "GB"] as const;

/** A size for people, in units of 1,000. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit > 0 && value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ""}`;
}
