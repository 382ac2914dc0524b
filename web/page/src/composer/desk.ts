/** All composers of a page: one for each conversation in which something is typed or under way. */

import { signal } from "@preact/signals";
import type { DraftStore } from "./drafts.ts";
import type { RecentModels } from "./models.ts";
import type { ComposerPort } from "./port.ts";
import { ComposerRunner, type RunnerParts } from "./runner.ts";
import { emptyComposer, isBusy, restored } from "./state.ts";

const NEW = "";
/** Between the last look at a composer and letting go of it. */
const LET_GO_MS = 5_000;

/** What a desk is given by the page. */
export interface DeskParts {
  readonly port: ComposerPort;
  readonly drafts: DraftStore;
  readonly models: RecentModels;
  readonly now: () => number;
  readonly newKey: () => string;
  readonly later: RunnerParts["later"];
  readonly login: () => void;
}

export class ComposerDesk {
  /** Changes when every word is forgotten: composers that are shown begin anew. */
  readonly generation = signal(0);
  readonly models: RecentModels;
  /** Called when a conversation that was made here has its first question. */
  onShow: (conversationId: string) => void = () => {};

  readonly #parts: DeskParts;
  readonly #runners = new Map<string, ComposerRunner>();
  readonly #held = new Map<ComposerRunner, number>();

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.models = parts.models;
    // What was under way before a reload goes on, also in conversations that are not shown.
    for (const place of parts.drafts.places()) {
      const kept = parts.drafts.load(place);
      if (kept !== null && (kept.questions.length > 0 || kept.isCreating)) this.of(place).wakeUp();
    }
  }

  /** The composer of a conversation; of the new one for null. */
  of(conversationId: string | null): ComposerRunner {
    const place = conversationId ?? NEW;
    const known = this.#runners.get(place);
    if (known !== undefined) return known;
    const kept = this.#parts.drafts.load(place);
    const now = this.#parts.now();
    const state =
      kept === null
        ? emptyComposer(conversationId || null, this.#parts.newKey())
        : restored(kept, now);
    const runner = new ComposerRunner(this.#runnerParts(), state);
    this.#runners.set(place, runner);
    return runner;
  }

  /**
   * Hold a composer that is shown, until the returned function is called. It is let go of a little
   * later than that, unless it is shown again or something is under way in it.
   */
  hold(runner: ComposerRunner): () => void {
    this.#held.set(runner, (this.#held.get(runner) ?? 0) + 1);
    return () => {
      this.#held.set(runner, (this.#held.get(runner) ?? 1) - 1);
      runner.keepNow();
      this.#parts.later(() => this.#letGo(runner), LET_GO_MS);
    };
  }

  #letGo(runner: ComposerRunner): void {
    const place = this.#placeOf(runner);
    const { files } = runner.state.value;
    const isHeld = (this.#held.get(runner) ?? 0) > 0;
    if (place === null || isHeld || isBusy(runner.state.value)) return;
    // The bytes of a file are nowhere else.
    if (files.some((file) => file.stage !== "done")) return;
    runner.keepNow();
    runner.close();
    this.#held.delete(runner);
    this.#runners.delete(place);
  }

  /** Somebody logged in: what waited for it goes on. */
  loggedIn(): void {
    for (const runner of this.#runners.values()) runner.dispatch({ type: "logged-in" });
  }

  /** The network is back. */
  tryNow(): void {
    for (const runner of this.#runners.values()) runner.dispatch({ type: "try-now" });
  }

  /** Keep everything now: the page may be going. */
  keepNow(): void {
    for (const runner of this.#runners.values()) runner.keepNow();
  }

  /** Somebody logged out: every word goes. */
  forget(): void {
    for (const runner of this.#runners.values()) runner.close();
    this.#runners.clear();
    this.#held.clear();
    this.#parts.drafts.clear();
    this.generation.value += 1;
  }

  /** What was written in a conversation that is gone goes on in the new one. */
  #moveToNew(runner: ComposerRunner): void {
    const place = this.#placeOf(runner);
    if (place === null) return;
    const { text } = runner.state.value;
    const files = runner.ownFiles();
    runner.close();
    this.#runners.delete(place);
    this.#parts.drafts.save(place, null);
    if (text.trim() === "" && files.length === 0) return;
    const fresh = this.of(null);
    fresh.addFiles(files);
    fresh.dispatch({ type: "take-over", text });
  }

  #placeOf(runner: ComposerRunner): string | null {
    for (const [place, other] of this.#runners) if (other === runner) return place;
    return null;
  }

  #runnerParts(): RunnerParts {
    const { port, now, newKey, later, login, drafts } = this.#parts;
    return {
      port,
      now,
      newKey,
      later,
      login,
      keep: (runner) => {
        const place = this.#placeOf(runner);
        if (place !== null) drafts.save(place, runner.saved());
      },
      show: (runner, conversationId) => {
        if (this.#placeOf(runner) === NEW) {
          this.#runners.delete(NEW);
          drafts.save(NEW, null);
          this.#runners.set(conversationId, runner);
          runner.keepNow();
        }
        this.onShow(conversationId);
      },
      gone: (runner) => this.#moveToNew(runner),
    };
  }
}
