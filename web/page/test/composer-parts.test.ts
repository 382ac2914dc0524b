import { describe, expect, it } from "vitest";
import { ComposerDesk } from "../src/composer/desk.ts";
import { DRAFT_CHARS_MAX, DRAFTS_MAX, DraftStore, readSaved } from "../src/composer/drafts.ts";
import { type InputKey, keyAction } from "../src/composer/keys.ts";
import { RECENT_MAX, RecentModels, readEngines } from "../src/composer/models.ts";
import { PASTE_CHARS_MAX, withoutPaste } from "../src/composer/pastes.ts";
import {
  type ComposerFeed,
  type ComposerPort,
  findMarked,
  readFault,
  readTurn,
  viewOf,
} from "../src/composer/port.ts";
import { emptyComposer, PENDING_MS_MAX, restored, saved } from "../src/composer/state.ts";
import type { ComposerState, Question } from "../src/composer/types.ts";
import { reason, sizeText } from "../src/composer/words.ts";
import { SafeStore, type TextStore } from "../src/platform/storage.ts";
import { strings } from "../src/strings.ts";

/** A store with room for so many characters. */
class Memory implements TextStore {
  readonly kept = new Map<string, string>();
  readonly room: number;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.room = room;
  }

  getItem(name: string): string | null {
    return this.kept.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    let used = value.length;
    for (const [other, text] of this.kept) if (other !== name) used += text.length;
    if (used > this.room) throw new DOMException("full", "QuotaExceededError");
    this.kept.set(name, value);
  }

  removeItem(name: string): void {
    this.kept.delete(name);
  }
}

function question(more: Partial<Question> = {}): Question {
  return {
    key: "k1",
    text: "Why?",
    files: [],
    engine: null,
    model: null,
    lastTurn: undefined,
    stage: "waiting",
    turnId: null,
    position: null,
    isUnwanted: false,
    isReturning: false,
    isDoubtful: false,
    isStale: false,
    askedAtMs: 1_000,
    ...more,
  };
}

function state(more: Partial<ComposerState> = {}): ComposerState {
  return { ...emptyComposer("conv_1", "mark"), ...more };
}

const FILE = { attachmentId: "att_1", name: "a.png", mediaType: "image/png", size: 3 };

describe("drafts that are kept", () => {
  function store(room?: number): { memory: Memory; drafts: DraftStore } {
    const memory = new Memory(room);
    return { memory, drafts: new DraftStore(new SafeStore(() => memory)) };
  }

  it("come back as they were", () => {
    const { drafts } = store();
    const before = state({
      text: "Hm \u05d0\n",
      engine: "mine",
      model: "m",
      questions: [
        question({ lastTurn: null, files: [FILE] }),
        question({ key: "k2", stage: "queued", turnId: "t1", position: 2, lastTurn: "t0" }),
      ],
    });
    drafts.save("conv_1", saved(before));
    expect(drafts.load("conv_1")).toEqual(saved(before));
  });

  it("leave nothing when there is nothing left of them", () => {
    const { memory, drafts } = store();
    drafts.save("conv_1", saved(state({ text: "a" })));
    drafts.save("conv_1", saved(state()));
    expect(memory.kept.size).toBe(0);
  });

  it("are gone after a logout", () => {
    const { memory, drafts } = store();
    for (const place of ["", "conv_1", "conv_2"]) drafts.save(place, saved(state({ text: "a" })));
    drafts.clear();
    expect(memory.kept.size).toBe(0);
  });

  it("are bounded in number: the oldest goes", () => {
    const { drafts } = store();
    for (let at = 0; at <= DRAFTS_MAX; at += 1) drafts.save(`c${at}`, saved(state({ text: "a" })));
    expect(drafts.places()).toHaveLength(DRAFTS_MAX);
    expect(drafts.load("c0")).toBeNull();
    expect(drafts.load(`c${DRAFTS_MAX}`)?.text).toBe("a");
  });

  it("are bounded in size: of one that is too long nothing old stays either", () => {
    const { drafts } = store();
    drafts.save("conv_1", saved(state({ text: "old" })));
    drafts.save("conv_1", saved(state({ text: "x".repeat(DRAFT_CHARS_MAX + 1) })));
    expect(drafts.load("conv_1")).toBeNull();
  });

  it("make room by what is oldest", () => {
    const { drafts } = store(2_000);
    for (const place of ["a", "b", "c"])
      drafts.save(place, saved(state({ text: "x".repeat(700) })));
    expect(drafts.load("c")?.text).toHaveLength(700);
    expect(drafts.load("a")).toBeNull();
  });

  it.each([null, {}, [], { mark: 1, text: "a" }, { mark: "", text: "a" }, { mark: "m", text: 3 }])(
    "are not read from what is damaged: %j",
    (value) => {
      expect(readSaved(value)).toBeNull();
    },
  );

  it("leave out questions and files that are damaged", () => {
    const questions = [question(), { key: "k" }, { ...question(), stage: "odd" }, null, 3];
    const kept = readSaved({ mark: "m", text: "", questions, files: [FILE, { name: "b" }, "c"] });
    expect(kept?.questions).toEqual([question()]);
    expect(kept?.files).toEqual([FILE]);
  });
});

describe("a reload", () => {
  function after(before: ComposerState, laterMs = 1_000): ComposerState {
    const kept = readSaved(JSON.parse(JSON.stringify(saved(before))));
    if (kept === null) throw new Error("nothing was kept");
    return restored(kept, 1_000 + laterMs);
  }

  it("sends what was under way again, under its key", () => {
    const again = after(state({ questions: [question({ stage: "sent" })] }));
    expect(again.questions).toMatchObject([{ key: "k1", stage: "waiting", isDoubtful: true }]);
  });

  it("does not send a question of another day by itself, and keeps its key for it", () => {
    const again = after(state({ text: "b", questions: [question()] }), PENDING_MS_MAX + 1);
    expect(again.questions).toEqual([]);
    expect(again.text).toBe("Why?\n\nb");
    expect(again.doubtful?.key).toBe("k1");
  });

  it("keeps files that are there, and tells of those that are not", () => {
    const file = { ...FILE, localId: "f", share: 1, tries: 0, notBeforeMs: null, fault: null };
    const again = after(
      state({
        files: [
          { ...file, stage: "done" },
          { ...file, stage: "uploading", attachmentId: null },
        ],
      }),
    );
    expect(again.files).toMatchObject([{ attachmentId: "att_1", stage: "done" }]);
    expect(again.notice).toMatchObject({ kind: "files-lost", count: 1 });
  });

  it("keeps the words of an answer that was being written", () => {
    const answering = { turnId: "t", requestId: "r", text: "red", isSending: false };
    expect(after(state({ answering, text: "b" })).text).toBe("red\n\nb");
  });

  it("looks for a conversation that may have been made", () => {
    const again = after({ ...emptyComposer(null, "m"), creation: "sent", text: "a" });
    expect(again.creation).toBe("doubtful");
  });
});

describe("the desk", () => {
  const port = new Proxy({} as ComposerPort, { get: () => () => new Promise(() => {}) });

  function desk(memory: Memory, more: Partial<ComposerPort> = {}): ComposerDesk {
    let keys = 0;
    return new ComposerDesk({
      port: { ...methods(port), ...more },
      drafts: new DraftStore(new SafeStore(() => memory)),
      models: new RecentModels(new SafeStore(() => new Memory())),
      now: () => 1_000,
      newKey: () => `key_${++keys}`,
      later: () => () => {},
      login: () => {},
    });
  }

  function methods(from: ComposerPort): ComposerPort {
    return {
      createConversation: from.createConversation,
      conversations: from.conversations,
      deleteConversation: from.deleteConversation,
      submit: from.submit,
      cancel: from.cancel,
      turn: from.turn,
      resume: from.resume,
      upload: from.upload,
    };
  }

  it("shows a question once whose turn the stream told of before the submit was answered", async () => {
    let answer: (turn: unknown) => void = () => {};
    const submit = () => new Promise((resolve) => (answer = resolve));
    const runner = desk(new Memory(), { submit }).of("c1");
    const messages = new Map<string, unknown>();
    const running = new Map<string, { status: string }>();
    let told: () => void = () => {};
    runner.attach({
      conversationId: "c1",
      state: { message: (id) => messages.get(id), running },
      queued: [],
      dequeued: new Map(),
      status: { kind: "live" },
      subscribe: (listener) => {
        told = listener;
        return () => {};
      },
    });
    runner.dispatch({ type: "typed", text: "Why?" });
    runner.send();

    messages.set("turn_1", {});
    running.set("turn_1", { status: "streaming" });
    told();
    expect(runner.state.value.questions).toHaveLength(1);
    answer({ id: "turn_1", status: "streaming", durable: true });
    await new Promise((resolve) => setTimeout(resolve));

    expect(runner.state.value.questions).toEqual([]);
  });

  it("keeps a question before it is sent", () => {
    const memory = new Memory();
    let wasKept = false;
    const submit: ComposerPort["submit"] = (_id, _body, key) => {
      wasKept = [...memory.kept.values()].some((text) => text.includes(key));
      return new Promise(() => {});
    };
    const runner = desk(memory, { submit }).of("conv_1");
    runner.dispatch({ type: "typed", text: "Why?" });
    runner.send();
    expect(wasKept).toBe(true);
  });

  it("goes on after a reload with what is not shown", () => {
    const memory = new Memory();
    const first = desk(memory).of("conv_1");
    first.dispatch({ type: "typed", text: "Why?" });
    first.send();
    const keys: string[] = [];
    desk(memory, {
      submit: (_id, _body, key) => {
        keys.push(key);
        return new Promise(() => {});
      },
    });
    expect(keys).toEqual([first.state.value.questions[0]?.key]);
  });

  it("gives the new conversation its place when its first question is taken", async () => {
    const memory = new Memory();
    const made = desk(memory, {
      createConversation: async () => ({ id: "conv_9" }),
      submit: async () => ({ id: "t1", status: "running", durable: true }),
    });
    const shown = new Promise<string>((resolve) => {
      made.onShow = resolve;
    });
    const runner = made.of(null);
    runner.dispatch({ type: "typed", text: "Hello" });
    runner.send();
    expect(await shown).toBe("conv_9");
    expect(made.of("conv_9")).toBe(runner);
    expect(made.of(null)).not.toBe(runner);
    expect(new DraftStore(new SafeStore(() => memory)).places()).toEqual(["conv_9"]);
  });

  it("moves what was written in a conversation that is gone to the new one", () => {
    const memory = new Memory();
    const one = desk(memory);
    const runner = one.of("conv_1");
    runner.dispatch({ type: "typed", text: "my words" });
    const view = { isLive: true, queued: [], running: null, seenIds: [], left: [] };
    runner.dispatch({ type: "feed", ...view, isGone: true });
    expect(one.of(null).state.value.text).toBe("my words");
    expect(one.of("conv_1").state.value.text).toBe("");
  });

  it("forgets every word at logout", () => {
    const memory = new Memory();
    const one = desk(memory);
    const runner = one.of("conv_1");
    runner.dispatch({ type: "typed", text: "secret" });
    runner.keepNow();
    expect(memory.kept.size).toBeGreaterThan(0);
    one.forget();
    runner.dispatch({ type: "typed", text: "more" });
    runner.keepNow();
    expect(memory.kept.size).toBe(0);
    expect(one.of("conv_1").state.value.text).toBe("");
  });

  it("does nothing for the words of an answer that streams", () => {
    const runner = desk(new Memory()).of("conv_1");
    let listener = (): void => {};
    const running = new Map([["t1", { status: "streaming" }]]);
    const feed: ComposerFeed = {
      conversationId: "conv_1",
      state: { message: () => undefined, running },
      queued: [],
      dequeued: new Map(),
      status: { kind: "live" },
      subscribe: (added) => {
        listener = added;
        return () => {};
      },
    };
    runner.attach(feed);
    const before = runner.state.value;
    for (let batch = 0; batch < 100; batch += 1) listener();
    expect(runner.state.value).toBe(before);
    running.clear();
    listener();
    expect(runner.state.value.running).toBeNull();
  });
});

describe("keys", () => {
  const key = (name: string, more: Partial<InputKey> = {}): InputKey => ({
    key: name,
    keyCode: 0,
    isComposing: false,
    shiftKey: false,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    ...more,
  });

  it.each([
    ["Enter", {}, "send", null, null],
    ["Enter", { shiftKey: true }, null, null, null],
    ["Enter", { altKey: true }, null, null, null],
    ["Enter", { ctrlKey: true }, "send", "send", "send"],
    ["Enter", { metaKey: true }, "send", "send", "send"],
    ["Enter", { isComposing: true }, null, null, null],
    ["Enter", { keyCode: 229 }, null, null, null],
    ["Enter", { ctrlKey: true, isComposing: true }, null, null, null],
    ["Escape", {}, "escape", "escape", "escape"],
    ["Escape", { isComposing: true }, null, null, null],
    ["a", { ctrlKey: true }, null, null, null],
  ] as const)("%s %j", (name, more, enterSends, modSends, touch) => {
    const press = key(name, more);
    expect(keyAction(press, { enterSends: true, isTouch: false })).toBe(enterSends);
    expect(keyAction(press, { enterSends: false, isTouch: false })).toBe(modSends);
    expect(keyAction(press, { enterSends: true, isTouch: true })).toBe(touch);
  });
});

describe("pastes", () => {
  const long = "w".repeat(PASTE_CHARS_MAX + 1);

  it.each([
    [`a${long}b`, 1, "ab"],
    [`aaa${long}b`, 1, "aaab"],
    ["changed", 0, null],
  ])("leave the rest of the draft", (draft, at, rest) => {
    expect(withoutPaste(draft, { text: long, at })).toBe(rest);
  });
});

describe("answers of the gateway", () => {
  it("are read with care", () => {
    const content = [
      { type: "prose", markdown: "Hm?" },
      { type: "attachment", name: "a.png" },
      { type: "odd" },
    ];
    expect(readTurn({ id: "t", status: "queued", durable: false, position: 2, content })).toEqual({
      id: "t",
      status: "queued",
      durable: false,
      position: 2,
      text: "Hm?\n\na.png",
    });
    expect(readTurn(null)).toMatchObject({ id: "", durable: true, position: null, text: null });
  });

  it("tell an error of the page from one of the gateway", () => {
    const refused = Object.assign(new Error("no"), { code: "queue_full", status: 429 });
    expect(readFault(Object.assign(refused, { retryable: true, retryAfterS: 5 }))).toEqual({
      code: "queue_full",
      message: "no",
      status: 429,
      retryable: true,
      retryAfterS: 5,
    });
    expect(readFault(new TypeError("secret"))).toMatchObject({ code: "unexpected", message: "" });
  });

  it("tell which conversation was made here", () => {
    const items = [{ id: "a" }, { id: "b", metadata: { page_draft: "m" } }];
    expect(findMarked({ items }, "m")).toBe("b");
    expect(findMarked({ items }, "other")).toBeNull();
    expect(findMarked(null, "m")).toBeNull();
  });

  it("hold what a suspended turn asks, for answers in words alone", () => {
    const feed = (request: unknown): ComposerFeed => ({
      conversationId: "c",
      state: {
        message: () => undefined,
        running: new Map([["t", { status: "suspended", request }]]),
      },
      queued: [],
      dequeued: new Map(),
      status: { kind: "live" },
      subscribe: () => () => {},
    });
    const asked = (kind: string) =>
      viewOf(feed({ id: "r", kind, prompt: "?" }), []).running?.request;
    expect(asked("question")?.takesText).toBe(true);
    expect(asked("approval")?.takesText).toBe(false);
    expect(viewOf(feed(undefined), []).running?.request).toBeNull();
  });
});

describe("engines and models", () => {
  it.each([
    [{ engines: ["a", "b"] }, ["a", "b"], []],
    [{ engines: ["a"], models: { a: ["m", "n"] } }, ["a"], ["m", "n"]],
    [{ engines: [{ name: "a", models: ["m", 3, "m"] }] }, ["a"], ["m"]],
    [{ engines: "a" }, [], []],
    [null, [], []],
  ])("are read from %j", (capabilities, names, models) => {
    const engines = readEngines(capabilities);
    expect(engines.map((engine) => engine.name)).toEqual(names);
    expect(engines[0]?.models ?? []).toEqual(models);
  });

  it("know which of them play recordings", () => {
    const engines = readEngines({ engines: ["a", "b"], replays: ["b"] });
    expect(engines.map(({ isReplay }) => isReplay)).toEqual([false, true]);
  });

  it("remember the models that were used last", () => {
    const recent = new RecentModels(new SafeStore(memory));
    for (let at = 0; at < 9; at += 1) recent.add("a", `m${at}`);
    recent.add("a", "m4");
    recent.add("b", "x");
    expect(recent.of("a")).toHaveLength(RECENT_MAX);
    expect(recent.of("a").slice(0, 2)).toEqual(["m4", "m8"]);
    expect(recent.of("b")).toEqual(["x"]);
  });

  const kept = new Memory();
  const memory = (): Memory => kept;
});

describe("words", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.0 kB"],
    [48_213, "48 kB"],
    [999_900, "1.0 MB"],
    [67_108_864, "67 MB"],
  ])("tell a size: %i", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });

  it("say what to do of every code that has a way forward, else what the gateway says", () => {
    const fault = { status: 400, retryable: false, retryAfterS: null };
    for (const [code, text] of Object.entries(strings.composer.codes)) {
      expect(reason({ ...fault, code, message: "x" })).toBe(text);
    }
    expect(reason({ ...fault, code: "odd_one", message: "no way" })).toBe("No way. (odd_one)");
    expect(reason({ ...fault, code: "constructor", message: "" })).toBe(
      strings.composer.unexpected,
    );
  });
});
