import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Composer } from "../composer/Composer.tsx";
import { strings } from "../strings.ts";
import { type App, titleOf } from "./app.ts";
import { Guard } from "./Guard.tsx";
import { Bar } from "./Header.tsx";
import { shortAge } from "./listing.ts";
import { conversationPath } from "./routes.ts";

/** So many conversations are offered to go on with. */
const RECENT = 4;

/** A new conversation: it is made by the first question. */
export function StartPage({ app }: { app: App }): JSX.Element {
  const canWrite = app.access.canWrite.value;
  useEffect(() => {
    // On a touch screen the focus would open the keyboard over what can be gone on with.
    const isTouch = window.matchMedia("(pointer: coarse)").matches;
    const isFree = document.activeElement === null || document.activeElement === document.body;
    if (canWrite && !isTouch && isFree) app.focusComposer();
  }, [app, canWrite]);
  return (
    <>
      <Bar app={app} />
      <main id="sh-main" class="sh-main sh-start" tabIndex={-1}>
        <div class="sh-start-words">
          <h1>{canWrite ? strings.shell.startTitle : strings.shell.startReadOnlyTitle}</h1>
          <p class="sh-soft">{canWrite ? strings.shell.startText : strings.shell.startReadOnly}</p>
        </div>
        {canWrite && (
          <Guard resetKey="start">
            <Composer
              app={app}
              feed={null}
              onCreated={(conversationId) => {
                app.router.go(conversationPath(conversationId));
                void app.conversations.refresh();
              }}
            />
          </Guard>
        )}
        <Recent app={app} />
      </main>
    </>
  );
}

function Recent({ app }: { app: App }): JSX.Element {
  const recent = [...app.conversations.items.value]
    .sort((a, b) => b.updated_at - a.updated_at)
    .slice(0, RECENT);
  // Its room is kept, so that the composer stays where it is when the list comes.
  return (
    <section class="sh-recent" aria-label={strings.shell.recent}>
      {recent.length > 0 && <h2 class="sh-group-name">{strings.shell.recent}</h2>}
      <ul class="sh-rows">
        {recent.map((item) => (
          <li key={item.id}>
            <a class="sh-recent-link" href={conversationPath(item.id)}>
              <span class="sh-row-title" dir="auto">
                {titleOf(item)}
              </span>
              <span class="sh-row-age">{shortAge(item.updated_at, app.now.value)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
