/** Begins the page: makes its parts, joins them, and shows them. */
import {
  type Capabilities,
  type Conversation,
  Gateway,
  onAccess,
  type SearchHit,
} from "@blockwire/core";
import { signal } from "@preact/signals";
import { render } from "preact";
import { forgetDrafts } from "./composer/desks.ts";
import { createSharedLink } from "./platform/sharedlink.ts";
import { localStore, tabStore } from "./platform/storage.ts";
import { Access } from "./shell/access.ts";
import { makeApp } from "./shell/app.ts";
import { ConversationList, type ListNews } from "./shell/conversations.ts";
import {
  startTimers,
  watchDrafts,
  watchFailures,
  watchFocus,
  watchKeys,
  watchLinks,
  watchNetwork,
  watchReturns,
  watchWidth,
} from "./shell/environment.ts";
import { isLock } from "./shell/failures.ts";
import { Messages } from "./shell/messages.ts";
import { Places } from "./shell/places.ts";
import { Router } from "./shell/routes.ts";
import { Shell } from "./shell/Shell.tsx";
import { Search } from "./shell/search.ts";
import { makeSettings, showSettings } from "./shell/settings.ts";
import { listSource, noticingFetch, searchSource } from "./shell/sources.ts";
import "./styles/tokens.css";
import "./styles/shell.css";
import "./styles/markdown.css";
import "./styles/blocks.css";
import "./styles/transcript.css";
import "./styles/composer.css";

const isReachable = signal(true);
const pageFetch = noticingFetch({
  reached: (isReached) => {
    isReachable.value = isReached;
  },
  locked: () => access.expire(),
});
const gateway = new Gateway({ fetch: pageFetch });
const access = new Access<Capabilities>(
  {
    capabilities: () => gateway.capabilities(),
    login: (token) => gateway.login(token),
    logout: () => gateway.logout(),
    async isOpenToAll() {
      const headers = { "blockwire-protocol": "1" };
      return (await fetch("/v1/capabilities", { credentials: "omit", headers })).ok;
    },
  },
  isLock,
);
const channel =
  typeof BroadcastChannel === "function" ? new BroadcastChannel("blockwire.list") : null;
const settings = makeSettings(localStore);
const app = makeApp({
  gateway,
  link: createSharedLink(gateway),
  access,
  router: new Router(window),
  conversations: new ConversationList<Conversation>(
    listSource(gateway),
    channel as NewsPort | null,
  ),
  search: new Search<SearchHit>(searchSource(gateway)),
  settings,
  messages: new Messages(),
  places: new Places(tabStore),
  isReachable,
  fetch: pageFetch,
});

interface NewsPort {
  postMessage(news: ListNews): void;
  onmessage: ((event: MessageEvent<ListNews>) => void) | null;
}

access.onEntered = () => {
  void app.conversations.refresh({ all: true });
  app.feed.value?.wake();
};
access.onLeft = () => {
  // Somebody else may be next at this machine.
  forgetDrafts(app);
  app.conversations.clear();
  app.search.clear();
  app.places.clear();
  app.dialog.value = null;
  app.router.go("/", { replace: true });
};
onAccess((change) => access.hear(change));
window.addEventListener("storage", () => settings.reload());
showSettings(settings, document.documentElement);

watchFailures(app);
watchWidth(app);
watchLinks(app);
watchKeys(app);
watchReturns(app);
watchFocus(app);
const isOnline = watchNetwork(() => void app.conversations.refresh());
startTimers(app);
watchDrafts(app);
// A link to a shared conversation asks for nothing of the reader's own.
const isShare = (): boolean =>
  app.route.value.kind === "share" || app.route.value.kind === "brokenShare";
app.route.subscribe(() => {
  if (!isShare() && access.status.peek() === "starting") void access.start();
});

const root = document.getElementById("app");
if (root !== null) render(<Shell app={app} isOnline={isOnline} />, root);
