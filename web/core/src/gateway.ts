/**
 * Everything that is one question and one answer: conversations, turns, messages, files, access.
 *
 * Spec: docs/spec/gateway/routes.md. Each call fails with a `GatewayError`. What only reads, and what
 * has an idempotency key, is repeated a few times where that may help.
 */

import { tellAccess } from "./access.ts";
import { decodeEvent } from "./codec.ts";
import { ProtocolError } from "./errors.ts";
import { invalidAnswer, refusal } from "./failures.ts";
import { type CallOptions, Http, type Query } from "./http.ts";
import type { StreamRequest } from "./reconnecting.ts";
import type {
  ConversationChanges,
  EventPage,
  EventsOptions,
  ExportFormat,
  MessagesOptions,
  PageOptions,
  RetryOptions,
  Search,
  Submit,
  WaitOptions,
} from "./requests.ts";
import {
  type Attachment,
  type Capabilities,
  type Conversation,
  type ConversationPage,
  type Login,
  type NewShare,
  type Page,
  readPage,
  readShape,
  type SearchPage,
  type Share,
  type Ticket,
  type Turn,
} from "./shapes.ts";
import { type MessageState, messageState } from "./state.ts";
import type { StreamAnswer } from "./stream.ts";
import { systemTiming, type Timing } from "./timing.ts";
import { streamAnswer } from "./transports.ts";
import { type UploadOptions, uploadFile } from "./upload.ts";
import { isObject, type Json, type JsonObject } from "./values.ts";

/** A cursor that is ahead of any log, and is answered with a snapshot (docs/spec/gateway/stream.md). */
export const CURSOR_AHEAD = Number.MAX_SAFE_INTEGER;

/** Where the gateway is, and who asks. */
export interface GatewayOptions {
  /** Without a slash at its end; empty for the page's own origin. */
  readonly baseUrl?: string;
  /** A token or a share's secret. Without one the login's cookie counts. */
  readonly bearer?: string;
  /** Ask for less than the caller may see. */
  readonly view?: "public";
  readonly fetch?: typeof fetch;
  readonly timing?: Timing;
}

/** Calls one gateway. */
export class Gateway {
  readonly #http: Http;
  readonly #view: "public" | undefined;
  /** Whether this gateway asks with a token of its own, not with the browser's login. */
  readonly hasBearer: boolean;

  constructor(options: GatewayOptions = {}) {
    this.#view = options.view;
    this.hasBearer = options.bearer !== undefined;
    this.#http = new Http({
      baseUrl: options.baseUrl ?? "",
      bearer: options.bearer,
      // Browsers refuse a `fetch` that is called as somebody's method.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      timing: options.timing ?? systemTiming,
    });
  }

  /** The clock and the dice of everything that reads from this gateway. */
  get timing(): Timing {
    return this.#http.timing;
  }

  /** The view that is asked for; undefined for the most that the caller may see. */
  get view(): "public" | undefined {
    return this.#view;
  }

  // the gateway ----------------------------------------------------------------------------

  /** Returns versions, engines, bounds, and what the caller may. */
  async capabilities(signal?: AbortSignal): Promise<Capabilities> {
    return readShape("capabilities", await this.#get("/v1/capabilities", {}, signal, false));
  }

  /** Trades a token for a cookie that no script can read; other tabs are told. */
  async login(token: string): Promise<Login> {
    const answer = await this.#http.call("POST", "/v1/login", { body: { token } });
    const login = readShape("login", answer.value);
    tellAccess("login");
    return login;
  }

  /** Ends the login of the cookie; other tabs are told. */
  async logout(): Promise<void> {
    await this.#http.call("POST", "/v1/logout");
    tellAccess("logout");
  }

  // conversations --------------------------------------------------------------------------

  /**
   * Returns a page of conversations, newest first; with the `etag` of an earlier page null when
   * nothing of it has changed.
   */
  async conversations(page?: PageOptions): Promise<ConversationPage>;
  async conversations(page: PageOptions, etag: string | null): Promise<ConversationPage | null>;
  async conversations(
    page: PageOptions = {},
    etag: string | null = null,
  ): Promise<ConversationPage | null> {
    const answer = await this.#http.call("GET", "/v1/conversations", {
      query: { cursor: page.cursor, limit: page.limit, view: this.#view },
      headers: etag === null ? {} : { "if-none-match": etag },
      signal: page.signal,
    });
    if (answer.status === 304) return null;
    const read = (item: Json): Conversation => readShape("conversation", item);
    return { ...readPage(answer.value, read, page.cursor), etag: answer.header("etag") };
  }

  /** Returns a conversation. */
  async conversation(id: string, signal?: AbortSignal): Promise<Conversation> {
    return readShape("conversation", await this.#get(conversationPath(id), {}, signal));
  }

  /** Makes a conversation; all of its members may be missing. */
  async createConversation(body: ConversationChanges = {}): Promise<Conversation> {
    return readShape("conversation", await this.#post("/v1/conversations", body));
  }

  /** Changes what `patch` names and returns the conversation as it is then. */
  async changeConversation(id: string, patch: ConversationChanges): Promise<Conversation> {
    const body = patch as JsonObject;
    const answer = await this.#http.call("PATCH", conversationPath(id), { body });
    return readShape("conversation", answer.value);
  }

  /** Deletes a conversation: nothing of it is left. */
  async deleteConversation(id: string): Promise<void> {
    await this.#http.call("DELETE", conversationPath(id));
  }

  /** Returns a new conversation with the messages of this one, up to a turn. */
  async fork(
    id: string,
    body: { readonly turn_id?: string; readonly title?: string | null } = {},
  ): Promise<Conversation> {
    return readShape("conversation", await this.#post(`${conversationPath(id)}/fork`, body));
  }

  // turns ----------------------------------------------------------------------------------

  /** Submits a question; the same key and question give the same turn, however often. */
  async submit(id: string, body: Submit, idempotencyKey: string): Promise<Turn> {
    return this.#start(`${conversationPath(id)}/turns`, body, idempotencyKey);
  }

  /** Asks the question of a turn that is over once more, as a new turn. */
  async retry(
    id: string,
    turnId: string,
    body: RetryOptions,
    idempotencyKey: string,
  ): Promise<Turn> {
    return this.#start(`${turnPath(id, turnId)}/retry`, body, idempotencyKey);
  }

  /** Ends a turn and returns it; one that waits in line is handed back. */
  async cancel(id: string, turnId: string): Promise<Turn> {
    return readShape("turn", await this.#post(`${turnPath(id, turnId)}/cancel`));
  }

  /** Answers the request of a suspended turn, which goes on. */
  async resume(
    id: string,
    turnId: string,
    body: { readonly request_id: string; readonly answer: Json },
  ): Promise<Turn> {
    return readShape("turn", await this.#post(`${turnPath(id, turnId)}/resume`, body));
  }

  /** Returns a turn with its message as committed; `wait` holds up to so many seconds for its end. */
  async turn(id: string, turnId: string, options: WaitOptions = {}): Promise<Turn> {
    const answer = await this.#http.call("GET", turnPath(id, turnId), {
      query: { wait: options.wait, view: this.#view },
      signal: options.signal,
      waitMs: (options.wait ?? 0) * 1000,
    });
    return readShape("turn", answer.value);
  }

  /** Returns a page of turns without their messages, newest first. */
  async turns(id: string, page: PageOptions = {}): Promise<Page<Turn>> {
    const query = { cursor: page.cursor, limit: page.limit };
    const value = await this.#get(`${conversationPath(id)}/turns`, query, page.signal, false);
    return readPage(value, (item) => readShape("turn", item), page.cursor);
  }

  // messages and events --------------------------------------------------------------------

  /**
   * Returns a page of messages in conversation order: the newest (before a cursor), or with `after`
   * the oldest behind a cursor, `"0"` being the beginning. `next_cursor` goes on in that direction.
   */
  async messages(id: string, options: MessagesOptions = {}): Promise<Page<MessageState>> {
    const { signal, ...query } = options;
    const value = await this.#get(`${conversationPath(id)}/messages`, query, signal);
    return readPage(value, readMessage, options.before ?? options.after);
  }

  /**
   * Returns a page of events behind `after`, or a snapshot; `wait` holds up to so many seconds for the
   * first one.
   */
  async eventsPage(id: string, options: EventsOptions = {}): Promise<EventPage> {
    const after = options.snapshot ? CURSOR_AHEAD : (options.after ?? 0);
    const value = await this.#get(
      `${conversationPath(id)}/events`,
      { after, wait: options.wait },
      options.signal,
      true,
      (options.wait ?? 0) * 1000,
    );
    return readEventPage(value);
  }

  /** Opens an event stream: of one conversation, or with null the one of several. */
  async openEvents(
    id: string | null,
    request: StreamRequest,
    signal: AbortSignal,
  ): Promise<StreamAnswer> {
    const path = id === null ? "/v1/events" : `${conversationPath(id)}/events`;
    const init = { headers: this.#http.headers(request.headers), signal };
    return streamAnswer(await this.#http.send(path, init, request.query));
  }

  /** Returns the address of a conversation's stream for an `EventSource`. */
  eventsUrl(id: string, query: Query): string {
    return this.#http.url(`${conversationPath(id)}/events`, { ...query, view: this.#view });
  }

  /** Returns a ticket, with which an `EventSource` may open the conversation's stream. */
  async ticket(id: string): Promise<Ticket> {
    return readShape("ticket", await this.#post(`${conversationPath(id)}/tickets`));
  }

  // files ----------------------------------------------------------------------------------

  /** Sends a file and returns what is known of it. */
  async upload(
    conversationId: string,
    file: Blob,
    name: string,
    options: UploadOptions = {},
  ): Promise<Attachment> {
    const path = `${conversationPath(conversationId)}/attachments`;
    return uploadFile(this.#http, path, file, name, options);
  }

  /** Returns the address of a file. */
  attachmentUrl(id: string): string {
    return this.#http.url(attachmentPath(id), { view: this.#view });
  }

  /** Returns the address of a small picture of a file that is an image, of `size` pixels at most. */
  previewUrl(id: string, size?: number): string {
    return this.#http.url(`${attachmentPath(id)}/preview`, { size, view: this.#view });
  }

  /**
   * Returns the bytes behind an address of this gateway, with the bearer: for share pages, whose
   * secret is in no URL.
   */
  async blob(url: string, signal?: AbortSignal): Promise<Blob> {
    const base = this.#http.url("");
    if (!url.startsWith(`${base}/`) || url.startsWith("//")) {
      throw invalidAnswer("an address of another origin");
    }
    const init: RequestInit = { headers: this.#http.headers() };
    if (signal !== undefined) init.signal = signal;
    const response = await this.#http.send(url.slice(base.length), init);
    if (response.ok) return response.blob();
    const header = (name: string): string | null => response.headers.get(name);
    throw refusal(response.status, header, await response.text(), this.timing.nowMs());
  }

  /** Returns the address of an export. */
  exportUrl(id: string, format: ExportFormat): string {
    return this.#http.url(`${conversationPath(id)}/export`, { format, view: this.#view });
  }

  /** Returns an export, with the bearer. */
  async exportBlob(id: string, format: ExportFormat, signal?: AbortSignal): Promise<Blob> {
    return this.blob(this.exportUrl(id, format), signal);
  }

  // sharing and search ---------------------------------------------------------------------

  /** Returns the share links of a conversation, without secrets. */
  async shares(id: string): Promise<readonly Share[]> {
    const value = await this.#get(`${conversationPath(id)}/shares`, {}, undefined, false);
    return readPage(value, (item) => readShape("share", item)).items;
  }

  /** Makes a share link; `expires_at` null: never, missing: in 30 days. */
  async createShare(
    id: string,
    body: { readonly expires_at?: number | null } = {},
  ): Promise<NewShare> {
    return readShape("new_share", await this.#post(`${conversationPath(id)}/shares`, body));
  }

  /** Takes a share link back. */
  async deleteShare(id: string, shareId: string): Promise<void> {
    const path = `${conversationPath(id)}/shares/${encodeURIComponent(shareId)}`;
    await this.#http.call("DELETE", path);
  }

  /** Returns one page of the blocks that match, the best first. */
  async search(search: Search, signal?: AbortSignal): Promise<SearchPage> {
    const value = await this.#get("/v1/search", { ...search }, signal);
    const page = readPage(value, (item) => readShape("search_hit", item), search.cursor);
    const isBuilding = isObject(value) && value.index === "building";
    return { ...page, index: isBuilding ? "building" : "ready" };
  }

  // ----------------------------------------------------------------------------------------

  async #get(
    path: string,
    query: Query,
    signal?: AbortSignal,
    hasView = true,
    waitMs = 0,
  ): Promise<Json> {
    const view = hasView ? this.#view : undefined;
    const options: CallOptions = { query: { ...query, view }, signal, waitMs };
    return (await this.#http.call("GET", path, options)).value;
  }

  async #post(path: string, body?: object): Promise<Json> {
    const options: CallOptions = body === undefined ? {} : { body: body as JsonObject };
    return (await this.#http.call("POST", path, options)).value;
  }

  async #start(path: string, body: object, idempotencyKey: string): Promise<Turn> {
    const answer = await this.#http.call("POST", path, {
      body: body as JsonObject,
      headers: { "idempotency-key": idempotencyKey },
      isRepeatable: true,
    });
    return readShape("turn", answer.value);
  }
}

/** Returns a fresh idempotency key: no counter that begins anew could ever repeat one. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `key_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function conversationPath(id: string): string {
  return `/v1/conversations/${encodeURIComponent(id)}`;
}

function turnPath(id: string, turnId: string): string {
  return `${conversationPath(id)}/turns/${encodeURIComponent(turnId)}`;
}

function attachmentPath(id: string): string {
  return `/v1/attachments/${encodeURIComponent(id)}`;
}

function readMessage(item: Json): MessageState {
  try {
    return messageState(item);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw invalidAnswer(`a message that is none (${error.code})`);
  }
}

function readEventPage(value: Json): EventPage {
  const next = isObject(value) ? Number(value.next_cursor) : Number.NaN;
  if (!isObject(value) || !Array.isArray(value.items) || !Number.isSafeInteger(next)) {
    throw invalidAnswer("a page of events that is none");
  }
  try {
    const items = value.items.map(decodeEvent);
    return { items, next_cursor: next, at_end: value.at_end === true };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw invalidAnswer(`an event that is none (${error.code})`);
  }
}
