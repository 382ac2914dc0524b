import { type Conversation, ConversationFeed, createOwnLink, Gateway } from "@blockwire/core";
import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import type { Transcript } from "../transcript/Transcript.ts";
import { Access } from "./access.ts";
import { type App, titleOf } from "./app.ts";
import { Connection } from "./Connection.tsx";
import { Dialogs } from "./Dialogs.tsx";
import { exportEntries } from "./exporting.ts";
import { isLock } from "./failures.ts";
import { FeedView } from "./feedview.ts";
import { Guard } from "./Guard.tsx";
import { Icon, IconButton } from "./Icon.tsx";
import { MenuButton } from "./Menu.tsx";
import { State } from "./State.tsx";
import { openFind, TranscriptHost, type TranscriptRef } from "./TranscriptHost.tsx";

/**
 * One conversation as its link shows it: read only, with the link's secret instead of a login. The
 * secret goes into a header and nowhere else.
 */
export function SharePage(props: {
  app: App;
  conversationId: string;
  secret: string;
  isOnline: ReadonlySignal<boolean>;
}): JSX.Element {
  const { conversationId, secret } = props;
  const app = useMemo(() => makeSharedApp(props.app, secret), [props.app, secret]);
  const feed = useMemo(
    () => new ConversationFeed(app.gateway, app.link, conversationId),
    [app, conversationId],
  );
  const view = useMemo(() => new FeedView(feed), [feed]);
  const transcript: TranscriptRef = useRef<Transcript | null>(null);
  const conversation = useSignal<Conversation | null>(null);
  const { value: status } = view.status;
  const turns = view.turnsChanged.value;

  useEffect(() => {
    props.app.feed.value = feed;
    props.app.openFind.current = () => openFind(transcript.current);
    return () => {
      props.app.feed.value = null;
      props.app.openFind.current = null;
      view.close();
      feed.close();
    };
  }, [props.app, feed, view]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `turns` says when the title may be new.
  useEffect(() => {
    const abort = new AbortController();
    app.gateway.conversation(conversationId, abort.signal).then(
      (read) => {
        conversation.value = read;
        props.app.current.value = read;
      },
      () => {}, // the stream says what is wrong
    );
    return () => abort.abort();
  }, [app, conversationId, turns]);

  if (status.kind === "deleted") {
    return <Over title={strings.shell.shareGoneTitle} text={strings.shell.shareGoneText} />;
  }
  if (status.kind === "refused" && isLock(status.error)) {
    return <Over title={strings.shell.shareOverTitle} text={strings.shell.shareOverText} />;
  }
  const title = titleOf(conversation.value);
  return (
    <>
      <header class="sh-head">
        <h1 class="sh-title" dir="auto" title={title}>
          {title}
        </h1>
        <span class="sh-badge">{strings.shell.sharedBadge}</span>
        <Connection status={status} isOnline={props.isOnline} onWake={() => feed.wake()} />
        <IconButton
          icon="search"
          label={strings.shell.find}
          onClick={() => openFind(transcript.current)}
        />
        <MenuButton
          icon="more"
          label={strings.shell.menu}
          entries={() => [
            ...exportEntries(app, conversationId, title),
            { kind: "heading", label: strings.shell.page },
            {
              kind: "action",
              label: strings.shell.settings,
              icon: "gear",
              run: () => {
                props.app.dialog.value = { kind: "settings" };
              },
            },
          ]}
        />
      </header>
      <main id="sh-main" class="sh-main" tabIndex={-1} aria-label={title}>
        <Guard resetKey={conversationId}>
          <TranscriptHost app={app} feed={feed} place={null} handle={transcript} />
        </Guard>
      </main>
      <Dialogs app={app} />
    </>
  );
}

/** The page as a reader by link has it: another gateway, no rights, and the same edge. */
function makeSharedApp(app: App, secret: string): App {
  const gateway = new Gateway({ bearer: secret, view: "public", fetch: app.fetch });
  const access: App["access"] = new Access(
    {
      capabilities: () => Promise.reject(new Error("a link asks for none")),
      login: () => Promise.resolve(),
      logout: () => Promise.resolve(),
      isOpenToAll: () => Promise.resolve(true),
    },
    isLock,
  );
  return { ...app, gateway, link: createOwnLink(gateway, { closesWhileHidden: true }), access };
}

/** Instead of a conversation that a link does not show. */
export function Over({ title, text }: { title: string; text: string }): JSX.Element {
  return (
    <main id="sh-main" class="sh-main" tabIndex={-1}>
      <State title={title} text={text}>
        <span class="sh-soft">
          <Icon name="info" /> {strings.shell.name}
        </span>
      </State>
    </main>
  );
}
