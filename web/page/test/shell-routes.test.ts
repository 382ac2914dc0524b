import { describe, expect, it } from "vitest";
import {
  conversationPath,
  type HistoryPort,
  isPlainClick,
  parseRoute,
  Router,
  shareLink,
} from "../src/shell/routes.ts";

const SECRET = `bws_${"aB3_".repeat(12)}`;

describe("addresses", () => {
  it.each([
    ["/", "", { kind: "start" }],
    ["/", "#anything", { kind: "start" }],
    ["/c/conv_1", "", { kind: "conversation", conversationId: "conv_1", place: null }],
    ["/c/conv_1/", "#", { kind: "conversation", conversationId: "conv_1", place: null }],
    [
      "/c/a%2Fb%20%F0%9F%8C%B8",
      "#turn_1/block%202",
      {
        kind: "conversation",
        conversationId: "a/b 🌸",
        place: { messageId: "turn_1", blockId: "block 2" },
      },
    ],
    [
      "/c/conv_1",
      "#b1",
      { kind: "conversation", conversationId: "conv_1", place: { messageId: null, blockId: "b1" } },
    ],
    ["/c/conv_1", "#/b1", { kind: "conversation", conversationId: "conv_1", place: null }],
    ["/c/conv_1", "#m/", { kind: "conversation", conversationId: "conv_1", place: null }],
    ["/c/conv_1", "#%zz", { kind: "conversation", conversationId: "conv_1", place: null }],
    ["/c/", "", { kind: "unknown" }],
    ["/c/%zz", "", { kind: "unknown" }],
    ["/c/a/b", "", { kind: "unknown" }],
    ["/else", "", { kind: "unknown" }],
    ["/", `#share=conv_1:${SECRET}`, { kind: "share", conversationId: "conv_1", secret: SECRET }],
    ["/", `#share=a:b:${SECRET}`, { kind: "share", conversationId: "a:b", secret: SECRET }],
    ["/", "#share=", { kind: "brokenShare" }],
    ["/", "#share=conv_1", { kind: "brokenShare" }],
    ["/", "#share=conv_1:bws_short", { kind: "brokenShare" }],
    ["/", `#share=:${SECRET}`, { kind: "brokenShare" }],
    ["/", "#share=conv_1:bw_aaaaaaaaaaaaaaaaaaaaaaaaa", { kind: "brokenShare" }],
  ])("reads %s%s", (pathname, hash, route) => {
    expect(parseRoute(pathname, hash)).toEqual(route);
  });

  it("spells every id so that it is read again", () => {
    for (const id of ["conv_1", "a/b", "a b#c?d", "%41", "日本", "🌸", "..", "a:b"]) {
      for (const place of [
        null,
        { messageId: null, blockId: id },
        { messageId: id, blockId: `${id}/x` },
      ]) {
        const url = new URL(conversationPath(id, place), "http://gateway.example");
        const read = parseRoute(url.pathname, url.hash);
        if (id === "..") continue; // an address has no such step; the gateway's ids are none either
        expect(read).toEqual({ kind: "conversation", conversationId: id, place });
      }
    }
  });

  it("makes the link of a share, with its secret behind the sign that no server sees", () => {
    const link = shareLink("https://g.example", `share=conv_1:${SECRET}`);
    expect(link).toBe(`https://g.example/#share=conv_1:${SECRET}`);
    const { pathname, hash } = new URL(link);
    expect(parseRoute(pathname, hash).kind).toBe("share");
  });
});

class FakeHistory implements HistoryPort {
  entries = ["/"];
  at = 0;
  #listeners: (() => void)[] = [];
  get location() {
    const { pathname, hash } = new URL(this.entries[this.at] ?? "/", "http://g.example");
    return { pathname, hash };
  }
  history = {
    pushState: (_data: unknown, _unused: string, url: string) => {
      this.entries = [...this.entries.slice(0, this.at + 1), url];
      this.at += 1;
    },
    replaceState: (_data: unknown, _unused: string, url: string) => {
      this.entries[this.at] = url;
    },
  };
  addEventListener(_type: string, listener: () => void) {
    this.#listeners.push(listener);
  }
  move(by: number) {
    this.at += by;
    for (const listener of this.#listeners) listener();
  }
}

describe("going", () => {
  it("goes, comes back and goes forward", () => {
    const port = new FakeHistory();
    const router = new Router(port);
    router.go("/c/one");
    router.go("/c/two");
    expect(router.route.value).toMatchObject({ conversationId: "two" });
    port.move(-1);
    expect(router.route.value).toMatchObject({ conversationId: "one" });
    port.move(-1);
    expect(router.route.value).toEqual({ kind: "start" });
    port.move(2);
    expect(router.route.value).toMatchObject({ conversationId: "two" });
  });

  it("replaces a step where the old one leads nowhere", () => {
    const port = new FakeHistory();
    const router = new Router(port);
    router.go("/c/deleted");
    router.go("/", { replace: true });
    expect(port.entries).toEqual(["/", "/"]);
  });

  it.each([
    [{}, true],
    [{ button: 1 }, false],
    [{ metaKey: true }, false],
    [{ ctrlKey: true }, false],
    [{ shiftKey: true }, false],
    [{ altKey: true }, false],
    [{ defaultPrevented: true }, false],
  ])("leaves clicks for new tabs to the browser: %o", (more, isPlain) => {
    const click = {
      button: 0,
      metaKey: false,
      ctrlKey: false,
      shiftKey: false,
      altKey: false,
      defaultPrevented: false,
      ...more,
    };
    expect(isPlainClick(click as MouseEvent)).toBe(isPlain);
  });
});
