/** What a transcript is made of, as far as others give it. */
import type { ConversationState, MessageState } from "@blockwire/core";
import type { MessageSource } from "./pages.ts";

/** The view of one message; the blocks' `MessageView` is one. */
export interface TranscriptView {
  /** An `<article>`. */
  readonly element: HTMLElement;
  /** Show a newer state; cheap for the same one. */
  update(message: MessageState): void;
  blockElement(blockId: string): HTMLElement | null;
  /** Draw now what is drawn in idle moments otherwise: a place in it is looked for. */
  complete?(): void;
  destroy(): void;
}

/** What a transcript reads of a feed; the core's `ConversationFeed` is one. */
export interface TranscriptFeed {
  readonly state: ConversationState;
  /** Whether a first snapshot came, so that a state without messages is a conversation without. */
  readonly isLoaded: boolean;
  readonly status: {
    readonly kind: "connecting" | "live" | "waiting" | "deleted" | "refused";
    readonly error?: { readonly code: string; readonly message: string };
  };
  /** Calls back after `state` or `status` changed; returns how to stop that. */
  subscribe(listener: () => void): () => void;
}

export interface TranscriptOptions {
  readonly feed: TranscriptFeed;
  readonly gateway: MessageSource;
  readonly conversationId: string;
  makeView(message: MessageState): TranscriptView;
  /** The reader asks to try again a conversation that could not be opened. */
  onRetry?(): void;
  /** The reader leaves a conversation that is gone or cannot be read. */
  onLeave?(): void;
  /** Says something in the page's live region; without it the transcript has its own. */
  announce?(text: string): void;
  /** Stands in a conversation without messages, below its notice. */
  readonly emptyContent?: Node;
}

/** A place to come back to: a message, and pixels from the upper edge of the window to its top. */
export interface ScrollPlace {
  readonly messageId: string;
  readonly offset: number;
}
