/**
 * Drafts and questions under way, kept in this tab so that a reload loses and doubles nothing.
 *
 * They are a person's own words, in `sessionStorage`: gone with the tab, gone at logout, and each
 * gone when it was sent. Nothing that came from a conversation is kept, and no secret.
 */

import type { SafeStore } from "../platform/storage.ts";
import { member } from "./port.ts";
import type { SavedComposer } from "./state.ts";
import type { Question, QuestionStage, SentFile } from "./types.ts";

/** Drafts that are kept; the one that was changed longest ago goes first. */
export const DRAFTS_MAX = 30;
/** Characters of one draft with its questions; a longer one is in memory alone. */
export const DRAFT_CHARS_MAX = 1_500_000;

const INDEX = "drafts";
const STAGES: readonly QuestionStage[] = ["waiting", "sent", "queued", "taken", "undecided"];

/** Drafts by place: the id of a conversation, or the empty name for the new one. */
export class DraftStore {
  readonly #store: SafeStore;

  constructor(store: SafeStore) {
    this.#store = store;
  }

  /** Places with something kept, the one that was changed longest ago first. */
  places(): string[] {
    const places = this.#store.getObject(INDEX).places;
    return Array.isArray(places) ? places.filter((place) => typeof place === "string") : [];
  }

  load(place: string): SavedComposer | null {
    return readSaved(this.#store.getObject(nameOf(place)));
  }

  /** Keep `kept`; null, or what is too long to keep, leaves nothing that is out of date. */
  save(place: string, kept: SavedComposer | null): void {
    const others = this.places().filter((other) => other !== place);
    const text = kept === null ? "" : JSON.stringify(kept);
    if (kept === null || text.length > DRAFT_CHARS_MAX) {
      this.#store.remove(nameOf(place));
      this.#index(others);
      return;
    }
    while (others.length >= DRAFTS_MAX) this.#forget(others);
    // A full storage makes room by what is oldest.
    while (!this.#store.set(nameOf(place), text) && others.length > 0) this.#forget(others);
    this.#index([...others, place]);
  }

  /** Forget everything: somebody logged out. */
  clear(): void {
    for (const place of this.places()) this.#store.remove(nameOf(place));
    this.#store.remove(INDEX);
  }

  #forget(places: string[]): void {
    const oldest = places.shift();
    if (oldest !== undefined) this.#store.remove(nameOf(oldest));
  }

  #index(places: readonly string[]): void {
    if (places.length === 0) this.#store.remove(INDEX);
    else this.#store.setObject(INDEX, { places });
  }
}

function nameOf(place: string): string {
  return `draft:${place}`;
}

/** Return what was kept, or null if it is not what this version writes. */
export function readSaved(value: unknown): SavedComposer | null {
  const mark = member(value, "mark");
  const text = member(value, "text");
  if (typeof mark !== "string" || mark === "" || typeof text !== "string") return null;
  const lost = member(value, "lostFiles");
  const answer = member(value, "answer");
  const answerId = member(answer, "requestId");
  const answerText = member(answer, "text");
  return {
    conversationId: textOrNull(member(value, "conversationId")),
    isEmptyOwn: member(value, "isEmptyOwn") === true,
    mark,
    isCreating: member(value, "isCreating") === true,
    text,
    files: readFiles(member(value, "files")),
    lostFiles: typeof lost === "number" && lost > 0 ? lost : 0,
    engine: textOrNull(member(value, "engine")),
    model: textOrNull(member(value, "model")),
    questions: listOf(member(value, "questions")).flatMap((one) => readQuestion(one) ?? []),
    doubtful: readQuestion(member(value, "doubtful")),
    answer:
      typeof answerId === "string" && typeof answerText === "string"
        ? { requestId: answerId, text: answerText }
        : null,
  };
}

function readQuestion(value: unknown): Question | null {
  const [key, text, askedAtMs] = [
    member(value, "key"),
    member(value, "text"),
    member(value, "askedAtMs"),
  ];
  const stage = STAGES.find((name) => name === member(value, "stage"));
  if (typeof key !== "string" || key === "" || typeof text !== "string") return null;
  if (typeof askedAtMs !== "number" || stage === undefined) return null;
  const lastTurn = member(value, "lastTurn");
  const position = member(value, "position");
  return {
    key,
    text,
    files: readFiles(member(value, "files")),
    engine: textOrNull(member(value, "engine")),
    model: textOrNull(member(value, "model")),
    lastTurn: typeof lastTurn === "string" || lastTurn === null ? lastTurn : undefined,
    stage,
    turnId: textOrNull(member(value, "turnId")),
    position: typeof position === "number" ? position : null,
    isUnwanted: member(value, "isUnwanted") === true,
    isReturning: false,
    isDoubtful: member(value, "isDoubtful") === true,
    isStale: false,
    askedAtMs,
  };
}

function readFiles(value: unknown): SentFile[] {
  return listOf(value).flatMap((file) => {
    const attachmentId = member(file, "attachmentId");
    const name = member(file, "name");
    const mediaType = member(file, "mediaType");
    const size = member(file, "size");
    if (typeof attachmentId !== "string" || typeof name !== "string") return [];
    if (typeof mediaType !== "string" || typeof size !== "number") return [];
    return [{ attachmentId, name, mediaType, size }];
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
