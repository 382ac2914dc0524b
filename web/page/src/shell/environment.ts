/**
 * What happens around the page: the network, the window, other tabs, keys. Each ends in one call.
 *
 * Spec: docs/spec/page/shell.md, "Coming back".
 */
import { systemTiming } from "@blockwire/core";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { strings } from "../strings.ts";
import { type App, openStart, showList, step } from "./app.ts";
import { POLL_MS } from "./conversations.ts";
import { isCoded } from "./failures.ts";
import { runningTurn } from "./feedview.ts";
import { type CommandName, commandFor, isTypingTarget } from "./keyboard.ts";
import { isPlainClick } from "./routes.ts";

/** Narrower than this there is no room for the list beside the conversation; as in shell.css. */
const NARROW = "(max-width: 48rem)";
/** Within so long a second Esc stops the answer, milliseconds. */
const STOP_MS = 3_000;
/** Between two attempts to reach a gateway that has never answered, milliseconds. */
const START_MS = 3_000;
/** Ages in the list move so often, milliseconds. */
const AGE_MS = 60_000;
/** A draft that has no question for so long is not asked any more, milliseconds. */
const DRAFT_MS = 172_800_000;

/** Whether the device says that it has a network. */
export function watchNetwork(onOffline: () => void): Signal<boolean> {
  const isOnline = signal(navigator.onLine);
  window.addEventListener("online", () => {
    isOnline.value = true;
  });
  window.addEventListener("offline", () => {
    isOnline.value = false;
    // Whether the gateway was behind that network is known when it is asked.
    onOffline();
  });
  return isOnline;
}

/** Tries everything again when the window or the network comes back. */
export function watchReturns(app: App): void {
  const wake = (): void => {
    if (document.visibilityState === "hidden") return;
    app.now.value = Date.now();
    app.feed.value?.wake();
    if (app.route.value.kind === "share") return;
    if (app.access.status.value === "open") void app.conversations.refresh({ all: true });
    else if (app.access.status.value === "unreachable") void app.access.start();
  };
  document.addEventListener("visibilitychange", wake);
  // Out of the cache of pages, and after the browser has put the tab to sleep.
  document.addEventListener("resume", wake);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) wake();
  });
  window.addEventListener("online", wake);
  // One request that got through says that the others will, too.
  let wasReachable = true;
  app.isReachable.subscribe((isReachable) => {
    if (isReachable && !wasReachable) app.feed.peek()?.wake();
    wasReachable = isReachable;
  });
  window.addEventListener("focus", wake);
}

/** Returns whether what failed last may be tried by itself again: a gateway may ask to wait longer. */
function restsAfter(error: ReadonlySignal<unknown>): () => boolean {
  let untilMs = 0;
  error.subscribe((value) => {
    const seconds = isCoded(value) ? (value.retryAfterS ?? 0) : 0;
    untilMs = systemTiming.nowMs() + seconds * 1000;
  });
  return () => systemTiming.nowMs() >= untilMs;
}

/** Keeps the list fresh while it is seen, and tries to begin until it worked. */
export function startTimers(app: App): void {
  const mayPoll = restsAfter(app.conversations.error);
  const mayStart = restsAfter(app.access.error);
  setInterval(() => {
    if (document.visibilityState === "hidden" || app.route.value.kind === "share") return;
    if (app.access.status.value === "open" && mayPoll()) void app.conversations.refresh();
  }, POLL_MS);
  setInterval(() => {
    const isStuck = app.access.status.value === "unreachable" && app.capabilities.value === null;
    if (isStuck && mayStart() && app.route.value.kind !== "share") void app.access.start();
  }, START_MS);
  setInterval(() => {
    app.now.value = Date.now();
  }, AGE_MS);
}

/**
 * Removes conversations that were made for the files of a question that was never asked: a tab that
 * is closed for good cannot do it itself. A day after the upload the files are gone already.
 */
export function watchDrafts(app: App): void {
  const tried = new Set<string>();
  app.conversations.drafts.subscribe((drafts) => {
    if (!app.access.canWrite.peek()) return;
    for (const { id, created_at } of drafts) {
      if (Date.now() - created_at < DRAFT_MS || tried.has(id)) continue;
      tried.add(id);
      app.gateway.deleteConversation(id).then(
        () => app.conversations.remove(id),
        // It is not seen, so nobody has to hear of it. The next visit tries again.
        (error: unknown) => console.debug(error),
      );
    }
  });
}

/** Whether the window is narrow, now and later. */
export function watchWidth(app: App): void {
  const media = window.matchMedia(NARROW);
  const read = (): void => {
    app.isNarrow.value = media.matches;
    app.isDrawerOpen.value = false;
  };
  read();
  media.addEventListener("change", read);
}

/** Lets links between our own pages change the page instead of loading it again. */
export function watchLinks(app: App): void {
  document.addEventListener("click", (event) => {
    if (!isPlainClick(event) || !(event.target instanceof Element)) return;
    const link = event.target.closest("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.download || link.target !== "") return;
    const url = new URL(link.href);
    const isOurs = url.origin === location.origin && /^\/(c\/[^/]+)?$/u.test(url.pathname);
    // What an answer links to is the answer's: only links of the shell are pages of ours.
    if (!isOurs || url.search !== "" || link.closest("[data-testid=transcript]") !== null) return;
    event.preventDefault();
    app.isDrawerOpen.value = false;
    app.router.go(`${url.pathname}${url.hash}`);
  });
}

/** Handles the shortcuts; a dialog that is open has the keys for itself. */
export function watchKeys(app: App): void {
  const isMac = /Mac|iPhone|iPad/u.test(navigator.platform);
  let stopAskedAt = Number.NEGATIVE_INFINITY;
  const stop = (event: KeyboardEvent): boolean => {
    const feed = app.feed.value;
    const turn = feed === null ? null : runningTurn(feed);
    if (feed === null || turn === null || !app.access.canWrite.value) return false;
    if (isTypingTarget(event.target)) return false;
    if (event.timeStamp - stopAskedAt > STOP_MS) {
      stopAskedAt = event.timeStamp;
      app.toast(strings.shell.pressAgainToStop);
      return true;
    }
    stopAskedAt = Number.NEGATIVE_INFINITY;
    app.gateway.cancel(feed.conversationId, turn.id).catch((error: unknown) => {
      app.fail(strings.shell.stopFailed, error);
    });
    return true;
  };
  const run = (command: CommandName, event: KeyboardEvent): boolean => {
    if (app.route.value.kind === "share") {
      if (command === "find") return app.openFind.current?.() ?? false;
      if (command === "help" || command === "settings") app.dialog.value = { kind: command };
      return command === "help" || command === "settings";
    }
    switch (command) {
      case "newConversation":
        if (!app.access.canWrite.value) return false;
        openStart(app);
        return true;
      case "search":
        // At once where the list is shown already: the next key may be of the query.
        if (!focusSearch()) {
          showList(app, true);
          requestAnimationFrame(focusSearch);
        }
        return true;
      case "find":
        return app.openFind.current?.() ?? false;
      case "focusComposer":
        return app.focusComposer();
      case "nextConversation":
        step(app, 1);
        return true;
      case "previousConversation":
        step(app, -1);
        return true;
      case "toggleSidebar":
        showList(app, !(app.isNarrow.value ? app.isDrawerOpen : app.settings.sidebar).value);
        return true;
      case "stop":
        return stop(event);
      case "help":
      case "settings":
        app.dialog.value = { kind: command };
        return true;
    }
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.repeat) return;
    if (document.querySelector("dialog[open]") !== null) return;
    if (app.capabilities.value === null && app.route.value.kind !== "share") return;
    const singleKeys = app.settings.singleKeys.value;
    const command = commandFor(event, {
      isTyping: isTypingTarget(event.target),
      isMac,
      singleKeys,
    });
    if (command !== null && run(command, event)) event.preventDefault();
  });
}

/** Puts the focus into the search over everything; false where it is not shown. */
function focusSearch(): boolean {
  const input = document.querySelector<HTMLInputElement>("[data-testid=search-input]");
  input?.focus();
  input?.select();
  return input !== null;
}

/** Tells of what no part of the page caught; the same failure once in a while. */
export function watchFailures(app: App): void {
  let toldAt = Number.NEGATIVE_INFINITY;
  const tell = (at: number): void => {
    if (at - toldAt < 10_000) return;
    toldAt = at;
    app.messages.add(strings.shell.brokenToast, "error", {
      label: strings.shell.brokenReload,
      run: () => location.reload(),
    });
  };
  window.addEventListener("error", (event) => {
    // Observers of sizes that ask for another round are no failure, nor are files that did not load.
    if (event.error === null || event.error === undefined) return;
    tell(event.timeStamp);
  });
  window.addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof Error && event.reason.name === "AbortError") return;
    tell(event.timeStamp);
  });
}

/** Puts the focus where the new page begins, unless somebody has put it somewhere else. */
export function watchFocus(app: App): void {
  let before = app.route.peek();
  app.route.subscribe((route) => {
    const isSame =
      route.kind === before.kind &&
      (route.kind !== "conversation" ||
        (before.kind === "conversation" && before.conversationId === route.conversationId));
    before = route;
    if (isSame) return;
    requestAnimationFrame(() => {
      const { activeElement } = document;
      const isFree = activeElement === null || activeElement === document.body;
      const isInList = activeElement?.closest(".sh-side") != null;
      if (document.querySelector("dialog[open]") !== null) return;
      // From the list one goes on reading in the list, with the arrows; else into the page.
      if (isFree || (isInList && !app.isNarrow.value && !isRow(activeElement))) focusPage(app);
    });
  });
}

function isRow(element: Element | null): boolean {
  return element instanceof HTMLElement && element.dataset.row !== undefined;
}

function focusPage(app: App): void {
  const isTouch = window.matchMedia("(pointer: coarse)").matches;
  // On a touch screen the focus would open the keyboard over what one came to read.
  if (!isTouch && app.focusComposer()) return;
  const main =
    document.querySelector<HTMLElement>("[data-focus]") ?? document.getElementById("sh-main");
  main?.focus({ preventScroll: true });
}
