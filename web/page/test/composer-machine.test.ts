import { describe, expect, it } from "vitest";
import { submitBody } from "../src/composer/body.ts";
import { step } from "../src/composer/machine.ts";
import { emptyComposer } from "../src/composer/state.ts";
import type {
  ComposerEvent,
  ComposerState,
  Effect,
  Fault,
  FeedView,
  TurnAnswer,
} from "../src/composer/types.ts";

const NOW = 1_000_000;

function fault(code: string, status: number, more: Partial<Fault> = {}): Fault {
  const retryable = status === 0 || status === 429 || status === 503;
  return { code, message: `about ${code}`, status, retryable, retryAfterS: null, ...more };
}

function turn(id: string, status: string, more: Partial<TurnAnswer> = {}): TurnAnswer {
  return { id, status, durable: status !== "queued", position: null, text: null, ...more };
}

function view(more: Partial<FeedView> = {}): ComposerEvent {
  const calm = { isLive: true, isGone: false, queued: [], running: null, seenIds: [], left: [] };
  return { type: "feed", ...calm, ...more };
}

/** A composer that is led through events; what it asked for gathers. */
class Led {
  state: ComposerState;
  nowMs = NOW;
  effects: Effect[] = [];

  constructor(conversationId: string | null = "conv_1", more: Partial<ComposerState> = {}) {
    this.state = { ...emptyComposer(conversationId, "mark_1"), ...more };
  }

  do(...events: ComposerEvent[]): this {
    for (const event of events) {
      const done = step(this.state, event, this.nowMs);
      this.state = done.state;
      this.effects.push(...done.effects);
    }
    return this;
  }

  ask(text: string, key = `key ${text}`): this {
    return this.do({ type: "typed", text }, press(key));
  }

  /** What was asked for since the last call, without wakes. */
  taken(): Effect[] {
    const effects = this.effects.filter((effect) => effect.type !== "wake");
    this.effects = [];
    return effects;
  }

  kinds(): string[] {
    return this.taken().map((effect) => effect.type);
  }

  get stages(): string[] {
    return this.state.questions.map((question) => question.stage);
  }
}

function press(key: string, lastTurn?: string | null): ComposerEvent {
  return { type: "send", key, lastTurn, withoutFiles: false };
}

const unreachable = fault("unreachable", 0);

describe("a question", () => {
  it("is sent under the key of the press, and leaves the draft", () => {
    const led = new Led().ask("Why?", "k1");
    expect(led.taken()).toMatchObject([
      { type: "submit", conversationId: "conv_1", question: { key: "k1", text: "Why?" } },
    ]);
    expect(led.state.text).toBe("");
  });

  it.each(["", "  \n\t"])("is not asked with nothing to ask: %j", (text) => {
    expect(new Led().ask(text).kinds()).toEqual([]);
  });

  it("keeps what it says as it was written, but for halves of characters", () => {
    const led = new Led().ask("  a\n\ud83d b \ud83d\ude00\n");
    expect(led.state.questions[0]?.text).toBe("  a\n\ufffd b \ud83d\ude00\n");
  });

  it("is sent only when the one before it was answered for", () => {
    const led = new Led().ask("one").ask("two");
    expect(led.stages).toEqual(["sent", "waiting"]);
    led.do({ type: "submitted", key: "key one", turn: turn("t1", "running") });
    expect(led.stages).toEqual(["taken", "sent"]);
    led.do({ type: "submitted", key: "key two", turn: turn("t2", "queued", { position: 1 }) });
    expect(led.stages).toEqual(["taken", "queued"]);
    led.do(view({ seenIds: ["t1"], queued: [{ turnId: "t2", position: 1 }] }));
    expect(led.stages).toEqual(["queued"]);
    led.do(view({ seenIds: ["t2"] }));
    expect(led.stages).toEqual([]);
  });

  it("is repeated after a pause with the same key and body", () => {
    const led = new Led().ask("Why?", "k1");
    const [first] = led.taken();
    led.do({ type: "submit-failed", key: "k1", fault: unreachable });
    expect(led.stages).toEqual(["waiting"]);
    expect(led.kinds()).toEqual([]);
    led.nowMs = led.state.wakeAtMs ?? 0;
    expect(led.state.wakeAtMs).toBeGreaterThan(NOW);
    led.do({ type: "tick" });
    const [second] = led.taken();
    if (first?.type !== "submit" || second?.type !== "submit") throw new Error("no submit");
    expect(second.question.key).toBe(first.question.key);
    expect(submitBody(second.question)).toEqual(submitBody(first.question));
  });

  it("waits longer with each attempt, up to a bound, and as long as the gateway asks", () => {
    const led = new Led().ask("Why?", "k1");
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 9; attempt += 1) {
      led.do({ type: "submit-failed", key: "k1", fault: unreachable });
      pauses.push((led.state.wakeAtMs ?? 0) - led.nowMs);
      led.nowMs = led.state.wakeAtMs ?? 0;
      led.do({ type: "tick" });
    }
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    expect(pauses.at(-1)).toBe(30_000);
    led.do({
      type: "submit-failed",
      key: "k1",
      fault: fault("queue_full", 429, { retryAfterS: 45 }),
    });
    expect(led.state.hold?.untilMs).toBe(led.nowMs + 45_000);
  });

  it("goes on when the network is back, or a person says so", () => {
    const led = new Led().do(view()).ask("Why?", "k1");
    led.do(view({ isLive: false }), { type: "submit-failed", key: "k1", fault: unreachable });
    led.taken();
    expect(led.do(view()).kinds()).toEqual(["submit"]);
    led.do({ type: "submit-failed", key: "k1", fault: unreachable });
    expect(led.do({ type: "try-now" }).kinds()).toEqual(["submit"]);
  });

  it.each([
    ["insufficient_scope", 403],
    ["engine_not_found", 400],
    ["body_too_large", 413],
    ["invalid_answer", 0],
  ])("comes back with the reason when it is refused: %s", (code, status) => {
    const led = new Led().ask("Why?", "k1").do({ type: "typed", text: "next" });
    led.do({ type: "submit-failed", key: "k1", fault: fault(code, status, { retryable: false }) });
    expect(led.stages).toEqual([]);
    expect(led.state.text).toBe("Why?\n\nnext");
    expect(led.state.notice).toMatchObject({ kind: "refused", fault: { code } });
  });

  it("sets its timer anew where that came before its time, or the clock went back", () => {
    const led = new Led().ask("Why?", "k1");
    led.do({ type: "submit-failed", key: "k1", fault: unreachable });
    const { wakeAtMs } = led.state;
    led.effects.length = 0;
    led.nowMs = (wakeAtMs ?? 0) - 1;
    led.do({ type: "tick" });
    expect(led.effects).toEqual([{ type: "wake", atMs: wakeAtMs }]);
    led.nowMs = wakeAtMs ?? 0;
    expect(led.do({ type: "tick" }).kinds()).toEqual(["submit"]);
  });

  it.each([200, 202, 304])("is asked under its own key after half an answer with %i", (status) => {
    const led = new Led().ask("Why?", "k1");
    led.taken();
    const half = fault("invalid_answer", status, { retryable: true });
    led.do({ type: "submit-failed", key: "k1", fault: half });
    led.nowMs = led.state.wakeAtMs ?? 0;
    expect(led.do({ type: "tick" }).kinds()).toEqual(["submit"]);
    expect(led.state.questions).toMatchObject([{ key: "k1", isDoubtful: true }]);
  });

  it("waits for the login of a proxy, too", () => {
    const led = new Led().ask("Why?", "k1");
    led.taken();
    const refused = fault("http_error", 401, { retryable: false });
    led.do({ type: "submit-failed", key: "k1", fault: refused });
    expect(led.kinds()).toEqual(["login"]);
    expect(led.stages).toEqual(["waiting"]);
  });

  it("waits for the login, and is sent after it", () => {
    const led = new Led().ask("Why?", "k1");
    led.taken();
    led.do({ type: "submit-failed", key: "k1", fault: fault("unauthorized", 401) });
    expect(led.kinds()).toEqual(["login"]);
    led.nowMs += 1e9;
    expect(led.do({ type: "tick" }, { type: "try-now" }).kinds()).toEqual([]);
    expect(led.do({ type: "logged-in" }).kinds()).toEqual(["submit"]);
  });

  it("waits for a person when the conversation went on elsewhere", () => {
    const led = new Led().do({ type: "typed", text: "Why?" }, press("k1", "t0"));
    led.ask("And then?", "k2");
    led.do({ type: "submit-failed", key: "k1", fault: fault("last_turn_mismatch", 409) });
    expect(led.stages).toEqual(["undecided", "waiting"]);
    led.taken();
    led.do({ type: "send-anyway", key: "k1" });
    const [sent] = led.taken();
    if (sent?.type !== "submit") throw new Error("no submit");
    expect(submitBody(sent.question)).toEqual({ content: "Why?" });
    expect(sent.question.key).toBe("k1");
  });

  it("has arrived when its key is taken", () => {
    const led = new Led().ask("Why?", "k1");
    led.do({ type: "submit-failed", key: "k1", fault: fault("idempotency_key_reused", 409) });
    expect(led.stages).toEqual([]);
    expect(led.state.text).toBe("");
  });

  it("that may have arrived keeps its key when it is asked again unchanged", () => {
    const led = new Led().ask("Why?", "k1");
    led.do({ type: "submit-failed", key: "k1", fault: unreachable });
    led.do({ type: "take-back", key: "k1" });
    expect(led.state.text).toBe("Why?");
    led.taken();
    led.do(press("k2"));
    expect(led.taken()).toMatchObject([{ type: "submit", question: { key: "k1" } }]);
  });

  it("that may have arrived and is changed has a key of its own", () => {
    const led = new Led().ask("Why?", "k1");
    led.do({ type: "submit-failed", key: "k1", fault: unreachable });
    led.do({ type: "take-back", key: "k1" }, { type: "typed", text: "Why not?" });
    led.taken();
    led.do(press("k2"));
    expect(led.taken()).toMatchObject([{ type: "submit", question: { key: "k2" } }]);
  });

  it("that was taken back and arrived after all is cancelled", () => {
    const led = new Led().ask("Why?", "k1");
    led.do({ type: "submit-failed", key: "k1", fault: unreachable });
    led.do({ type: "take-back", key: "k1" });
    led.taken();
    led.do({ type: "submitted", key: "k1", turn: turn("t1", "running") });
    expect(led.taken()).toEqual([{ type: "cancel", turnId: "t1" }]);
  });

  it("that is too large is not sent", () => {
    const bounds = { bodyBytes: 40, attachmentBytes: null };
    const led = new Led("conv_1", { bounds }).ask("x".repeat(30));
    expect(led.kinds()).toEqual([]);
    expect(led.state.notice?.fault?.code).toBe("body_too_large");
    expect(led.state.text).toBe("x".repeat(30));
    expect(led.ask("é".repeat(10)).kinds()).toEqual(["submit"]);
  });
});

describe("the line", () => {
  function queued(): Led {
    const led = new Led().do(view({ running: { turnId: "t0", request: null } })).ask("Why?", "k1");
    led.do({ type: "submitted", key: "k1", turn: turn("t1", "queued", { position: 1 }) });
    led.do(
      view({
        running: { turnId: "t0", request: null },
        queued: [{ turnId: "t1", position: 1 }],
      }),
    );
    led.taken();
    return led;
  }

  it("shows the place that the stream tells", () => {
    const led = queued();
    led.do(view({ queued: [{ turnId: "t1", position: 3 }] }));
    expect(led.state.questions[0]?.position).toBe(3);
  });

  it.each([
    ["cancelled", "Why?", [], "handed-back"],
    ["engine_not_found", "Why?", [], "refused"],
    ["last_turn_mismatch", "", ["undecided"], undefined],
    // The next gateway does not know it, and is asked.
    ["stopping", "", ["queued"], undefined],
  ])("takes at once that a question left it: %s", (reason, text, stages, kind) => {
    const led = queued().do(view({ left: [{ turnId: "t1", reason }] }));
    expect(led.state.text).toBe(text);
    expect(led.stages).toEqual(stages);
    expect(led.state.notice?.kind).toBe(kind);
    if (kind === "refused") expect(led.state.notice?.fault?.code).toBe(reason);
  });

  it("says nothing of a question that was taken back here", () => {
    const led = queued().do({ type: "take-back", key: "k1" });
    led.do(view({ left: [{ turnId: "t1", reason: "cancelled" }] }));
    expect(led.state.text).toBe("Why?");
    expect(led.state.notice).toBeNull();
  });

  it("gives a question back that is taken out of it", () => {
    const led = queued().do({ type: "take-back", key: "k1" });
    expect(led.taken()).toEqual([{ type: "cancel", turnId: "t1" }]);
    led.do({
      type: "cancelled",
      turnId: "t1",
      turn: turn("t1", "cancelled", { durable: false, text: "Why?" }),
    });
    expect(led.state.text).toBe("Why?");
    expect(led.stages).toEqual([]);
    expect(led.state.notice).toBeNull();
  });

  it("does not give back what had begun when it was taken out", () => {
    const led = queued().do({ type: "take-back", key: "k1" });
    led.do({ type: "cancelled", turnId: "t1", turn: turn("t1", "cancelled") });
    expect(led.state.text).toBe("");
    expect(led.stages).toEqual([]);
  });

  it("is looked at after an outage: what the gateway forgot is asked under its key", () => {
    const led = queued().ask("And then?", "k2");
    led.do({ type: "submitted", key: "k2", turn: turn("t2", "queued", { position: 2 }) });
    led.do(view({ isLive: false }));
    led.taken();
    led.do(view());
    expect(led.taken()).toEqual([
      { type: "check", turnId: "t1" },
      { type: "check", turnId: "t2" },
    ]);
    // The second is not asked before the first is known.
    led.do({ type: "check-failed", turnId: "t2", fault: fault("turn_not_found", 404) });
    expect(led.kinds()).toEqual([]);
    led.do({ type: "check-failed", turnId: "t1", fault: fault("turn_not_found", 404) });
    expect(led.taken()).toMatchObject([{ type: "submit", question: { key: "k1" } }]);
    led.do({ type: "submitted", key: "k1", turn: turn("t3", "running") });
    expect(led.taken()).toMatchObject([{ type: "submit", question: { key: "k2" } }]);
  });

  it("gives back what was handed back elsewhere", () => {
    const led = queued().do(view({ running: { turnId: "t0", request: null } }));
    expect(led.taken()).toEqual([{ type: "check", turnId: "t1" }]);
    led.do({ type: "check-failed", turnId: "t1", fault: fault("turn_handed_back", 404) });
    // A gateway that stops says the same, and has forgotten it when it is back.
    expect(led.state.text).toBe("");
    led.nowMs = led.state.wakeAtMs ?? 0;
    expect(led.do({ type: "tick" }).taken()).toEqual([{ type: "check", turnId: "t1" }]);
    led.do({ type: "check-failed", turnId: "t1", fault: fault("turn_handed_back", 404) });
    expect(led.state.text).toBe("Why?");
    expect(led.state.notice?.kind).toBe("handed-back");
  });

  it("asks again what a gateway that stopped had put out of its line", () => {
    const led = queued().do(view({ running: { turnId: "t0", request: null } }));
    led.do({ type: "check-failed", turnId: "t1", fault: fault("turn_handed_back", 404) });
    led.do(view({ isLive: false }));
    led.taken();
    expect(led.do(view()).taken()).toEqual([{ type: "check", turnId: "t1" }]);
    led.do({ type: "check-failed", turnId: "t1", fault: fault("turn_not_found", 404) });
    expect(led.taken()).toMatchObject([{ type: "submit", question: { key: "k1" } }]);
  });

  it("shows what others put into it, once read", () => {
    const led = new Led().do(view({ queued: [{ turnId: "t9", position: 1 }] }));
    expect(led.taken()).toEqual([{ type: "check", turnId: "t9" }]);
    expect(led.state.others).toEqual([{ turnId: "t9", position: 1, text: null }]);
    led.do({ type: "checked", turnId: "t9", turn: turn("t9", "queued", { text: "Hm?" }) });
    const before = [{ turnId: "t8", position: 1 }];
    led.do(view({ queued: [...before, { turnId: "t9", position: 2 }] }));
    expect(led.state.others[1]).toEqual({ turnId: "t9", position: 2, text: "Hm?" });
    expect(led.taken()).toEqual([{ type: "check", turnId: "t8" }]);
    led.do(view());
    expect(led.state.others).toEqual([]);
  });

  it("asks once for a turn that is not there any more", () => {
    const led = new Led().do(view({ queued: [{ turnId: "t9", position: 1 }] }));
    led.taken();
    led.do({ type: "check-failed", turnId: "t9", fault: fault("turn_handed_back", 404) });
    expect(led.kinds()).toEqual([]);
    expect(led.state.others).toEqual([]);
  });

  it("does not take a question of ours for one of others, whichever is told first", () => {
    const led = new Led().do(view()).ask("Why?", "k1");
    led.taken();
    led.do(view({ queued: [{ turnId: "t1", position: 1 }] }));
    expect(led.state.others).toEqual([]);
    led.do({ type: "submitted", key: "k1", turn: turn("t1", "queued", { position: 1 }) });
    expect(led.state.others).toEqual([]);
    expect(led.kinds()).toEqual([]);
    led.do(
      view({
        queued: [
          { turnId: "t1", position: 1 },
          { turnId: "t2", position: 2 },
        ],
      }),
    );
    expect(led.state.others).toEqual([{ turnId: "t2", position: 2, text: null }]);
  });

  it("shows what others put into it meanwhile, when ours is answered for", () => {
    const led = new Led().do(view()).ask("Why?", "k1");
    led.do(view({ queued: [{ turnId: "t9", position: 1 }] }));
    led.taken();
    led.do({ type: "submitted", key: "k1", turn: turn("t1", "queued", { position: 2 }) });
    expect(led.state.others).toEqual([{ turnId: "t9", position: 1, text: null }]);
    expect(led.taken()).toEqual([{ type: "check", turnId: "t9" }]);
  });

  it("is asked about now and then while no stream tells of it", () => {
    const led = queued().do({ type: "detached" });
    led.nowMs = led.state.wakeAtMs ?? 0;
    led.do({ type: "tick" });
    expect(led.taken()).toEqual([{ type: "check", turnId: "t1" }]);
    led.do({ type: "checked", turnId: "t1", turn: turn("t1", "completed") });
    expect(led.stages).toEqual([]);
    expect(led.state.wakeAtMs).toBeNull();
  });
});

describe("stopping", () => {
  const running = { turnId: "t1", request: null };

  it("cancels the turn that runs, once", () => {
    const led = new Led().do(view({ running }), { type: "stop" }, { type: "stop" });
    expect(led.taken()).toEqual([{ type: "cancel", turnId: "t1" }]);
    expect(led.do(view()).state.stoppingId).toBeNull();
  });

  it("does nothing where nothing runs", () => {
    expect(new Led().do(view(), { type: "stop" }).kinds()).toEqual([]);
  });

  it("may be tried again when it failed", () => {
    const led = new Led().do(view({ running }), { type: "stop" });
    led.taken();
    led.do({ type: "cancel-failed", turnId: "t1", fault: unreachable });
    expect(led.state.notice?.kind).toBe("stop-failed");
    expect(led.do({ type: "stop" }).kinds()).toEqual(["cancel"]);
  });

  it("says nothing of a turn that had ended by itself", () => {
    const led = new Led().do(view({ running }), { type: "stop" });
    led.do({ type: "cancel-failed", turnId: "t1", fault: fault("turn_terminal", 409) });
    expect(led.state.notice).toBeNull();
  });
});

describe("an answer", () => {
  const running = { turnId: "t1", request: { id: "r1", prompt: "Which?", takesText: true } };

  it("is not given by what is sent as a question", () => {
    const led = new Led().do(view({ running })).ask("yes");
    expect(led.kinds()).toEqual(["submit"]);
  });

  it("is written apart from the draft", () => {
    const led = new Led().do(view({ running }), { type: "typed", text: "draft" });
    led.do({ type: "answer-open" }, { type: "answer-typed", text: "the red one" });
    led.do({ type: "answer-send" }, { type: "answer-send" });
    expect(led.taken()).toEqual([
      { type: "answer", turnId: "t1", requestId: "r1", text: "the red one" },
    ]);
    led.do({ type: "answered", requestId: "r1" });
    expect(led.state.answering).toBeNull();
    expect(led.state.text).toBe("draft");
  });

  it("is not opened for an approval", () => {
    const request = { id: "r1", prompt: "Delete?", takesText: false };
    const led = new Led().do(view({ running: { turnId: "t1", request } }), { type: "answer-open" });
    expect(led.state.answering).toBeNull();
  });

  it.each(["turn_not_suspended", "request_mismatch", "turn_terminal"])(
    "that comes too late is not lost: %s",
    (code) => {
      const led = new Led().do(view({ running }), { type: "answer-open" });
      led.do({ type: "answer-typed", text: "red" }, { type: "answer-send" });
      led.do({ type: "answer-failed", requestId: "r1", fault: fault(code, 409) });
      expect(led.state.text).toBe("red");
      expect(led.state.notice?.kind).toBe("answered-elsewhere");
    },
  );

  it("that did not arrive can be sent again", () => {
    const led = new Led().do(view({ running }), { type: "answer-open" });
    led.do({ type: "answer-typed", text: "red" }, { type: "answer-send" });
    led.do({ type: "answer-failed", requestId: "r1", fault: unreachable });
    led.taken();
    expect(led.do({ type: "answer-send" }).kinds()).toEqual(["answer"]);
  });

  it("is closed when somebody else answers, and its words are kept", () => {
    const led = new Led().do(view({ running }), { type: "answer-open" });
    led.do(
      { type: "answer-typed", text: "red" },
      view({ running: { turnId: "t1", request: null } }),
    );
    expect(led.state.answering).toBeNull();
    expect(led.state.text).toBe("red");
  });
});

describe("a new conversation", () => {
  it("is made for the first question, once, and shown when that is taken", () => {
    const led = new Led(null).ask("Hello", "k1").ask("Again", "k2");
    expect(led.taken()).toEqual([{ type: "create", mark: "mark_1" }]);
    led.do({ type: "created", conversationId: "conv_9" });
    expect(led.taken()).toMatchObject([
      { type: "submit", conversationId: "conv_9", question: { key: "k1" } },
    ]);
    led.do({ type: "submitted", key: "k1", turn: turn("t1", "running") });
    expect(led.kinds()).toEqual(["show", "submit"]);
  });

  it("is looked for when nobody knows whether it was made", () => {
    const led = new Led(null).ask("Hello", "k1");
    led.taken();
    led.do({ type: "create-failed", fault: unreachable });
    expect(led.kinds()).toEqual([]);
    led.nowMs = led.state.wakeAtMs ?? 0;
    expect(led.do({ type: "tick" }).taken()).toEqual([{ type: "look-up", mark: "mark_1" }]);
    led.do({ type: "looked-up", conversationId: "conv_9" });
    expect(led.kinds()).toEqual(["submit"]);
  });

  it("is made when the look-up finds none", () => {
    const led = new Led(null).ask("Hello", "k1");
    led.do({ type: "create-failed", fault: unreachable });
    led.nowMs = led.state.wakeAtMs ?? 0;
    led.do({ type: "tick" });
    led.taken();
    expect(led.do({ type: "looked-up", conversationId: null }).kinds()).toEqual(["create"]);
  });

  it("that is refused gives the question back", () => {
    const led = new Led(null).ask("Hello", "k1");
    led.do({ type: "create-failed", fault: fault("insufficient_scope", 403) });
    expect(led.state.text).toBe("Hello");
    expect(led.state.notice?.kind).toBe("refused");
  });

  it("is deleted when its draft is thrown away, and not when it is used", () => {
    const file = { localId: "f1", name: "a.txt", mediaType: "text/plain", size: 3 };
    const led = new Led(null).do({ type: "files-added", files: [file] });
    expect(led.kinds()).toEqual(["create"]);
    led.do({ type: "created", conversationId: "conv_9" });
    expect(led.kinds()).toEqual(["upload"]);
    led.do({ type: "file-removed", localId: "f1" });
    expect(led.taken()).toEqual([
      { type: "drop-file", localId: "f1" },
      { type: "delete", conversationId: "conv_9" },
    ]);
    expect(led.state.conversationId).toBeNull();
  });

  it("whose first question is refused is kept for the next attempt", () => {
    const led = new Led(null).ask("Hello", "k1").do({ type: "created", conversationId: "conv_9" });
    led.do({ type: "submit-failed", key: "k1", fault: fault("engine_not_found", 400) });
    led.taken();
    led.do(press("k2"));
    expect(led.taken()).toMatchObject([{ type: "submit", conversationId: "conv_9" }]);
  });
});

describe("a conversation that is deleted", () => {
  it("gives everything back and sends nothing more", () => {
    const led = new Led().do(view()).ask("one", "k1").ask("two", "k2");
    led.do({ type: "typed", text: "three" }, view({ isGone: true }));
    expect(led.state.text).toBe("one\n\ntwo\n\nthree");
    expect(led.state.notice?.kind).toBe("gone");
    led.taken();
    expect(led.do(press("k3")).kinds()).toEqual([]);
  });
});

describe("files", () => {
  const added = (count: number): ComposerEvent => ({
    type: "files-added",
    files: Array.from({ length: count }, (_, index) => ({
      localId: `f${index}`,
      name: `n${index}`,
      mediaType: "image/png",
      size: 10,
    })),
  });
  const done = (index: number): ComposerEvent => ({
    type: "file-done",
    localId: `f${index}`,
    file: { attachmentId: `att_${index}`, name: `n${index}.png`, mediaType: "image/png", size: 10 },
  });

  it("are uploaded at once, three at a time, and keep their order", () => {
    const led = new Led().do(added(5));
    expect(led.kinds()).toEqual(["upload", "upload", "upload"]);
    led.do(done(2), done(0), done(1));
    expect(led.kinds()).toEqual(["upload", "upload"]);
    led.do(done(4), done(3), { type: "typed", text: "Look" }, press("k1"));
    const submit = led.taken().find((effect) => effect.type === "submit");
    if (submit?.type !== "submit") throw new Error("no submit");
    expect(submitBody(submit.question).content).toEqual([
      { type: "prose", markdown: "Look" },
      ...[0, 1, 2, 3, 4].map((index) => ({
        type: "attachment",
        attachment_id: `att_${index}`,
        name: `n${index}.png`,
        media_type: "image/png",
      })),
    ]);
  });

  it("are waited for by a press of Send, unless somebody types on", () => {
    const led = new Led().do(added(1), { type: "typed", text: "Look" }, press("k1"));
    expect(led.stages).toEqual([]);
    led.do({ type: "typed", text: "Look at" }, done(0));
    expect(led.stages).toEqual([]);
    led.do(added(1), press("k2"), done(0));
    expect(led.stages).toEqual(["sent"]);
  });

  it("that failed keep the question back until somebody decides", () => {
    const led = new Led().do(added(2), { type: "typed", text: "Look" }, press("k1"), done(0));
    const broken = fault("quota_exceeded", 413);
    led.do({ type: "file-failed", localId: "f1", fault: broken });
    expect(led.stages).toEqual([]);
    expect(led.state.notice).toMatchObject({ kind: "files-failed", count: 1 });
    led.do({ type: "send", key: "k2", lastTurn: undefined, withoutFiles: true });
    expect(led.state.questions[0]?.files.map((file) => file.attachmentId)).toEqual(["att_0"]);
    expect(led.state.files).toEqual([]);
  });

  it("are tried again by themselves a few times, then by hand", () => {
    const led = new Led().do(added(1));
    for (let attempt = 1; attempt < 4; attempt += 1) {
      led.do({ type: "file-failed", localId: "f0", fault: fault("too_many_uploads", 429) });
      expect(led.state.files[0]?.stage).toBe("waiting");
      led.nowMs = led.state.wakeAtMs ?? 0;
      led.do({ type: "tick" });
      expect(led.state.files[0]?.stage).toBe("uploading");
    }
    led.do({ type: "file-failed", localId: "f0", fault: fault("too_many_uploads", 429) });
    expect(led.state.files[0]?.stage).toBe("failed");
    led.taken();
    expect(led.do({ type: "file-retry", localId: "f0" }).kinds()).toEqual(["upload"]);
  });

  it("that are too large are not sent", () => {
    const led = new Led("conv_1", { bounds: { bodyBytes: null, attachmentBytes: 9 } }).do(added(1));
    expect(led.kinds()).toEqual([]);
    expect(led.state.files[0]?.fault?.code).toBe("attachment_too_large");
  });

  it("go on after a login", () => {
    const led = new Led().do(added(1));
    led.do({ type: "file-failed", localId: "f0", fault: fault("unauthorized", 401) });
    led.taken();
    expect(led.do({ type: "logged-in" }).kinds()).toEqual(["upload"]);
  });
});

it("chooses an engine and a model for what is asked from then on", () => {
  const led = new Led().ask("one", "k1");
  led.do({ type: "choose", engine: "mine", model: "m-2" });
  led.do({ type: "submitted", key: "k1", turn: turn("t1", "running") });
  led.taken();
  led.ask("two", "k2");
  const [sent] = led.taken();
  if (sent?.type !== "submit") throw new Error("no submit");
  expect(submitBody(sent.question)).toEqual({ content: "two", engine: "mine", model: "m-2" });
});
