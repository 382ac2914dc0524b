/**
 * Addresses of the page, and going from one to another without loading it again.
 *
 * Spec: docs/spec/page/shell.md, "Addresses".
 */
import { type Signal, signal } from "@preact/signals";

/** Where the reader is. Ids are as the gateway names them, decoded. */
export type Route =
  | { readonly kind: "start" }
  | {
      readonly kind: "conversation";
      readonly conversationId: string;
      /** What to show first, from the fragment: a block, its message when that is named, or null. */
      readonly place: Place | null;
    }
  | { readonly kind: "share"; readonly conversationId: string; readonly secret: string }
  /** The fragment begins like a share link and is none: cut, or typed wrongly. */
  | { readonly kind: "brokenShare" }
  | { readonly kind: "unknown" };

/** A place in a conversation; without `messageId` the id may be of a block or of a message. */
export interface Place {
  readonly messageId: string | null;
  readonly blockId: string;
}

const SHARE = "#share=";

/** The route of a path and a fragment, as `location` spells them. */
export function parseRoute(pathname: string, hash: string): Route {
  if (hash.startsWith(SHARE)) return parseShare(hash.slice(SHARE.length));
  if (pathname === "/") return { kind: "start" };
  const [, id] = /^\/c\/([^/]+)\/?$/.exec(pathname) ?? [];
  const conversationId = id === undefined ? null : decode(id);
  if (!conversationId) return { kind: "unknown" };
  return { kind: "conversation", conversationId, place: parsePlace(hash) };
}

function parseShare(text: string): Route {
  // The secret is letters, digits and underscores; an id may hold a colon.
  const colon = text.lastIndexOf(":");
  const conversationId = colon > 0 ? decode(text.slice(0, colon)) : null;
  const secret = text.slice(colon + 1);
  if (!conversationId || !/^bws_[A-Za-z0-9_-]{16,256}$/.test(secret))
    return { kind: "brokenShare" };
  return { kind: "share", conversationId, secret };
}

function parsePlace(hash: string): Place | null {
  const [first = "", second] = hash.slice(1).split("/", 2);
  const ids = [decode(first), second === undefined ? null : decode(second)];
  if (!ids[0]) return null;
  if (second === undefined) return { messageId: null, blockId: ids[0] };
  return ids[1] ? { messageId: ids[0], blockId: ids[1] } : null;
}

/** The address of a conversation, and of a place in it. */
export function conversationPath(conversationId: string, place?: Place | null): string {
  const path = `/c/${encodeURIComponent(conversationId)}`;
  if (!place) return path;
  const message = place.messageId === null ? "" : `${encodeURIComponent(place.messageId)}/`;
  return `${path}#${message}${encodeURIComponent(place.blockId)}`;
}

/** The whole link of a share, from what the gateway answered as `fragment`. */
export function shareLink(origin: string, fragment: string): string {
  return `${origin}/#${fragment}`;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** What of `window` is needed, so that tests can do without one. */
export interface HistoryPort {
  readonly location: { readonly pathname: string; readonly hash: string };
  readonly history: {
    pushState(data: unknown, unused: string, url: string): void;
    replaceState(data: unknown, unused: string, url: string): void;
  };
  addEventListener(type: "popstate" | "hashchange", listener: () => void): void;
}

/** The address bar as a signal. */
export class Router {
  readonly route: Signal<Route>;
  readonly #port: HistoryPort;

  constructor(port: HistoryPort) {
    this.#port = port;
    this.route = signal(this.#read());
    const look = (): void => {
      this.route.value = this.#read();
    };
    port.addEventListener("popstate", look);
    // An address typed over the old one, with another fragment alone, loads nothing.
    port.addEventListener("hashchange", look);
  }

  /** Goes to `path`, a new step of the history unless `replace` is set. */
  go(path: string, { replace = false }: { replace?: boolean } = {}): void {
    const { history } = this.#port;
    if (replace) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
    this.route.value = this.#read();
  }

  #read(): Route {
    const { pathname, hash } = this.#port.location;
    return parseRoute(pathname, hash);
  }
}

/** Whether a click is for the page: the main button alone, on a link of ours in this tab. */
export function isPlainClick(event: MouseEvent): boolean {
  return (
    event.button === 0 &&
    !event.defaultPrevented &&
    !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
  );
}
