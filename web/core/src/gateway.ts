/**
 * Everything that is one question and one answer: conversations, turns, messages, files, access.
 *
 * Spec: docs/spec/gateway/routes.md. Each call fails with a `GatewayError`. What only reads, and what
 * has an idempotency key, is repeated a few times where that may help.
 */

import { tellAccess } from "./access.ts";
import { attachmentPath, Calls, conversationPath, turnPath } from "./calls.ts";
import type { Query } from "./http.ts";
import { type MessagePage, readEventPage, readMessagePage, readSearchPage } from "./pages.ts";
import type { StreamRequest } from "./reconnecting.ts";
import type {
  ConversationChanges,
  EventPage,
  EventsOptions,
  ExportFormat,
  GatewayOptions,
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
import type { StreamAnswer } from "./stream.ts";
import { systemTiming, type Timing } from "./timing.ts";
import { streamAnswer } from "./transports.ts";
import { type UploadOptions, uploadFile } from "./upload.ts";
import type { Json } from "./values.ts";

/** Calls one gateway. */
export class Gateway {
  readonly #calls: Calls;
  /** Whether this gateway asks with a token of its own, not with the browser's login. */
  readonly hasBearer: boolean;

  constructor(options: GatewayOptions = {}) {
    const { baseUrl = "", bearer, view, timing = systemTiming } = options;
    this.hasBearer = bearer !== undefined;
    // Browsers refuse a `fetch` that is called as somebody's method.
    const send = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#calls = new Calls({ baseUrl, bearer, fetch: send, timing }, view);
  }

  /** The clock and the dice of everything that reads from this gateway. */
  get timing(): Timing {
    return this.#calls.http.timing;
  }

  /** The view that is asked for; undefined for the most that the caller may see. */
  get view(): "public" | undefined {
    return this.#calls.view;
  }

  // the gateway ----------------------------------------------------------------------------

  /** Returns versions, engines, bounds, and what the caller may. */
  async capabilities(signal?: AbortSignal): Promise<Capabilities> {
    return readShape(
      "capabilities",
      await this.#calls.getPlain("/v1/capabilities", {}, { signal }),
    );
  }

  /** Trades a token for a cookie that no script can read; other tabs are told. */
  async login(token: string): Promise<Login> {
    const login = readShape("login", await this.#calls.post("/v1/login", { token }));
    tellAccess("login");
    return login;
  }

  /** Ends the login of the cookie; other tabs are told. */
  async logout(): Promise<void> {
    await this.#calls.post("/v1/logout");
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
    const answer = await this.#calls.http.call("GET", "/v1/conversations", {
      query: { cursor: page.cursor, limit: page.limit, view: this.view },
      headers: etag === null ? {} : { "if-none-match": etag },
      signal: page.signal,
    });
    if (answer.status === 304) return null;
    const read = (item: Json): Conversation => readShape("conversation", item);
    return { ...readPage(answer.value, read, page.cursor), etag: answer.header("etag") };
  }

  /** Returns a conversation. */
  async conversation(id: string, signal?: AbortSignal): Promise<Conversation> {
    return readShape("conversation", await this.#calls.get(conversationPath(id), {}, { signal }));
  }

  /** Makes a conversation; all of its members may be missing. */
  async createConversation(body: ConversationChanges = {}): Promise<Conversation> {
    return readShape("conversation", await this.#calls.post("/v1/conversations", body));
  }

  /** Changes what `patch` names and returns the conversation as it is then. */
  async changeConversation(id: string, patch: ConversationChanges): Promise<Conversation> {
    return readShape("conversation", await this.#calls.patch(conversationPath(id), patch));
  }

  /** Deletes a conversation: nothing of it is left. */
  async deleteConversation(id: string): Promise<void> {
    await this.#calls.delete(conversationPath(id));
  }

  /** Returns a new conversation with the messages of this one, up to a turn. */
  async fork(
    id: string,
    body: { readonly turn_id?: string; readonly title?: string | null } = {},
  ): Promise<Conversation> {
    return readShape("conversation", await this.#calls.post(`${conversationPath(id)}/fork`, body));
  }

  // turns ----------------------------------------------------------------------------------

  /** Submits a question; the same key and question give the same turn, however often. */
  async submit(id: string, body: Submit, idempotencyKey: string): Promise<Turn> {
    return this.#calls.start(`${conversationPath(id)}/turns`, body, idempotencyKey);
  }

  /** Asks the question of a turn that is over once more, as a new turn. */
  async retry(
    id: string,
    turnId: string,
    body: RetryOptions,
    idempotencyKey: string,
  ): Promise<Turn> {
    return this.#calls.start(`${turnPath(id, turnId)}/retry`, body, idempotencyKey);
  }

  /** Ends a turn and returns it; one that waits in line is handed back. */
  async cancel(id: string, turnId: string): Promise<Turn> {
    return readShape("turn", await this.#calls.post(`${turnPath(id, turnId)}/cancel`));
  }

  /** Answers the request of a suspended turn, which goes on. */
  async resume(
    id: string,
    turnId: string,
    body: { readonly request_id: string; readonly answer: Json },
  ): Promise<Turn> {
    return readShape("turn", await this.#calls.post(`${turnPath(id, turnId)}/resume`, body));
  }

  /** Returns a turn with its message as committed; `wait` holds up to so many seconds for its end. */
  async turn(id: string, turnId: string, options: WaitOptions = {}): Promise<Turn> {
    const { wait, signal } = options;
    const more = { signal, waitMs: (wait ?? 0) * 1000 };
    return readShape("turn", await this.#calls.get(turnPath(id, turnId), { wait }, more));
  }

  /** Returns a page of turns without their messages, newest first. */
  async turns(id: string, page: PageOptions = {}): Promise<Page<Turn>> {
    const { signal, ...query } = page;
    const value = await this.#calls.getPlain(`${conversationPath(id)}/turns`, query, { signal });
    return readPage(value, (item) => readShape("turn", item), page.cursor);
  }

  // messages and events --------------------------------------------------------------------

  /**
   * Returns a page of messages in conversation order: the newest (before a cursor), or with `after`
   * the oldest behind a cursor, `"0"` being the beginning. `next_cursor` goes on in that direction. With
   * `around` those before and behind a message: `next_cursor` goes on before them.
   *
   * @throws GatewayError `message_not_found`.
   */
  async messages(id: string, options: MessagesOptions = {}): Promise<MessagePage> {
    const { signal, ...query } = options;
    const value = await this.#calls.get(`${conversationPath(id)}/messages`, query, { signal });
    return readMessagePage(value, options.before ?? options.after);
  }

  /**
   * Returns a page of events behind `after`, or a page that is one snapshot; `wait` holds up to so many
   * seconds for the first one.
   */
  async eventsPage(id: string, options: EventsOptions = {}): Promise<EventPage> {
    const { after = 0, wait, signal } = options;
    const query = options.snapshot ? { snapshot: 1 } : { after, wait };
    const more = { signal, waitMs: (wait ?? 0) * 1000 };
    return readEventPage(await this.#calls.get(`${conversationPath(id)}/events`, query, more));
  }

  /** Opens an event stream: of one conversation, or with null the one of several. */
  async openEvents(
    id: string | null,
    request: StreamRequest,
    signal: AbortSignal,
  ): Promise<StreamAnswer> {
    const path = id === null ? "/v1/events" : `${conversationPath(id)}/events`;
    const { http } = this.#calls;
    const init = { headers: http.headers(request.headers), signal };
    return streamAnswer(await http.send(path, init, request.query));
  }

  /** Returns the address of a conversation's stream for an `EventSource`. */
  eventsUrl(id: string, query: Query): string {
    return this.#calls.http.url(`${conversationPath(id)}/events`, { ...query, view: this.view });
  }

  /** Returns a ticket, with which an `EventSource` may open the conversation's stream. */
  async ticket(id: string): Promise<Ticket> {
    return readShape("ticket", await this.#calls.post(`${conversationPath(id)}/tickets`));
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
    return uploadFile(this.#calls.http, path, file, name, options);
  }

  /** Returns the address of a file. */
  attachmentUrl(id: string): string {
    return this.#calls.http.url(attachmentPath(id), { view: this.view });
  }

  /** Returns the address of a small picture of a file that is an image, of `size` pixels at most. */
  previewUrl(id: string, size?: number): string {
    return this.#calls.http.url(`${attachmentPath(id)}/preview`, { size, view: this.view });
  }

  /**
   * Returns the bytes behind an address of this gateway, with the bearer: for share pages, whose
   * secret is in no URL.
   */
  async blob(url: string, signal?: AbortSignal): Promise<Blob> {
    return this.#calls.http.blob(url, signal);
  }

  /** Returns the address of an export. */
  exportUrl(id: string, format: ExportFormat): string {
    return this.#calls.http.url(`${conversationPath(id)}/export`, { format, view: this.view });
  }

  /** Returns an export, with the bearer. */
  async exportBlob(id: string, format: ExportFormat, signal?: AbortSignal): Promise<Blob> {
    return this.blob(this.exportUrl(id, format), signal);
  }

  // sharing and search ---------------------------------------------------------------------

  /** Returns the share links of a conversation, without secrets. */
  async shares(id: string): Promise<readonly Share[]> {
    const value = await this.#calls.getPlain(`${conversationPath(id)}/shares`);
    return readPage(value, (item) => readShape("share", item)).items;
  }

  /** Makes a share link; `expires_at` null: never, missing: in 30 days. */
  async createShare(
    id: string,
    body: { readonly expires_at?: number | null } = {},
  ): Promise<NewShare> {
    return readShape("new_share", await this.#calls.post(`${conversationPath(id)}/shares`, body));
  }

  /** Takes a share link back. */
  async deleteShare(id: string, shareId: string): Promise<void> {
    await this.#calls.delete(`${conversationPath(id)}/shares/${encodeURIComponent(shareId)}`);
  }

  /** Returns one page of the blocks that match, the best first. */
  async search(search: Search, signal?: AbortSignal): Promise<SearchPage> {
    const value = await this.#calls.get("/v1/search", { ...search }, { signal });
    return readSearchPage(value, search.cursor);
  }
}
