/** What the composer asks of the gateway, and how its answers are read. */

import type { SubmitBody } from "./body.ts";
import type { AskedRequest, Fault, FeedView, Running, SentFile, TurnAnswer } from "./types.ts";

/** The part of `Gateway` that is used. Answers are read with care: they are data from elsewhere. */
export interface ComposerPort {
  createConversation(body: { metadata: { [name: string]: string } }): Promise<unknown>;
  conversations(options: { limit: number }): Promise<unknown>;
  deleteConversation(id: string): Promise<unknown>;
  submit(id: string, body: SubmitBody, key: string): Promise<unknown>;
  cancel(id: string, turnId: string): Promise<unknown>;
  turn(id: string, turnId: string): Promise<unknown>;
  resume(
    id: string,
    turnId: string,
    body: { request_id: string; answer: string },
  ): Promise<unknown>;
  upload(
    conversationId: string,
    file: Blob,
    name: string,
    options: { onProgress: (sent: number, total: number) => void; signal: AbortSignal },
  ): Promise<unknown>;
}

/** The part of `ConversationFeed` that is used. */
export interface ComposerFeed {
  readonly conversationId: string;
  readonly state: {
    message(id: string): unknown;
    readonly running: ReadonlyMap<string, RunningTurn>;
  };
  readonly queued: readonly { readonly turnId: string; readonly position: number }[];
  readonly dequeued: ReadonlyMap<string, string>;
  readonly status: { readonly kind: string };
  subscribe(listener: () => void): () => void;
}

interface RunningTurn {
  readonly status: string;
  readonly request?: unknown;
}

/** Return what the stream shows, as the machine takes it. */
export function viewOf(feed: ComposerFeed, placedIds: readonly string[]): FeedView {
  const { kind } = feed.status;
  let running: Running | null = null;
  for (const [turnId, turn] of feed.state.running) {
    running = { turnId, request: turn.status === "suspended" ? readRequest(turn.request) : null };
  }
  return {
    isLive: kind === "live",
    isGone: kind === "deleted",
    queued: feed.queued.map(({ turnId, position }) => ({ turnId, position })),
    running,
    seenIds: placedIds.filter((id) => feed.state.message(id) !== undefined),
    left: placedIds.flatMap((turnId) => {
      const reason = feed.dequeued.get(turnId);
      return reason === undefined ? [] : [{ turnId, reason }];
    }),
  };
}

/** Whether two views show the same. */
export function isSameView(one: FeedView, other: FeedView): boolean {
  return (
    one.isLive === other.isLive &&
    one.isGone === other.isGone &&
    one.running?.turnId === other.running?.turnId &&
    one.running?.request?.id === other.running?.request?.id &&
    one.queued.length === other.queued.length &&
    one.queued.every(
      ({ turnId, position }, at) =>
        turnId === other.queued[at]?.turnId && position === other.queued[at]?.position,
    ) &&
    // A turn that is seen or handed back is waited for no more, so these lists are mostly empty.
    one.seenIds.length + one.left.length === 0 &&
    other.seenIds.length + other.left.length === 0
  );
}

function readRequest(value: unknown): AskedRequest | null {
  const id = member(value, "id");
  if (typeof id !== "string") return null;
  const prompt = member(value, "prompt");
  return {
    id,
    prompt: typeof prompt === "string" ? prompt : "",
    takesText: member(value, "kind") === "question",
  };
}

/** Return an answer of submit, cancel or read. */
export function readTurn(value: unknown): TurnAnswer {
  const position = member(value, "position");
  return {
    id: textOf(member(value, "id")),
    status: textOf(member(value, "status")),
    durable: member(value, "durable") !== false,
    position: typeof position === "number" ? position : null,
    text: readContent(member(value, "content")),
  };
}

function readContent(content: unknown): string | null {
  if (!Array.isArray(content)) return null;
  const texts = content.map((block) => {
    const shown = member(block, "markdown") ?? member(block, "text") ?? member(block, "name");
    return typeof shown === "string" ? shown : "";
  });
  return texts.filter((text) => text !== "").join("\n\n");
}

/** Return the row that an upload answered with. */
export function readUpload(value: unknown, name: string, size: number): SentFile {
  const bytes = member(value, "size_bytes");
  return {
    attachmentId: textOf(member(value, "id")),
    name: textOf(member(value, "name")) || name,
    mediaType: textOf(member(value, "media_type")) || "application/octet-stream",
    size: typeof bytes === "number" ? bytes : size,
  };
}

/** The name under which a new conversation carries its mark in `metadata`. */
export const MARK = "page_draft";

/** Return the conversation of a list that carries `mark`. */
export function findMarked(list: unknown, mark: string): string | null {
  const items = member(list, "items") ?? member(list, "conversations");
  if (!Array.isArray(items)) return null;
  const found = items.find((item) => member(member(item, "metadata"), MARK) === mark);
  return textOf(member(found, "id")) || null;
}

export function readId(value: unknown): string {
  return textOf(member(value, "id"));
}

/** Return what went wrong; what is no error of the gateway is `unexpected`. */
export function readFault(error: unknown): Fault {
  const code = member(error, "code");
  const status = member(error, "status");
  if (typeof code !== "string" || typeof status !== "number") {
    return { code: "unexpected", message: "", status: 0, retryable: false, retryAfterS: null };
  }
  const after = member(error, "retryAfterS");
  return {
    code,
    message: error instanceof Error ? error.message : "",
    status,
    retryable: member(error, "retryable") === true,
    retryAfterS: typeof after === "number" ? after : null,
  };
}

/** Return a member of what may be an object. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as { readonly [name: string]: unknown })[name];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
