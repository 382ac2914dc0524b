import type { Gateway, Json } from "@blockwire/core";

/** What the views of messages are given by the page around them: rights, words to say, what to do. */
export interface ShowContext {
  readonly gateway: Gateway;
  readonly conversationId: string;
  /** Whether the reader is the owner, and not somebody with a share link. */
  readonly isOwner: boolean;
  /** Whether the reader may ask, retry, fork and answer; without it such controls are inert or absent. */
  readonly canWrite: boolean;
  /** Whether formulas are drawn, now. Asked once for each block. */
  maths(): boolean;
  /** Says something in the one live region. */
  announce(text: string): void;
  /** Copies and tells how it went; `what` names it, such as "Code". */
  copy(text: string, what: string): void;
  retry(turnId: string): void;
  fork(turnId: string): void;
  /** Answers a suspended turn. Rejects with a GatewayError when the answer was not taken. */
  answer(turnId: string, requestId: string, answer: Json): Promise<void>;
  openImage(attachmentId: string, name: string): void;
}
