import type { ConversationFeed, MessageState } from "@blockwire/core";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { MessageView, type ShowContext } from "../blocks/index.ts";
import { copyText } from "../platform/clipboard.ts";
import { strings } from "../strings.ts";
import { Transcript } from "../transcript/Transcript.ts";
import { type App, fork } from "./app.ts";
import type { ScrollPlace } from "./places.ts";
import type { Place } from "./routes.ts";

/** What the rest of the page may ask of the transcript that is shown. */
export type TranscriptRef = { current: Transcript | null };

/** Holds the transcript, which is no part of Preact's tree: it changes at each token. */
export function TranscriptHost(props: {
  app: App;
  feed: ConversationFeed;
  /** What is shown first, from the address; else where the reader was. */
  place: Place | null;
  handle: TranscriptRef;
}): JSX.Element {
  const { app, feed, place, handle } = props;
  const host = useRef<HTMLDivElement>(null);
  /** A place that was shown before: who comes back to it stands where they went on to from there. */
  const shown = useRef<Place | null>(null);
  // Who turns formulas on or off sees it at once: all is drawn anew, at the place where it stood.
  const maths = app.settings.maths.value;

  // Before anything is painted, and undone while the transcript still stands where the reader left it.
  useLayoutEffect(() => {
    const context = makeContext(app, feed.conversationId, () => handle.current?.follow());
    const transcript = new Transcript({
      feed,
      gateway: app.gateway,
      conversationId: feed.conversationId,
      makeView: (message: MessageState) => new MessageView(context, message),
      onRetry: () => feed.wake(),
      onLeave: () => app.router.go("/"),
      announce: app.announce,
    });
    handle.current = transcript;
    host.current?.append(transcript.element);
    shown.current = isShownBefore() ? place : null;
    const isNew = place !== null && shown.current === null;
    const left = isNew ? null : app.places.get(feed.conversationId);
    const unrestore = left === null ? null : restore(feed, transcript, left);
    const keep = (): void => app.places.set(feed.conversationId, transcript.place());
    window.addEventListener("pagehide", keep);
    return () => {
      window.removeEventListener("pagehide", keep);
      // Who leaves before the old place was found has been nowhere else.
      if (unrestore === null || unrestore()) keep();
      handle.current = null;
      transcript.destroy();
      transcript.element.remove();
    };
  }, [app, feed, maths]);

  useEffect(() => {
    if (place === null || place === shown.current) return undefined;
    let isWanted = true;
    void showPlace(app, feed, handle, place, () => isWanted);
    return () => {
      isWanted = false;
    };
  }, [app, feed, handle, place]);

  return (
    <>
      <div class="sh-transcript" ref={host} />
      <p class="sh-print-note">{strings.shell.printNote}</p>
    </>
  );
}

/** So long the transcript is hidden while the place where it was left is looked for, milliseconds. */
const RESTORE_MS = 700;
const RESTORE_TRIES = 4;

/**
 * Brings the reader back to where the conversation was left, without showing its end first. Sizes
 * are known when the end was laid out once; a place is then found to the pixel.
 *
 * @returns Gives up, and says whether the place had been found.
 */
function restore(feed: ConversationFeed, transcript: Transcript, left: ScrollPlace): () => boolean {
  let isDone = false;
  let isBegun = false;
  const { style } = transcript.element;
  const show = (): void => {
    style.visibility = "";
  };
  const attempt = (count: number): void => {
    void transcript.scrollTo(left.messageId, undefined, left.offset).then((isFound) => {
      isDone = true;
      afterLayout(() => {
        const place = transcript.place();
        const isThere =
          place?.messageId === left.messageId && Math.abs(place.offset - left.offset) < 1;
        // What is around the place was guessed before it was laid out for the first time.
        if (isFound && !isThere && count < RESTORE_TRIES) attempt(count + 1);
        else show();
      });
    });
  };
  const begin = (): void => {
    if (isBegun || feed.state.count === 0) return;
    isBegun = true;
    unsubscribe();
    afterLayout(() => attempt(1));
  };
  style.visibility = "hidden";
  setTimeout(show, RESTORE_MS);
  const unsubscribe = feed.subscribe(begin);
  begin();
  return () => {
    unsubscribe();
    return isDone;
  };
}

/** Calls `work` when what was changed in this frame has been laid out and measured. */
function afterLayout(work: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(work)));
}

/** Goes to a block or a message, and says so when it is not there. */
async function showPlace(
  app: App,
  feed: ConversationFeed,
  handle: TranscriptRef,
  place: Place,
  isWanted: () => boolean,
): Promise<void> {
  const { current: transcript } = handle;
  if (transcript === null) return;
  const found =
    place.messageId === null
      ? (await transcript.scrollTo(place.blockId)) ||
        (await scrollToBlock(feed, transcript, place.blockId))
      : await transcript.scrollTo(place.messageId, place.blockId);
  // Who went on to another place meanwhile is told nothing of this one.
  if (handle.current !== transcript || !isWanted()) return;
  if (found) history.replaceState({ shown: location.hash }, "");
  else app.toast(strings.shell.placeNotFound, "error");
}

/** Whether this step of the history, which is come back to, has shown the place in its address. */
function isShownBefore(): boolean {
  const { state } = history;
  return state !== null && state.shown === location.hash;
}

/** A block without its message is looked for where it is known: in what the stream told. */
async function scrollToBlock(
  feed: ConversationFeed,
  transcript: Transcript,
  blockId: string,
): Promise<boolean> {
  const { state } = feed;
  for (let index = state.count - 1; index >= 0; index -= 1) {
    const message = state.at(index);
    if (message?.blocks.some(({ id }) => id === blockId)) {
      return transcript.scrollTo(message.id, blockId);
    }
  }
  return false;
}

/** What the views of messages may do, for whoever reads here. */
export function makeContext(app: App, conversationId: string, follow: () => void): ShowContext {
  const { gateway, access } = app;
  return {
    gateway,
    conversationId,
    isOwner: access.isOwner.value,
    canWrite: access.canWrite.value,
    maths: () => app.settings.maths.value,
    announce: app.announce,
    copy(text, what) {
      void copyText(text).then((isDone) => {
        if (isDone) app.announce(strings.shell.copied(what));
        else app.toast(strings.shell.notCopied(what), "error");
      });
    },
    retry(turnId) {
      gateway.retry(conversationId, turnId, {}, freshKey()).then(follow, (error: unknown) => {
        app.fail(strings.shell.retryFailed, error);
      });
    },
    fork: (turnId) => void fork(app, conversationId, turnId),
    async answer(turnId, requestId, answer) {
      await gateway.resume(conversationId, turnId, { request_id: requestId, answer });
    },
    openImage(attachmentId, name) {
      app.dialog.value = { kind: "image", attachmentId, name };
    },
  };
}

/** A fresh idempotency key; `randomUUID` is there on secure origins only. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Opens the search in the conversation; false when its field has the focus already. */
export function openFind(transcript: Transcript | null): boolean {
  if (transcript === null) return false;
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement.dataset.testid === "find-input") {
    return false;
  }
  transcript.openFind();
  return true;
}
