/**
 * Random days of a composer: the network loses questions and answers, the gateway is killed and
 * forgets its line, the page is loaded again, other people ask, a person asks and takes back.
 * Whatever happens, each question that was not taken back is answered by exactly one turn.
 */
import { describe, expect, it } from "vitest";
import { submitBody } from "../src/composer/body.ts";
import { readSaved } from "../src/composer/drafts.ts";
import { step } from "../src/composer/machine.ts";
import { emptyComposer, restored, saved } from "../src/composer/state.ts";
import type {
  ComposerEvent,
  ComposerState,
  Effect,
  Fault,
  TurnAnswer,
} from "../src/composer/types.ts";

function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LOST: Fault = {
  code: "unreachable",
  message: "",
  status: 0,
  retryable: true,
  retryAfterS: null,
};

function refusal(code: string, status: number): Fault {
  const retryable = status === 429 || status === 503;
  return { code, message: "", status, retryable, retryAfterS: null };
}

interface Row {
  id: string;
  key: string;
  text: string;
  status: string;
}

/** A gateway as docs/spec/gateway/turns.md describes it: one runs, others wait in memory. */
class World {
  conversations = new Map<string, string>();
  started: Row[] = [];
  line: Row[] = [];
  handedBack = new Set<string>();
  #made = 0;

  create(mark: string): string {
    this.#made += 1;
    const id = `conv_${this.#made}`;
    this.conversations.set(id, mark);
    return id;
  }

  submit(
    key: string,
    body: { content: unknown; if_last_turn?: string | null },
  ): TurnAnswer | Fault {
    const known = [...this.started, ...this.line].find((row) => row.key === key);
    if (known !== undefined) return this.answer(known);
    const last = [...this.started, ...this.line].at(-1);
    if (body.if_last_turn !== undefined && body.if_last_turn !== (last?.id ?? null)) {
      return refusal("last_turn_mismatch", 409);
    }
    if (this.line.length >= 3) return refusal("queue_full", 429);
    this.#made += 1;
    const row = { id: `turn_${this.#made}`, key, text: String(body.content), status: "queued" };
    this.line.push(row);
    this.startNext();
    return this.answer(row);
  }

  answer(row: Row): TurnAnswer {
    const at = this.line.indexOf(row);
    const isQueued = at >= 0;
    return {
      id: row.id,
      status: isQueued ? "queued" : row.status,
      durable: !isQueued,
      position: isQueued ? at + 1 : null,
      text: isQueued ? row.text : null,
    };
  }

  read(id: string): TurnAnswer | Fault {
    const row = [...this.started, ...this.line].find((one) => one.id === id);
    if (row !== undefined) return this.answer(row);
    return refusal(this.handedBack.has(id) ? "turn_handed_back" : "turn_not_found", 404);
  }

  cancel(id: string): TurnAnswer | Fault {
    const waiting = this.line.find((row) => row.id === id);
    if (waiting !== undefined) {
      this.line.splice(this.line.indexOf(waiting), 1);
      this.handedBack.add(id);
      return { id, status: "cancelled", durable: false, position: null, text: waiting.text };
    }
    const row = this.started.find((one) => one.id === id);
    if (row === undefined) return this.read(id);
    if (row.status !== "running") return refusal("turn_terminal", 409);
    row.status = "cancelled";
    this.startNext();
    return this.answer(row);
  }

  end(): void {
    for (const row of this.started) if (row.status === "running") row.status = "completed";
    this.startNext();
  }

  /** Ends politely: what waits is put out of the line, before the process is gone. */
  stop(): void {
    for (const row of this.line) this.handedBack.add(row.id);
    this.line = [];
  }

  kill(): void {
    for (const row of this.started) if (row.status === "running") row.status = "interrupted";
    this.line = [];
    this.handedBack.clear();
  }

  startNext(): void {
    if (this.started.some((row) => row.status === "running")) return;
    const next = this.line.shift();
    if (next !== undefined) this.started.push({ ...next, status: "running" });
  }
}

class Day {
  readonly world = new World();
  state: ComposerState = emptyComposer(null, "mark");
  nowMs = 1_000;
  isLive = false;
  pending: Effect[] = [];
  /** Texts that were asked and not taken back. */
  asked = new Set<string>();
  takenBack = new Set<string>();
  #keys = 0;
  readonly random: () => number;

  constructor(seed: number) {
    this.random = dice(seed);
  }

  do(event: ComposerEvent): void {
    const done = step(this.state, event, this.nowMs);
    this.state = done.state;
    this.pending.push(...done.effects.filter((effect) => effect.type !== "wake"));
  }

  look(): void {
    const isShown = this.isLive && this.state.conversationId !== null;
    const running = this.world.started.find((row) => row.status === "running");
    const ids = this.state.questions.flatMap((one) => one.turnId ?? []);
    this.do({
      type: "feed",
      isLive: isShown,
      isGone: false,
      queued: this.world.line.map((row, at) => ({ turnId: row.id, position: at + 1 })),
      running: running === undefined ? null : { turnId: running.id, request: null },
      seenIds: isShown ? ids.filter((id) => this.world.started.some((row) => row.id === id)) : [],
      left: [],
    });
  }

  /** Perform one of the effects that wait; what the network loses is lost before or behind it. */
  perform(isCalm: boolean): void {
    const at = Math.floor(this.random() * this.pending.length);
    const [effect] = this.pending.splice(at, 1);
    if (effect === undefined) return;
    const fate = isCalm ? 1 : this.random();
    const isDone = fate > 0.2;
    const isTold = fate > 0.4;
    switch (effect.type) {
      case "create": {
        const id = isDone ? this.world.create(effect.mark) : "";
        this.do(
          isTold ? { type: "created", conversationId: id } : { type: "create-failed", fault: LOST },
        );
        break;
      }
      case "look-up": {
        const found = [...this.world.conversations].find(([, mark]) => mark === effect.mark);
        const conversationId = found?.[0] ?? null;
        this.do(
          isTold ? { type: "looked-up", conversationId } : { type: "look-up-failed", fault: LOST },
        );
        break;
      }
      case "submit": {
        const { key } = effect.question;
        const turn = isDone ? this.world.submit(key, submitBody(effect.question)) : LOST;
        if (!isTold) this.do({ type: "submit-failed", key, fault: LOST });
        else if ("code" in turn) this.do({ type: "submit-failed", key, fault: turn });
        else this.do({ type: "submitted", key, turn });
        break;
      }
      case "cancel":
      case "check": {
        const { turnId } = effect;
        const isCheck = effect.type === "check";
        let turn: TurnAnswer | Fault = LOST;
        if (isDone) turn = isCheck ? this.world.read(turnId) : this.world.cancel(turnId);
        if (!isTold) turn = LOST;
        if ("code" in turn) {
          this.do({ type: isCheck ? "check-failed" : "cancel-failed", turnId, fault: turn });
        } else this.do({ type: isCheck ? "checked" : "cancelled", turnId, turn });
        break;
      }
      default:
        break;
    }
  }

  ask(): void {
    this.#keys += 1;
    const text = `question ${this.#keys}`;
    const draft = this.state.text;
    // What came back is left alone: it is in the draft, and nobody asks it again by accident.
    this.do({ type: "typed", text });
    const last = this.random() < 0.3 ? this.world.started.at(-1)?.id : undefined;
    this.do({ type: "send", key: `key_${this.#keys}`, lastTurn: last, withoutFiles: false });
    this.asked.add(text);
    this.do({ type: "typed", text: draft });
  }

  takeBack(): void {
    const at = Math.floor(this.random() * this.state.questions.length);
    const question = this.state.questions[at];
    if (question === undefined) return;
    this.takenBack.add(question.text);
    this.do({ type: "take-back", key: question.key });
  }

  /** Somebody else takes a question out of the line. */
  removeElsewhere(): void {
    const row = this.world.line.at(-1);
    if (row === undefined) return;
    this.takenBack.add(row.text);
    this.world.cancel(row.id);
  }

  /** Load the page again: what was under way may still arrive, its answer does not. */
  reload(): void {
    for (const effect of this.pending) {
      if (effect.type === "submit" && this.random() < 0.5) {
        this.world.submit(effect.question.key, submitBody(effect.question));
      }
      if (effect.type === "create" && this.random() < 0.5) this.world.create(effect.mark);
    }
    this.pending = [];
    const kept = readSaved(JSON.parse(JSON.stringify(saved(this.state))));
    const place = this.state.isEmptyOwn ? null : this.state.conversationId;
    this.state = kept === null ? emptyComposer(place, "mark") : restored(kept, this.nowMs);
    this.isLive = false;
    this.do({ type: "tick" });
  }

  /** A stream always ends with its gateway. */
  kill(): void {
    if (this.random() < 0.3) {
      this.world.stop();
      this.look();
      this.perform(false);
    }
    this.world.kill();
    this.isLive = false;
    this.look();
  }

  chance(): void {
    const roll = this.random();
    if (roll < 0.15) this.ask();
    else if (roll < 0.2) this.takeBack();
    else if (roll < 0.27) this.world.end();
    else if (roll < 0.3) this.kill();
    else if (roll < 0.33) this.reload();
    else if (roll < 0.36) this.world.submit(`other ${this.random()}`, { content: "other" });
    else if (roll < 0.38) this.removeElsewhere();
    else if (roll < 0.45) this.isLive = !this.isLive;
    else if (roll < 0.55) this.look();
    else if (roll < 0.65) {
      this.nowMs += Math.floor(this.random() * 20_000);
      this.do({ type: "tick" });
    } else this.perform(false);
  }

  /** Nothing breaks any more, and nobody does anything: everything comes to its end. */
  calm(): void {
    for (let turn = 0; turn < 400; turn += 1) {
      this.isLive = true;
      this.look();
      while (this.pending.length > 0) this.perform(true);
      for (const one of this.state.questions) {
        if (one.stage === "undecided") this.do({ type: "send-anyway", key: one.key });
      }
      this.nowMs = Math.max(this.nowMs + 1, this.state.wakeAtMs ?? 0);
      this.do({ type: "tick" });
      this.world.end();
    }
  }
}

describe("whatever happens", () => {
  it.each(Array.from({ length: 150 }, (_, seed) => seed))(
    "nothing is lost or doubled: %i",
    (seed) => {
      const day = new Day(seed);
      for (let moment = 0; moment < 250; moment += 1) day.chance();
      day.calm();
      expect(day.state.questions).toEqual([]);
      const answered = day.world.started.map((row) => row.text).filter((text) => text !== "other");
      expect(answered).toEqual([...new Set(answered)]);
      const inDraft = day.state.text.split("\n\n");
      expect(inDraft).toEqual([...new Set(inDraft)]);
      for (const text of day.asked) {
        // Taken back while nobody knew: it may have been answered, and it may be in the draft.
        const isSomewhere = answered.includes(text) || inDraft.includes(text);
        expect(isSomewhere, text).toBe(true);
        if (!day.takenBack.has(text)) expect(answered, text).toContain(text);
      }
      expect(day.world.conversations.size).toBeLessThanOrEqual(1);
    },
  );
});
