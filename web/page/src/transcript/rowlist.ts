/**
 * Which messages a transcript lists: pages of older ones, then the live state where what is loaded reaches it.
 *
 * An update of a running answer costs nothing here: states are compared by their ends, and only what was
 * appended is looked at.
 */
import type { ConversationState, MessageState } from "@blockwire/core";
import type { Row } from "./mounted.ts";
import type { Pages } from "./pages.ts";

/** What a newer state means for the list. */
export type RowChange =
  | { readonly kind: "same" }
  | { readonly kind: "appended"; readonly rows: readonly Row[] }
  | { readonly kind: "rearranged"; readonly rows: Row[] }
  /** A snapshot that begins after everything that is listed: what lies between is not known. */
  | { readonly kind: "apart" };

export class RowList {
  readonly #pages: Pages;
  #state: ConversationState;

  constructor(pages: Pages, state: ConversationState) {
    this.#pages = pages;
    this.#state = state;
    pages.reset(state.moreBefore);
  }

  get state(): ConversationState {
    return this.#state;
  }

  /** All rows, as the pages and the state say now. */
  all(): Row[] {
    const rows: Row[] = [];
    const seen = new Set<string>();
    const add = (message: MessageState) => {
      if (seen.has(message.id)) return;
      seen.add(message.id);
      rows.push({ id: message.id, message });
    };
    // What is in the live state is shown from there: it is newer.
    const isLive = (id: string) => this.#pages.isJoined && this.#state.message(id) !== undefined;
    for (const page of this.#pages.loaded) {
      for (const message of page.items) if (!isLive(message.id)) add(message);
    }
    if (this.#pages.isJoined) {
      for (let at = 0; at < this.#state.count; at += 1) add(this.#state.at(at));
    }
    return rows;
  }

  /** The newest state of a row's message. */
  newest(row: Row): MessageState {
    return this.#state.message(row.id) ?? row.message;
  }

  /** Take a newer state. `apart` leaves the list as it was; `begin` is then the way on. */
  take(state: ConversationState): RowChange {
    const old = this.#state;
    if (state === old) return { kind: "same" };
    this.#state = state;
    if (state.moreBefore !== old.moreBefore || !state.order.continues(old.order)) {
      return this.#replaced(old, state);
    }
    if (state.count === old.count || !this.#pages.isJoined) return { kind: "same" };
    const rows: Row[] = [];
    for (let at = old.count; at < state.count; at += 1) {
      const message = state.at(at);
      rows.push({ id: message.id, message });
    }
    return { kind: "appended", rows };
  }

  /** Begin at the live state alone. */
  begin(): Row[] {
    this.#pages.reset(this.#state.moreBefore);
    return this.all();
  }

  #replaced(old: ConversationState, state: ConversationState): RowChange {
    if (old.count === 0 || state.moreBefore === null) {
      this.#pages.reset(state.moreBefore);
      return { kind: "rearranged", rows: this.all() };
    }
    // It reaches as far back as the one before: the pages still fit, perhaps with what both have.
    if (state.message(old.at(0).id) !== undefined) return { kind: "rearranged", rows: this.all() };
    const firstId = state.order.at(0);
    const before: MessageState[] = [];
    for (const message of old.messages()) {
      if (message.id === firstId) {
        this.#pages.rebase(state.moreBefore, before);
        return { kind: "rearranged", rows: this.all() };
      }
      before.push(message);
    }
    return { kind: "apart" };
  }
}
