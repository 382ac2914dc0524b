/**
 * The page as one object: what all parts share, and what a person can do with a conversation.
 *
 * Spec: docs/spec/page/shell.md.
 */
import type {
  Capabilities,
  Conversation,
  ConversationFeed,
  Gateway,
  SearchHit,
  StreamLink,
} from "@blockwire/core";
import { type Signal, signal } from "@preact/signals";
import { strings } from "../strings.ts";
import type { Access } from "./access.ts";
import type { ConversationList } from "./conversations.ts";
import { failureText, hasCode, isAbort, isLock } from "./failures.ts";
import type { MessageKind, Messages } from "./messages.ts";
import type { Places } from "./places.ts";
import { conversationPath, type Route, type Router } from "./routes.ts";
import type { Search } from "./search.ts";
import type { Settings } from "./settings.ts";

/** The dialog that is open above the page; one at a time. */
export type DialogState =
  | { readonly kind: "settings" | "help" }
  | { readonly kind: "share" | "delete" | "tags"; readonly conversation: Conversation }
  | { readonly kind: "image"; readonly attachmentId: string; readonly name: string };

/** What composer, transcript and shell are given. */
export interface App {
  readonly gateway: Gateway;
  readonly link: StreamLink;
  readonly capabilities: Signal<Capabilities | null>;
  readonly access: Access<Capabilities>;
  readonly router: Router;
  readonly route: Signal<Route>;
  readonly conversations: ConversationList<Conversation>;
  readonly search: Search<SearchHit>;
  readonly settings: Settings;
  readonly messages: Messages;
  readonly places: Places;
  readonly dialog: Signal<DialogState | null>;
  /** The time that ages are counted from, Unix ms; moves once a minute. */
  readonly now: Signal<number>;
  /** Whether the list lies over the page, on phones. */
  readonly isDrawerOpen: Signal<boolean>;
  /** Whether the last thing that was asked of the gateway reached it. */
  readonly isReachable: Signal<boolean>;
  /** The conversation whose title is being changed, in the list or above the transcript. */
  readonly renaming: Signal<{ readonly id: string; readonly where: "list" | "head" } | null>;
  /** What is open, newer than the list has it; null where there is none, or it is not read yet. */
  readonly current: Signal<Conversation | null>;
  /** The stream of what is open. */
  readonly feed: Signal<ConversationFeed | null>;
  /** Opens the search in the conversation, where there is one; false when it is open already. */
  readonly openFind: { current: (() => boolean) | null };
  /** Whether the window has no room for the list beside the conversation. */
  readonly isNarrow: Signal<boolean>;
  /** What every gateway of the page asks with: it notices when the way or the login is lost. */
  readonly fetch: typeof fetch;
  /** Puts the focus into the input of the composer; false where there is none. */
  focusComposer(): boolean;
  /** Shows a message at the edge of the page. */
  toast(text: string, kind?: MessageKind): void;
  /** Shows what failed, why, and what to do. A stop on purpose and a lost login are no failures. */
  fail(what: string, error: unknown): void;
  /** Says something to a screen reader. */
  announce(text: string): void;
}

export type AppParts = Pick<
  App,
  | "gateway"
  | "link"
  | "access"
  | "router"
  | "conversations"
  | "search"
  | "settings"
  | "messages"
  | "places"
  | "isReachable"
  | "fetch"
>;

/** The page, made of its parts. */
export function makeApp(parts: AppParts): App {
  const { messages } = parts;
  return {
    ...parts,
    capabilities: parts.access.capabilities,
    route: parts.router.route,
    dialog: signal(null),
    now: signal(Date.now()),
    isDrawerOpen: signal(false),
    renaming: signal(null),
    current: signal(null),
    feed: signal(null),
    openFind: { current: null },
    isNarrow: signal(false),
    focusComposer() {
      const input = document.querySelector<HTMLElement>("[data-testid=composer-input]");
      input?.focus();
      return input !== null;
    },
    toast: (text, kind) => messages.add(text, kind),
    fail(what, error) {
      if (isAbort(error)) return;
      // The login dialog is over the page by then, and says all there is to say.
      if (isLock(error)) return;
      messages.add(failureText(what, error), "error");
    },
    announce: (text) => messages.announce(text),
  };
}

/** What a person sees as the name of a conversation. */
export function titleOf(conversation: { readonly title?: string | undefined } | null): string {
  return conversation?.title || strings.shell.untitled;
}

/** Begins a new conversation: the start page, with the focus in its composer. */
export function openStart(app: App): void {
  app.isDrawerOpen.value = false;
  if (app.route.value.kind !== "start") app.router.go("/");
  // At once where it is there already: the next key may be of the question.
  else app.focusComposer();
  requestAnimationFrame(() => app.focusComposer());
}

/** Gives a conversation another title; null takes it back, so that the automatic one shows. */
export async function rename(app: App, id: string, title: string | null): Promise<boolean> {
  return change(app, id, { title }, strings.shell.renameFailed);
}

export async function setTags(app: App, id: string, tags: readonly string[]): Promise<boolean> {
  return change(app, id, { tags }, strings.shell.tagsFailed);
}

async function change(
  app: App,
  id: string,
  patch: { title?: string | null; tags?: readonly string[] },
  failed: string,
): Promise<boolean> {
  try {
    const changed = await app.gateway.changeConversation(id, patch);
    app.conversations.put(changed);
    if (app.current.value?.id === id) app.current.value = changed;
    return true;
  } catch (error) {
    app.fail(failed, error);
    return false;
  }
}

/** Deletes for good; leaves the conversation when it is the one on the screen. */
export async function remove(app: App, id: string): Promise<boolean> {
  try {
    await app.gateway.deleteConversation(id);
  } catch (error) {
    // Somebody else was faster: what was wanted is so.
    if (!hasCode(error, "conversation_not_found")) {
      app.fail(strings.shell.deleteFailed, error);
      return false;
    }
  }
  app.places.set(id, null);
  const { value: route } = app.route;
  if (route.kind === "conversation" && route.conversationId === id) {
    app.router.go("/", { replace: true });
  }
  app.conversations.remove(id);
  app.toast(strings.shell.deleted);
  requestAnimationFrame(() => {
    // Who deleted it from the list goes on in the list.
    if (document.activeElement !== document.body) return;
    document.querySelector<HTMLElement>('[data-row][tabindex="0"]')?.focus();
  });
  return true;
}

/** Begins a conversation with the messages of this one, up to and with the turn, and goes there. */
export async function fork(app: App, id: string, turnId: string | null): Promise<void> {
  try {
    const made = await app.gateway.fork(id, turnId === null ? {} : { turn_id: turnId });
    app.conversations.put(made);
    app.router.go(conversationPath(made.id));
    app.toast(strings.shell.forked);
  } catch (error) {
    app.fail(strings.shell.forkFailed, error);
  }
}

/** Shows or hides the list, and leaves the focus where the way back is. */
export function showList(app: App, isShown: boolean): void {
  if (app.isNarrow.value) app.isDrawerOpen.value = isShown;
  else app.settings.sidebar.value = isShown;
  const wayBack = isShown ? "[data-drawer-close]" : "[data-drawer-open]";
  requestAnimationFrame(() => {
    const { activeElement } = document;
    // Who is in the composer stays there.
    if (activeElement !== null && activeElement !== document.body) return;
    document.querySelector<HTMLElement>(wayBack)?.focus();
  });
}

/** Tries again at once whatever waits for its next attempt. */
export function tryNow(app: App): void {
  app.feed.value?.wake();
  if (app.access.status.value === "open") void app.conversations.refresh({ all: true });
  else void app.access.start();
}

/** Goes to the next conversation of the list (1), or the one before (-1). */
export function step(app: App, by: 1 | -1): void {
  const { value: items } = app.conversations.items;
  const { value: route } = app.route;
  const at =
    route.kind === "conversation"
      ? items.findIndex((item) => item.id === route.conversationId)
      : -1;
  const next = items[at === -1 ? (by === 1 ? 0 : -1) : at + by];
  if (next !== undefined) app.router.go(conversationPath(next.id));
}
