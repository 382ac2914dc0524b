/**
 * Where the reader was in each conversation, for this tab: ids and a distance, nothing that was said.
 *
 * Spec: docs/spec/page/shell.md, "Places".
 */
import type { SafeStore } from "../platform/storage.ts";

/** A place in a transcript: a message, and how far its top lies above the edge of the window. */
export interface ScrollPlace {
  readonly messageId: string;
  /** CSS pixels from the upper edge of the window to the top of the message. */
  readonly offset: number;
}

/** Of so many conversations places are kept, those left last. */
export const PLACES_MAX = 100;
const NAME = "places";

export class Places {
  readonly #store: SafeStore;

  constructor(store: SafeStore) {
    this.#store = store;
  }

  /** Where `conversationId` was left; null when at its end, or not known. */
  get(conversationId: string): ScrollPlace | null {
    for (const [id, messageId, offset] of this.#read()) {
      if (id === conversationId) return { messageId, offset };
    }
    return null;
  }

  /** Keeps where a conversation is left; null when it was at its end, where new text comes. */
  set(conversationId: string, place: ScrollPlace | null): void {
    const others = this.#read().filter(([id]) => id !== conversationId);
    if (place !== null) {
      others.push([conversationId, place.messageId, Math.round(place.offset)]);
    }
    this.#store.setObject(NAME, { list: others.slice(-PLACES_MAX) });
  }

  /** Forgets all: somebody else may be next at this machine. */
  clear(): void {
    this.#store.remove(NAME);
  }

  #read(): [string, string, number][] {
    const { list } = this.#store.getObject(NAME);
    if (!Array.isArray(list)) return [];
    return list.filter(
      (item): item is [string, string, number] =>
        Array.isArray(item) &&
        typeof item[0] === "string" &&
        typeof item[1] === "string" &&
        Number.isFinite(item[2]),
    );
  }
}
