/** The desk of a page, with the clock, the storage and the events of this browser. */

import { systemTiming } from "@blockwire/core";
import { effect, type ReadonlySignal, untracked } from "@preact/signals";
import { localStore, tabStore } from "../platform/storage.ts";
import { ComposerDesk } from "./desk.ts";
import { DraftStore } from "./drafts.ts";
import { RecentModels } from "./models.ts";
import type { ComposerPort } from "./port.ts";

/** What a desk needs of the page. */
export interface DeskApp {
  readonly gateway: ComposerPort;
  readonly capabilities: ReadonlySignal<unknown>;
  readonly access?: { expire(): void };
}

const desks = new WeakMap<object, ComposerDesk>();

/** Return the one desk of `app`. */
export function deskOf(app: DeskApp): ComposerDesk {
  const known = desks.get(app);
  if (known !== undefined) return known;
  const desk = new ComposerDesk({
    port: app.gateway,
    drafts: new DraftStore(tabStore),
    models: new RecentModels(localStore),
    now: systemTiming.nowMs,
    newKey,
    later: (work, ms) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    login: () => app.access?.expire(),
  });
  desks.set(app, desk);
  addEventListener("pagehide", () => desk.keepNow());
  addEventListener("online", () => desk.tryNow());
  // Capabilities come anew after each login.
  effect(() => {
    if (app.capabilities.value !== null) untracked(() => desk.loggedIn());
  });
  return desk;
}

/** Forget every draft, here and in the storage of this tab: somebody logged out. */
export function forgetDrafts(app: DeskApp): void {
  deskOf(app).forget();
}

/** A fresh key: random, also where the page is not served securely. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
