import type { BlockState, MessageState } from "@blockwire/core";
import { textMember } from "./blockview.ts";

/** What a message's turn allows and how it stands, as the controls and notes need it. */
export interface TurnFacts {
  /** Of the turn whose answer this is; empty for messages that are none. */
  readonly turnId: string;
  readonly status: MessageState["status"];
  /** Whether the turn is over, and so may be retried and forked. */
  readonly isOver: boolean;
  /** Whether the gateway ended while the turn ran. */
  readonly isInterrupted: boolean;
  /** The block that tells how the turn ended; empty where none does. */
  readonly endBlockId: string;
}

/** Whether nothing of a message in this status changes any more. */
export function isTerminal(status: MessageState["status"]): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Reads the facts of a message. */
export function turnFacts(message: MessageState): TurnFacts {
  const isAnswer = message.role === "assistant";
  const end = isTerminal(message.status) ? endBlock(message) : undefined;
  const code = message.turn?.errorCode ?? (end === undefined ? "" : textMember(end, "code"));
  return {
    // The answer of a turn has the id of its turn.
    turnId: isAnswer ? (message.turnId ?? message.id) : "",
    status: message.status,
    isOver: isAnswer && isTerminal(message.status),
    isInterrupted: message.status === "failed" && code === "turn_interrupted",
    endBlockId: end?.id ?? "",
  };
}

/** The last block that says why an answer is no more than it is. */
function endBlock(message: MessageState): BlockState | undefined {
  for (let i = message.blocks.length - 1; i >= 0; i -= 1) {
    const block = message.blocks[i];
    if (block === undefined) continue;
    if (block.type === "error") return block;
    if (block.type === "notice" && textMember(block, "code") === "turn_cancelled") return block;
  }
  return undefined;
}

/** Whether two messages say the same of their turn. */
export function sameFacts(a: TurnFacts, b: TurnFacts): boolean {
  return (
    a.turnId === b.turnId &&
    a.status === b.status &&
    a.isOver === b.isOver &&
    a.isInterrupted === b.isInterrupted &&
    a.endBlockId === b.endBlockId
  );
}
