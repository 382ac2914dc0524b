import { ConversationFeed } from "@blockwire/core";
import type { ReadonlySignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Composer } from "../composer/Composer.tsx";
import { deskOf } from "../composer/desks.ts";
import { strings } from "../strings.ts";
import type { Transcript } from "../transcript/Transcript.ts";
import { type App, titleOf } from "./app.ts";
import { isAbort } from "./failures.ts";
import { FeedView } from "./feedview.ts";
import { Guard } from "./Guard.tsx";
import { Bar, Header } from "./Header.tsx";
import type { Place } from "./routes.ts";
import { State } from "./State.tsx";
import { openFind, TranscriptHost, type TranscriptRef } from "./TranscriptHost.tsx";

/** One conversation: made anew for each, so that nothing of one is shown in another. */
export function ConversationPage(props: {
  app: App;
  conversationId: string;
  place: Place | null;
  isOnline: ReadonlySignal<boolean>;
}): JSX.Element {
  const { app, conversationId, place, isOnline } = props;
  const feed = useMemo(
    () => new ConversationFeed(app.gateway, app.link, conversationId),
    [app, conversationId],
  );
  const view = useMemo(() => new FeedView(feed), [feed]);
  const transcript: TranscriptRef = useRef<Transcript | null>(null);

  useEffect(() => {
    app.feed.value = feed;
    app.openFind.current = () => openFind(transcript.current);
    return () => {
      if (app.feed.value === feed) app.feed.value = null;
      app.openFind.current = null;
      app.current.value = null;
      view.close();
      feed.close();
    };
  }, [app, feed, view]);

  useCurrent(app, conversationId, view);
  useFollowing(app, conversationId, transcript);

  const { value: status } = view.status;
  if (status.kind === "deleted") return <Gone app={app} wasHere={view.hasMessages.value} />;
  return (
    <>
      <Header
        app={app}
        view={view}
        isOnline={isOnline}
        onFind={() => openFind(transcript.current)}
      />
      <main id="sh-main" class="sh-main" tabIndex={-1} aria-label={titleOf(app.current.value)}>
        <Guard resetKey={conversationId}>
          <TranscriptHost app={app} feed={feed} place={place} handle={transcript} />
        </Guard>
        {app.access.canWrite.value && (
          <Guard resetKey={conversationId}>
            <Composer app={app} feed={feed} onCreated={() => {}} />
          </Guard>
        )}
      </main>
    </>
  );
}

/** Who asks something wants to see it, and the answer: goes to the end, wherever one was reading. */
function useFollowing(app: App, conversationId: string, transcript: TranscriptRef): void {
  const desk = deskOf(app);
  const generation = desk.generation.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another generation has other composers.
  useEffect(() => {
    if (!app.access.canWrite.peek()) return undefined;
    const { state } = desk.of(conversationId);
    let before = state.peek().questions.length;
    return state.subscribe(({ questions: { length } }) => {
      if (length > before) transcript.current?.follow();
      before = length;
    });
  }, [app, desk, generation, conversationId, transcript]);
}

/** Reads title, tags and totals: at first, and whenever a turn begins or ends. */
function useCurrent(app: App, conversationId: string, view: FeedView): void {
  const listed = app.conversations.get(conversationId);
  const turns = view.turnsChanged.value;
  const { value: running } = view.running;

  // What the list knows is shown until the conversation itself was read.
  useEffect(() => {
    if (app.current.value?.id !== conversationId && listed) app.current.value = listed;
  }, [app, conversationId, listed]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `turns` says when to ask again.
  useEffect(() => {
    const abort = new AbortController();
    app.gateway.conversation(conversationId, abort.signal).then(
      (conversation) => {
        if (abort.signal.aborted) return;
        app.current.value = conversation;
        app.conversations.update(conversation);
      },
      (error: unknown) => {
        // The stream says what is wrong with the conversation, or with the way to it.
        if (!isAbort(error)) console.debug(error);
      },
    );
    return () => abort.abort();
  }, [app, conversationId, turns]);

  useEffect(() => {
    app.conversations.note(conversationId, running);
    return () => app.conversations.left();
  }, [app, conversationId, running]);
}

/** Instead of a conversation that is not there. */
function Gone({ app, wasHere }: { app: App; wasHere: boolean }): JSX.Element {
  const { route } = app;
  useEffect(() => {
    const { value: gone } = route;
    if (gone.kind === "conversation") app.conversations.remove(gone.conversationId);
  }, [app, route]);
  return (
    <>
      <Bar app={app} />
      <main id="sh-main" class="sh-main" tabIndex={-1}>
        <State
          title={wasHere ? strings.shell.deletedTitle : strings.shell.notFoundTitle}
          text={wasHere ? strings.shell.deletedText : strings.shell.notFoundText}
        >
          <button type="button" class="sh-button sh-primary" onClick={() => app.router.go("/")}>
            {strings.shell.toStart}
          </button>
        </State>
      </main>
    </>
  );
}
