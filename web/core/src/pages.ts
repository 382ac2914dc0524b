/** Pages of messages, events and hits as a gateway answers them, read and checked. Spec: docs/spec/gateway/reading.md. */

import { decodeEvent } from "./codec.ts";
import { ProtocolError } from "./errors.ts";
import { invalidAnswer } from "./failures.ts";
import { type MessageState, messageState } from "./messagestate.ts";
import type { EventPage } from "./requests.ts";
import { type Page, readPage, readShape, type SearchPage } from "./shapes.ts";
import { isObject, type Json } from "./values.ts";

/** One page of messages; `previous_cursor` goes on at the other end than `next_cursor`. */
export interface MessagePage extends Page<MessageState> {
  readonly previous_cursor: string | null;
}

/**
 * Returns `value` as a page of messages.
 *
 * @param cursor The one that was asked for; a page that leads back to it is refused.
 * @throws GatewayError `invalid_answer`.
 */
export function readMessagePage(value: Json, cursor?: string): MessagePage {
  const read = (item: Json): MessageState => valid("a message", () => messageState(item));
  const page = readPage(value, read, cursor);
  const previous = isObject(value) ? value.previous_cursor : undefined;
  return { ...page, previous_cursor: typeof previous === "string" ? previous : null };
}

/** Returns `value` as a page of events. @throws GatewayError `invalid_answer`. */
export function readEventPage(value: Json): EventPage {
  const next = isObject(value) ? Number(value.next_cursor) : Number.NaN;
  if (!isObject(value) || !Array.isArray(value.items) || !Number.isSafeInteger(next)) {
    throw invalidAnswer("a page of events that is none");
  }
  const items = value.items.map((item) => valid("an event", () => decodeEvent(item)));
  return { items, next_cursor: next, at_end: value.at_end === true };
}

/** Returns `value` as a page of hits; see {@link readMessagePage}. */
export function readSearchPage(value: Json, cursor?: string): SearchPage {
  const page = readPage(value, (item) => readShape("search_hit", item), cursor);
  const isBuilding = isObject(value) && value.index === "building";
  return { ...page, index: isBuilding ? "building" : "ready" };
}

function valid<Value>(what: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw invalidAnswer(`${what} that is none (${error.code})`);
  }
}
