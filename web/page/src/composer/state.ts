/** States to begin with, and small questions about a state. */

import type { Bounds, ComposerState, DraftFile, Question, SentFile } from "./types.ts";

/** Age from which a question that was not answered for is not sent again by itself after a reload. */
export const PENDING_MS_MAX = 15 * 60_000;

const NO_BOUNDS: Bounds = { bodyBytes: null, attachmentBytes: null };

/** Return the state of a conversation in which nothing was typed. */
export function emptyComposer(conversationId: string | null, mark: string): ComposerState {
  return {
    conversationId,
    isEmptyOwn: false,
    mark,
    creation: "none",
    isGone: false,
    text: "",
    files: [],
    wanted: null,
    engine: null,
    model: null,
    questions: [],
    others: [],
    checking: [],
    checkAtMs: null,
    doubtful: null,
    hold: null,
    tries: 0,
    isLive: false,
    lineIds: [],
    running: null,
    stoppingId: null,
    answering: null,
    notice: null,
    wakeAtMs: null,
    bounds: NO_BOUNDS,
  };
}

/** What of a state outlives a reload. */
export interface SavedComposer {
  readonly conversationId: string | null;
  readonly isEmptyOwn: boolean;
  readonly mark: string;
  /** Whether a conversation was asked for and nobody knows if it was made. */
  readonly isCreating: boolean;
  readonly text: string;
  readonly files: readonly SentFile[];
  /** Files whose bytes are gone with the page. */
  readonly lostFiles: number;
  readonly engine: string | null;
  readonly model: string | null;
  readonly questions: readonly Question[];
  readonly doubtful: Question | null;
  readonly answer: { readonly requestId: string; readonly text: string } | null;
}

/** Return what is to be kept of `state`, or null if there is nothing worth it. */
export function saved(state: ComposerState): SavedComposer | null {
  const files = state.files.flatMap((file) => sentFile(file) ?? []);
  const answer =
    state.answering === null || state.answering.text === ""
      ? null
      : { requestId: state.answering.requestId, text: state.answering.text };
  const isNothing =
    state.text === "" &&
    state.files.length === 0 &&
    state.questions.length === 0 &&
    state.engine === null &&
    state.model === null &&
    state.doubtful === null &&
    answer === null &&
    !state.isEmptyOwn &&
    state.creation === "none";
  if (isNothing) return null;
  return {
    conversationId: state.conversationId,
    isEmptyOwn: state.isEmptyOwn,
    mark: state.mark,
    isCreating: state.creation !== "none",
    text: state.text,
    files,
    lostFiles: state.files.length - files.length,
    engine: state.engine,
    model: state.model,
    questions: state.questions,
    doubtful: state.doubtful,
    answer,
  };
}

/**
 * Return the state that goes on from what was kept.
 *
 * What was on its way is doubtful now, and is sent again under its key. After `PENDING_MS_MAX` it is
 * not: a question from another day, which a browser restored, goes back into the draft.
 */
export function restored(kept: SavedComposer, nowMs: number): ComposerState {
  const state = emptyComposer(kept.conversationId, kept.mark);
  const questions = kept.questions.map((question) => revived(question, nowMs));
  const returned = questions.filter((one) => one.isStale && one.turnId === null);
  const answer = kept.answer === null ? [] : [kept.answer.text];
  return {
    ...state,
    isEmptyOwn: kept.isEmptyOwn,
    creation: kept.isCreating ? "doubtful" : "none",
    text: joined([...returned.map((one) => one.text), ...answer, kept.text]),
    files: [...returned.flatMap((one) => one.files), ...kept.files].map(draftFile),
    engine: kept.engine,
    model: kept.model,
    questions: questions.filter((one) => !returned.includes(one)),
    doubtful: returned[0] ?? kept.doubtful,
    notice: kept.lostFiles > 0 ? { kind: "files-lost", fault: null, count: kept.lostFiles } : null,
  };
}

function revived(question: Question, nowMs: number): Question {
  const isStale = nowMs - question.askedAtMs > PENDING_MS_MAX || question.askedAtMs > nowMs;
  if (question.stage !== "sent") return { ...question, isStale };
  return { ...question, stage: "waiting", isDoubtful: true, isStale };
}

/** Return texts as one, a blank line between them. */
export function joined(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}

/** Return a file that is already there as one of the draft. */
export function draftFile(file: SentFile): DraftFile {
  return {
    localId: file.attachmentId,
    name: file.name,
    mediaType: file.mediaType,
    size: file.size,
    stage: "done",
    share: 1,
    attachmentId: file.attachmentId,
    tries: 0,
    notBeforeMs: null,
    fault: null,
  };
}

/** Return what a question needs of `file`; null while it is not there. */
export function sentFile(file: DraftFile): SentFile | null {
  if (file.attachmentId === null) return null;
  return {
    attachmentId: file.attachmentId,
    name: file.name,
    mediaType: file.mediaType,
    size: file.size,
  };
}

/** Whether there is something to send. */
export function hasDraft(state: ComposerState): boolean {
  return state.text.trim() !== "" || state.files.length > 0;
}

/** Whether something goes on that must not be forgotten when another conversation is shown. */
export function isBusy(state: ComposerState): boolean {
  return (
    state.questions.length > 0 ||
    state.files.some((file) => file.stage === "waiting" || file.stage === "uploading") ||
    state.creation !== "none"
  );
}

/** Whether two questions ask the same of the same. */
export function asksTheSame(one: Question, other: Question): boolean {
  return (
    one.text === other.text &&
    one.engine === other.engine &&
    one.model === other.model &&
    one.files.length === other.files.length &&
    one.files.every((file, index) => file.attachmentId === other.files[index]?.attachmentId)
  );
}
