import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import { type App, titleOf, tryNow } from "./app.ts";
import { ConversationPage } from "./ConversationPage.tsx";
import { Dialog } from "./Dialog.tsx";
import { Dialogs } from "./Dialogs.tsx";
import { hasCode, reasonOf } from "./failures.ts";
import { Guard } from "./Guard.tsx";
import { Bar } from "./Header.tsx";
import { LoginForm } from "./LoginForm.tsx";
import type { Route } from "./routes.ts";
import { Over, SharePage } from "./SharePage.tsx";
import { Sidebar } from "./Sidebar.tsx";
import { StartPage } from "./StartPage.tsx";
import { State } from "./State.tsx";
import { Toasts } from "./Toasts.tsx";

/** The whole page. */
export function Shell({
  app,
  isOnline,
}: {
  app: App;
  isOnline: ReadonlySignal<boolean>;
}): JSX.Element {
  useTitle(app);
  const { value: route } = app.route;
  return (
    <>
      {route.kind === "share" || route.kind === "brokenShare" ? (
        <div class="sh-app sh-alone">
          <div class="sh-stage">
            <Guard>
              {route.kind === "share" ? (
                <SharePage
                  key={`${route.conversationId}:${route.secret}`}
                  app={app}
                  conversationId={route.conversationId}
                  secret={route.secret}
                  isOnline={isOnline}
                />
              ) : (
                <Over title={strings.shell.shareBrokenTitle} text={strings.shell.shareBrokenText} />
              )}
            </Guard>
          </div>
        </div>
      ) : (
        <Own app={app} route={route} isOnline={isOnline} />
      )}
      <Toasts messages={app.messages} />
    </>
  );
}

/** The page of somebody who may use the gateway, or is to log in. */
function Own(props: { app: App; route: Route; isOnline: ReadonlySignal<boolean> }): JSX.Element {
  const { app, route, isOnline } = props;
  const { value: status } = app.access.status;
  // What was open once stays, also when the login is over: drafts and places are in it.
  if (app.capabilities.value === null) {
    return (
      <div class="sh-app sh-alone">
        <main id="sh-main" class="sh-stage sh-center" tabIndex={-1}>
          <Entrance app={app} />
        </main>
      </div>
    );
  }
  const isDrawer = app.isNarrow.value;
  const isOpen = isDrawer ? app.isDrawerOpen.value : app.settings.sidebar.value;
  return (
    <div class="sh-app" data-drawer={isDrawer ? "" : undefined} data-list={isOpen ? "" : undefined}>
      {/* What the drawer lies over cannot be gone to. */}
      {!(isDrawer && isOpen) && (
        <button
          type="button"
          class="sh-skip"
          onClick={() => document.getElementById("sh-main")?.focus()}
        >
          {strings.shell.skip}
        </button>
      )}
      {isOpen && (
        <Guard>
          <Sidebar app={app} />
        </Guard>
      )}
      {isDrawer && isOpen && <Drawer app={app} />}
      <div class="sh-stage" inert={isDrawer && isOpen}>
        <Banner app={app} isOnline={isOnline} />
        <Guard resetKey={routeKey(route)}>
          <Page app={app} route={route} isOnline={isOnline} />
        </Guard>
      </div>
      <Guard>
        <Dialogs app={app} />
      </Guard>
      {status === "locked" && <LoginAgain app={app} />}
    </div>
  );
}

function Page(props: { app: App; route: Route; isOnline: ReadonlySignal<boolean> }): JSX.Element {
  const { app, route, isOnline } = props;
  if (route.kind === "start") return <StartPage app={app} />;
  if (route.kind === "conversation") {
    return (
      <ConversationPage
        // Whoever may see or do less than before is shown nothing that was read with more.
        key={`${route.conversationId} ${app.capabilities.value?.scopes.join(" ")}`}
        app={app}
        conversationId={route.conversationId}
        place={route.place}
        isOnline={isOnline}
      />
    );
  }
  return (
    <>
      <Bar app={app} />
      <main id="sh-main" class="sh-main" tabIndex={-1}>
        <State title={strings.shell.noPageTitle} text={strings.shell.noPageText}>
          <button type="button" class="sh-button sh-primary" onClick={() => app.router.go("/")}>
            {strings.shell.toStart}
          </button>
        </State>
      </main>
    </>
  );
}

/** Before the gateway has answered for the first time: the login, or why there is none. */
function Entrance({ app }: { app: App }): JSX.Element {
  const { value: status } = app.access.status;
  const { value: error } = app.access.error;
  if (status === "locked") {
    return (
      <section class="sh-card">
        <h1>{strings.shell.loginTitle}</h1>
        <LoginForm app={app} text={strings.shell.loginText} />
      </section>
    );
  }
  if (status === "starting") return <p class="sh-soft sh-late">{strings.shell.connecting}</p>;
  if (hasCode(error, "protocol_mismatch")) {
    return (
      <State title={strings.shell.mismatchTitle} text={strings.shell.mismatchText}>
        <button type="button" class="sh-button sh-primary" onClick={() => location.reload()}>
          {strings.shell.reload}
        </button>
      </State>
    );
  }
  const isLost = hasCode(error, "unreachable", "connection_lost");
  return (
    <State
      title={strings.shell.startFailedTitle}
      text={isLost ? strings.shell.startFailedText : reasonOf(error)}
    >
      <button type="button" class="sh-button sh-primary" onClick={() => void app.access.start()}>
        {strings.shell.tryNow}
      </button>
    </State>
  );
}

/** The login is over in the middle: asked for above the page, which stays as it is. */
function LoginAgain({ app }: { app: App }): JSX.Element | null {
  const isClosed = useSignal(false);
  if (isClosed.value) {
    return (
      <div class="sh-locked" role="alert">
        <span>{strings.shell.lockedBanner}</span>
        <button
          type="button"
          class="sh-link-button"
          onClick={() => {
            isClosed.value = false;
          }}
        >
          {strings.shell.loginAction}
        </button>
      </div>
    );
  }
  return (
    <Dialog
      title={strings.shell.loginAgainTitle}
      onClose={() => {
        isClosed.value = true;
      }}
    >
      <LoginForm app={app} text={strings.shell.loginAgainText} />
    </Dialog>
  );
}

/** Says why nothing moves, when nothing can. */
function Banner({
  app,
  isOnline,
}: {
  app: App;
  isOnline: ReadonlySignal<boolean>;
}): JSX.Element | null {
  // Without a network a gateway on this machine still answers: only what failed counts.
  if (app.isReachable.value) return null;
  const isOffline = !isOnline.value;
  return (
    <div class="sh-banner" role="status" data-testid="banner">
      <p>{isOffline ? strings.shell.offlineBanner : strings.shell.unreachableBanner}</p>
      {!isOffline && (
        <button type="button" class="sh-link-button" onClick={() => tryNow(app)}>
          {strings.shell.tryNow}
        </button>
      )}
    </div>
  );
}

/** What lies between the drawer and the page: closes it, and takes the focus into it. */
function Drawer({ app }: { app: App }): JSX.Element {
  const opener = useRef<Element | null>(document.activeElement);
  useEffect(() => {
    document.querySelector<HTMLElement>("[data-drawer-close]")?.focus();
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      app.isDrawerOpen.value = false;
    };
    document.addEventListener("keydown", onKeyDown);
    const { current: before } = opener;
    return () => {
      document.removeEventListener("keydown", onKeyDown);
      requestAnimationFrame(() => {
        if (before instanceof HTMLElement && before.isConnected && isLost()) before.focus();
      });
    };
  }, [app]);
  return (
    <div
      class="sh-shade"
      aria-hidden="true"
      onClick={() => {
        app.isDrawerOpen.value = false;
      }}
    />
  );
}

function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

function routeKey(route: Route): string {
  return route.kind === "conversation" ? route.conversationId : route.kind;
}

/** The title of the window: that of the conversation, as everywhere else. */
function useTitle(app: App): void {
  const { value: route } = app.route;
  const { value: current } = app.current;
  const isIn = route.kind === "conversation" || route.kind === "share";
  const title =
    isIn && current ? strings.shell.documentTitle(titleOf(current)) : strings.shell.name;
  useEffect(() => {
    document.title = title;
  }, [title]);
}
