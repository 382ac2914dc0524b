import { eventJson } from "../src/hubio.ts";
import { encodeJson, type Json, type StreamEvent } from "../src/index.ts";
import type { Timing } from "../src/timing.ts";
import type { JsonObject } from "../src/values.ts";
import type { Dice } from "./dice.ts";
import { frameOf, Log, unnumbered } from "./logmodel.ts";

interface Connection {
  readonly cursors: Map<string, number>;
  readonly isLabelled: boolean;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

/** One request as the gateway saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

const EVENT_PATH = /^\/v1\/conversations\/([^/]+)\/events$/;
const CONVERSATION_PATH = /^\/v1\/conversations\/([^/]+)$/;

/** A gateway in memory that is reached by a `fetch`: streams, pages, snapshots, cuts, restarts. */
export class FakeGateway {
  readonly logs = new Map<string, Log>();
  readonly seen: Seen[] = [];
  /** Answers given instead of the next ones. */
  readonly answers: (() => Response | Promise<Response>)[] = [];
  /** No connection can be made. */
  isDown = false;
  /** Conversations on one stream. */
  conversationsMax = 64;
  /** Events of one page. */
  pageEvents = 5;
  /** Called with bytes on their way; returns them in pieces. */
  cut: (bytes: Uint8Array) => Uint8Array[] = (bytes) => [bytes];
  /** How long an answer that is no stream takes from when it was made. */
  onTheWay: () => Promise<void> = () => Promise.resolve();
  readonly queued = new Map<string, string[]>();
  #connections = new Set<Connection>();

  log(id: string): Log {
    let log = this.logs.get(id);
    if (log === undefined) {
      log = new Log(id);
      this.logs.set(id, log);
    }
    return log;
  }

  /** How many streams are open. */
  get streams(): number {
    return this.#connections.size;
  }

  /** Requests for streams so far. */
  get opened(): readonly Seen[] {
    return this.seen.filter(({ headers }) => headers.get("accept") === "text/event-stream");
  }

  readonly fetch: typeof fetch = async (input, init) => {
    await Promise.resolve();
    if (init?.signal?.aborted) throw init.signal.reason;
    const url = new URL(String(input));
    const headers = new Headers(init?.headers);
    const method = init?.method ?? "GET";
    this.seen.push({ method, path: url.pathname, query: url.searchParams, headers });
    if (this.isDown) throw new TypeError("no connection");
    const prepared = this.answers.shift();
    if (prepared !== undefined) return prepared();
    const answer = this.#answer(url, headers, init?.signal ?? null);
    if (headers.get("accept") === "application/json") await this.onTheWay();
    if (init?.signal?.aborted) throw init.signal.reason;
    return answer;
  };

  /** Commits a random event, and writes it to who reads. */
  grow(id: string, dice: Dice): void {
    this.log(id).grow(dice);
    for (const connection of this.#connections) this.#catchUp(connection, id);
  }

  /** Tells live readers something without a number. */
  tell(id: string, event: StreamEvent): void {
    for (const connection of [...this.#connections]) {
      if (connection.cursors.has(id)) this.#write(connection, frameOf(event));
    }
  }

  delete(id: string): void {
    this.logs.delete(id);
    this.tell(id, unnumbered({ type: "conversation.deleted", conversation_id: id }));
    for (const connection of [...this.#connections]) {
      connection.cursors.delete(id);
      if (connection.cursors.size === 0) this.#end(connection, false);
    }
  }

  /** Writes heartbeats from now on. */
  beat(timing: Timing): void {
    timing.schedule(15_000, () => {
      this.writeAll(":\n\n");
      this.beat(timing);
    });
  }

  /** Ends all streams, cleanly or not. */
  cutAll(isClean: boolean): void {
    for (const connection of [...this.#connections]) this.#end(connection, isClean);
  }

  /** Writes raw text to all streams. */
  writeAll(text: string): void {
    for (const connection of this.#connections) this.#write(connection, text);
  }

  #answer(url: URL, headers: Headers, signal: AbortSignal | null): Response {
    const id = decodeURIComponent(EVENT_PATH.exec(url.pathname)?.[1] ?? "");
    if (id !== "") {
      const log = this.logs.get(id);
      if (log === undefined) return refusal(404, "conversation_not_found");
      if (headers.get("accept") === "application/json") return this.#page(log, url.searchParams);
      const cursor = Number(headers.get("last-event-id") ?? url.searchParams.get("after") ?? 0);
      return this.#stream(new Map([[id, cursor]]), false, url.searchParams, signal);
    }
    if (url.pathname === "/v1/events") return this.#many(url.searchParams, signal);
    const conversationId = decodeURIComponent(CONVERSATION_PATH.exec(url.pathname)?.[1] ?? "");
    const log = this.logs.get(conversationId);
    if (log === undefined) return refusal(404, "conversation_not_found");
    const queued = this.queued.get(conversationId) ?? [];
    return json({
      id: conversationId,
      tags: [],
      created_at: 1,
      updated_at: 1,
      head_seq: log.head,
      queued_turn_ids: queued,
    });
  }

  #many(query: URLSearchParams, signal: AbortSignal | null): Response {
    const cursors = new Map<string, number>();
    for (const item of (query.get("conversations") ?? "").split(",")) {
      const [id = "", cursor = "0"] = item.split(":");
      if (id === "") return refusal(400, "invalid_parameter");
      if (!this.logs.has(id)) return refusal(404, "conversation_not_found");
      cursors.set(id, Number(cursor));
    }
    if (cursors.size > this.conversationsMax) return refusal(400, "invalid_parameter");
    return this.#stream(cursors, true, query, signal);
  }

  #page(log: Log, query: URLSearchParams): Response {
    const after = Number(query.get("after"));
    const isAhead = after > log.head;
    if (isAhead || query.get("snapshot") === "1") {
      const items = [log.snapshot(isAhead) as unknown as Json];
      return json({ items, next_cursor: String(log.head), at_end: true });
    }
    const rest = log.events.filter((event) => (event.seq ?? 0) > after);
    const items = rest.slice(0, this.pageEvents);
    const next = items.at(-1)?.seq ?? after;
    return json({
      items: items.map(eventJson),
      next_cursor: String(next),
      at_end: items.length === rest.length,
    });
  }

  #stream(
    cursors: Map<string, number>,
    isLabelled: boolean,
    query: URLSearchParams,
    signal: AbortSignal | null,
  ): Response {
    let connection: Connection | null = null;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        connection = { cursors, isLabelled, controller };
        this.#connections.add(connection);
        this.#begin(connection, query.get("snapshot") === "1");
      },
      cancel: () => {
        if (connection !== null) this.#connections.delete(connection);
      },
    });
    signal?.addEventListener("abort", () => {
      if (connection !== null && this.#connections.delete(connection)) {
        connection.controller.error(signal.reason);
      }
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  #begin(connection: Connection, wantsSnapshot: boolean): void {
    this.#write(connection, "retry: 1000\n\n");
    for (const [id, cursor] of connection.cursors) {
      const log = this.log(id);
      const ready = unnumbered({ type: "subscription.ready", conversation_id: id, cursor });
      const label = this.#label(connection);
      this.#write(connection, `id: ${label}\n${frameOf(ready)}`);
      if (!wantsSnapshot && cursor <= log.head) continue;
      connection.cursors.set(id, log.head);
      const snapshot = log.snapshot(cursor > log.head);
      this.#write(connection, frameOf(snapshot, this.#label(connection)));
    }
    for (const id of connection.cursors.keys()) this.#catchUp(connection, id);
  }

  #catchUp(connection: Connection, id: string): void {
    const cursor = connection.cursors.get(id);
    if (cursor === undefined) return;
    for (const event of this.log(id).events) {
      const seq = event.seq ?? 0;
      if (seq <= cursor) continue;
      connection.cursors.set(id, seq);
      this.#write(connection, frameOf(event, this.#label(connection)));
    }
  }

  #label(connection: Connection): string {
    const parts = [...connection.cursors].map(([id, cursor]) => `${id}:${cursor}`);
    return connection.isLabelled ? parts.join(",") : String([...connection.cursors.values()][0]);
  }

  #write(connection: Connection, text: string): void {
    const bytes = new TextEncoder().encode(text);
    for (const piece of this.cut(bytes)) {
      if (piece.length > 0) connection.controller.enqueue(piece);
    }
  }

  #end(connection: Connection, isClean: boolean): void {
    this.#connections.delete(connection);
    if (isClean) connection.controller.close();
    else connection.controller.error(new TypeError("network error"));
  }
}

/** Returns an answer with JSON. */
export function json(value: Json | JsonObject, init: ResponseInit = {}): Response {
  return new Response(encodeJson(value), {
    ...init,
    headers: { "content-type": "application/json", "blockwire-protocol": "1", ...init.headers },
  });
}

/** Returns a refusal in the gateway's words. */
export function refusal(status: number, code: string, headers: HeadersInit = {}): Response {
  const error = { code, message: `because of ${code}`, retryable: status >= 500 || status === 429 };
  return json({ error }, { status, headers });
}
