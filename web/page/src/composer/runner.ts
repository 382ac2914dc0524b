/**
 * The composer of one conversation at work: performs what the machine asks for, and tells it what
 * came of it. It goes on while another conversation is shown, until nothing is under way.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { submitBody } from "./body.ts";
import { step } from "./machine.ts";
import {
  type ComposerFeed,
  type ComposerPort,
  findMarked,
  isSameView,
  MARK,
  readFault,
  readId,
  readTurn,
  viewOf,
} from "./port.ts";
import { saved } from "./state.ts";
import type { ComposerEvent, ComposerState, Effect, Fault, FeedView, Question } from "./types.ts";
import { Uploads } from "./uploads.ts";

/** A submit without an answer for so long counts as lost, and is sent again under its key. */
export const SUBMIT_MS_MAX = 30_000;
/** Conversations that are looked through for one whose creation was not answered. */
const LOOK_UP_ITEMS = 50;
/** Between a keystroke and keeping the draft. */
const KEEP_MS = 250;

/** What a runner is given. */
export interface RunnerParts {
  readonly port: ComposerPort;
  readonly now: () => number;
  readonly newKey: () => string;
  readonly later: (work: () => void, ms: number) => () => void;
  /** Keeps what outlives a reload. */
  readonly keep: (runner: ComposerRunner) => void;
  /** A conversation that was made here has its first question. */
  readonly show: (runner: ComposerRunner, conversationId: string) => void;
  /** The conversation is not there any more. */
  readonly gone: (runner: ComposerRunner) => void;
  readonly login: () => void;
}

let runners = 0;

export class ComposerRunner {
  /** Tells runners apart. */
  readonly number = ++runners;
  readonly state: ReadonlySignal<ComposerState>;
  readonly #state: Signal<ComposerState>;
  readonly #parts: RunnerParts;
  readonly #uploads: Uploads;
  #feed: ComposerFeed | null = null;
  #unsubscribe: (() => void) | null = null;
  #look: (() => void) | null = null;
  #wake: (() => void) | null = null;
  #keep: (() => void) | null = null;
  #lastTurnId: string | null = null;
  #isClosed = false;

  constructor(parts: RunnerParts, state: ComposerState) {
    this.#parts = parts;
    this.#state = signal(state);
    this.state = this.#state;
    this.#uploads = new Uploads({
      port: parts.port,
      newKey: parts.newKey,
      dispatch: (event) => this.dispatch(event),
    });
  }

  /** Let something happen. */
  dispatch(event: ComposerEvent): void {
    if (this.#isClosed) return;
    const before = this.#state.value;
    const { state, effects } = step(before, event, this.#parts.now());
    this.#state.value = state;
    // What may have to be repeated is kept before it is sent.
    if (before.questions !== state.questions || before.creation !== state.creation) this.keepNow();
    else if (before !== state) this.#keepSoon();
    for (const effect of effects) this.#perform(effect);
    if (state.isGone && !before.isGone) this.#parts.gone(this);
    // The stream may have told of a turn before the answer that says whose it is; it tells it once.
    if (event.type !== "feed" && before.questions !== state.questions) this.#look?.();
  }

  /** Go on with what was under way before a reload. */
  wakeUp(): void {
    this.dispatch({ type: "tick" });
  }

  /** Follow the stream of the conversation, until the returned function is called. */
  attach(feed: ComposerFeed): () => void {
    this.#unsubscribe?.();
    this.#feed = feed;
    let before: FeedView | null = null;
    const look = (): void => {
      const placed = this.#state.value.questions.flatMap((one) => one.turnId ?? []);
      const view = viewOf(feed, placed);
      // Most batches are words of an answer, and change nothing here.
      if (before !== null && isSameView(before, view)) return;
      before = view;
      if (view.running !== null) this.#lastTurnId = view.running.turnId;
      this.dispatch({ type: "feed", ...view });
    };
    this.#look = look;
    this.#unsubscribe = feed.subscribe(look);
    look();
    return () => {
      if (this.#feed !== feed) return;
      this.#unsubscribe?.();
      this.#unsubscribe = this.#feed = this.#look = null;
      this.dispatch({ type: "detached" });
    };
  }

  /** Send the draft. */
  send({ withoutFiles = false } = {}): void {
    const press = { key: this.#parts.newKey(), lastTurn: this.#knownLastTurn() };
    this.dispatch({ type: "send", withoutFiles, ...press });
  }

  /** Take files into the draft, in their order. */
  addFiles(files: readonly File[]): void {
    const added = this.#uploads.add(files);
    if (added.length > 0) this.dispatch({ type: "files-added", files: added });
  }

  /** The bytes of the draft's files that are here, in their order. */
  ownFiles(): File[] {
    return this.#state.value.files.flatMap((file) => this.#uploads.file(file.localId) ?? []);
  }

  /** Whether the bytes of a file are here, so that it can be sent once more. */
  hasBytes(localId: string): boolean {
    return this.#uploads.file(localId) !== undefined;
  }

  /** The time by the clock that holds and pauses are in. */
  nowMs(): number {
    return this.#parts.now();
  }

  /** The address of a picture of the draft, from its own bytes; null where there is none. */
  previewUrl(localId: string): string | null {
    return this.#uploads.previewUrl(localId);
  }

  /** Keep what outlives a reload, now. */
  keepNow(): void {
    this.#keep?.();
    this.#keep = null;
    if (!this.#isClosed) this.#parts.keep(this);
  }

  /** What is to be kept. */
  saved(): ReturnType<typeof saved> {
    return saved(this.#state.value);
  }

  /** Stop everything; nothing is kept or told any more. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#wake?.();
    this.#keep?.();
    this.#uploads.close();
  }

  #keepSoon(): void {
    this.#keep ??= this.#parts.later(() => {
      this.#keep = null;
      this.keepNow();
    }, KEEP_MS);
  }

  /**
   * The last turn, where that is certain: one that ran here and is the last thing said. Messages
   * alone do not tell: those of a fork name turns of another conversation.
   */
  #knownLastTurn(): string | undefined {
    const { running, questions, lineIds } = this.#state.value;
    const id = this.#lastTurnId;
    if (id === null || running !== null || questions.length > 0 || lineIds.length > 0) return;
    return this.#feed?.state.message(id) === undefined ? undefined : id;
  }

  #perform(effect: Effect): void {
    const { port } = this.#parts;
    const conversationId = this.#state.value.conversationId ?? "";
    switch (effect.type) {
      case "create":
        void this.#try(
          () => port.createConversation({ metadata: { [MARK]: effect.mark } }),
          (made) => ({ type: "created", conversationId: readId(made) }),
          (fault) => ({ type: "create-failed", fault }),
        );
        break;
      case "look-up":
        void this.#try(
          () => port.conversations({ limit: LOOK_UP_ITEMS }),
          (list) => ({ type: "looked-up", conversationId: findMarked(list, effect.mark) }),
          (fault) => ({ type: "look-up-failed", fault }),
        );
        break;
      case "delete":
        // What stays behind is empty; there is nothing that a person could do about it here.
        void port.deleteConversation(effect.conversationId).catch(() => {});
        break;
      case "submit":
        this.#submit(effect.conversationId, effect.question);
        break;
      case "cancel":
        void this.#try(
          () => port.cancel(conversationId, effect.turnId),
          (turn) => ({ type: "cancelled", turnId: effect.turnId, turn: readTurn(turn) }),
          (fault) => ({ type: "cancel-failed", turnId: effect.turnId, fault }),
        );
        break;
      case "check":
        void this.#try(
          () => port.turn(conversationId, effect.turnId),
          (turn) => ({ type: "checked", turnId: effect.turnId, turn: readTurn(turn) }),
          (fault) => ({ type: "check-failed", turnId: effect.turnId, fault }),
        );
        break;
      case "upload":
        void this.#uploads.start(effect.conversationId, effect.localId);
        break;
      case "drop-file":
        this.#uploads.drop(effect.localId);
        break;
      case "answer":
        void this.#try(
          () =>
            port.resume(conversationId, effect.turnId, {
              request_id: effect.requestId,
              answer: effect.text,
            }),
          () => ({ type: "answered", requestId: effect.requestId }),
          (fault) => ({ type: "answer-failed", requestId: effect.requestId, fault }),
        );
        break;
      case "show":
        this.#parts.show(this, effect.conversationId);
        break;
      case "login":
        this.#parts.login();
        break;
      case "wake":
        this.#wakeAt(effect.atMs);
        break;
    }
  }

  async #try(
    call: () => Promise<unknown>,
    done: (value: unknown) => ComposerEvent,
    failed: (fault: Fault) => ComposerEvent,
  ): Promise<void> {
    let event: ComposerEvent;
    try {
      event = done(await call());
    } catch (error) {
      event = failed(readFault(error));
    }
    this.dispatch(event);
  }

  #submit(conversationId: string, question: Question): void {
    const { key } = question;
    const giveUp = this.#parts.later(() => {
      const fault = { code: "unreachable", message: "", status: 0, retryable: true };
      this.dispatch({ type: "submit-failed", key, fault: { ...fault, retryAfterS: null } });
    }, SUBMIT_MS_MAX);
    void this.#try(
      async () => {
        try {
          return await this.#parts.port.submit(conversationId, submitBody(question), key);
        } finally {
          giveUp();
        }
      },
      (answer) => {
        const turn = readTurn(answer);
        if (turn.status !== "cancelled") this.#lastTurnId = turn.id;
        return { type: "submitted", key, turn };
      },
      (fault) => ({ type: "submit-failed", key, fault }),
    );
  }

  #wakeAt(atMs: number | null): void {
    this.#wake?.();
    this.#wake = null;
    if (atMs === null) return;
    const wait = Math.max(0, atMs - this.#parts.now());
    this.#wake = this.#parts.later(() => this.dispatch({ type: "tick" }), wait);
  }
}
