/** What becomes of the files of a draft. Spec: docs/spec/gateway/attachments.md, "Upload". */

import type { ComposerState, DraftFile, Effect, Fault, NewFile, SentFile } from "./types.ts";
import { pauseMs, wayOf } from "./ways.ts";

/** Uploads of one draft at once. */
export const UPLOADS_AT_ONCE = 3;
/** Attempts to upload a file before a person has to say so. */
export const UPLOAD_TRIES_MAX = 4;
/** Files of one question: what the gateway holds for one event is more. */
export const FILES_MAX = 100;

/** Put files behind those that are there; one that is too large is refused before it is sent. */
export function addFiles(state: ComposerState, added: readonly NewFile[]): ComposerState {
  const files = added.map((file, index) =>
    newFile(file, tooLarge(file, state) ?? tooMany(state.files.length + index)),
  );
  return { ...state, files: [...state.files, ...files], wanted: null };
}

function newFile(file: NewFile, fault: Fault | null): DraftFile {
  return {
    localId: file.localId,
    name: file.name,
    mediaType: file.mediaType,
    size: file.size,
    stage: fault === null ? "waiting" : "failed",
    share: 0,
    attachmentId: null,
    tries: 0,
    notBeforeMs: null,
    fault,
  };
}

function tooLarge(file: NewFile, state: ComposerState): Fault | null {
  const bound = state.bounds.attachmentBytes;
  if (bound === null || file.size <= bound) return null;
  return refusal("attachment_too_large", 413);
}

function tooMany(index: number): Fault | null {
  return index < FILES_MAX ? null : refusal("too_many_files", 413);
}

function refusal(code: string, status: number): Fault {
  return { code, message: "", status, retryable: false, retryAfterS: null };
}

/** Take a file out, and stop sending it. */
export function removeFile(
  state: ComposerState,
  localId: string,
  effects: Effect[],
): ComposerState {
  effects.push({ type: "drop-file", localId });
  return { ...state, files: state.files.filter((file) => file.localId !== localId) };
}

/** Send a file once more because a person said so. */
export function retryFile(state: ComposerState, localId: string): ComposerState {
  return changed(state, localId, (file) =>
    file.stage === "failed"
      ? { ...file, stage: "waiting", tries: 0, share: 0, notBeforeMs: null, fault: null }
      : file,
  );
}

export function fileProgress(state: ComposerState, localId: string, share: number): ComposerState {
  return changed(state, localId, (file) =>
    file.stage === "uploading" ? { ...file, share: Math.min(1, Math.max(0, share)) } : file,
  );
}

/** Take that a file is there: its name and type are what the gateway found. */
export function fileDone(state: ComposerState, localId: string, sent: SentFile): ComposerState {
  return changed(state, localId, (file) => ({
    ...file,
    name: sent.name,
    mediaType: sent.mediaType,
    size: sent.size,
    stage: "done",
    share: 1,
    attachmentId: sent.attachmentId,
    notBeforeMs: null,
    fault: null,
  }));
}

export function fileFailed(
  state: ComposerState,
  localId: string,
  fault: Fault,
  nowMs: number,
  effects: Effect[],
): ComposerState {
  const way = wayOf(fault);
  if (way === "login") effects.push({ type: "login" });
  return changed(state, localId, (file) => {
    const tries = file.tries + 1;
    if (way === "again" && tries < UPLOAD_TRIES_MAX) {
      const notBeforeMs = nowMs + pauseMs(fault, file.tries);
      return { ...file, stage: "waiting", share: 0, tries, notBeforeMs, fault };
    }
    return { ...file, stage: "failed", share: 0, tries, notBeforeMs: null, fault };
  });
}

/** Begin uploads as far as there is room for them. */
export function startUploads(
  state: ComposerState,
  conversationId: string,
  nowMs: number,
  effects: Effect[],
): ComposerState {
  let room = UPLOADS_AT_ONCE - state.files.filter((file) => file.stage === "uploading").length;
  const files = state.files.map((file): DraftFile => {
    if (room <= 0 || !isDue(file, nowMs)) return file;
    room -= 1;
    effects.push({ type: "upload", conversationId, localId: file.localId });
    return { ...file, stage: "uploading", share: 0, notBeforeMs: null };
  });
  return files.some((file, index) => file !== state.files[index]) ? { ...state, files } : state;
}

/** Whether a file waits to be sent and may be. */
export function isDue(file: DraftFile, nowMs: number): boolean {
  return file.stage === "waiting" && (file.notBeforeMs === null || file.notBeforeMs <= nowMs);
}

function changed(
  state: ComposerState,
  localId: string,
  change: (file: DraftFile) => DraftFile,
): ComposerState {
  return {
    ...state,
    files: state.files.map((file) => (file.localId === localId ? change(file) : file)),
  };
}
