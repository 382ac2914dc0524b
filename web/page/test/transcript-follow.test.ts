import { describe, expect, it } from "vitest";
import {
  afterDoing,
  type Doing,
  type Following,
  followingAtFirst,
  isEcho,
} from "../src/transcript/follow.ts";

const on: Following = { isOn: true, isHeld: false };
const off: Following = { isOn: false, isHeld: false };

function scrolled(scrollTop: number, written: number, end: number, isJoined = true): Doing {
  return { kind: "scrolled", scrollTop, written, end, isJoined };
}

describe("following the end", () => {
  const rows: readonly (readonly [string, Following, Doing, boolean])[] = [
    ["a wheel, finger or key upwards ends it", on, { kind: "up" }, false],
    ["a selection ends it", on, { kind: "selected" }, false],
    ["a place that is looked up ends it", on, { kind: "placed" }, false],
    ["a question resumes it", off, { kind: "follow" }, true],
    ["text that came below does not end it", on, scrolled(500, 500, 800), true],
    [
      "text that went does not end it: the browser cut the offset",
      on,
      scrolled(400, 500, 400),
      true,
    ],
    ["scrolling up a little ends it", on, scrolled(497, 500, 500), false],
    ["a rounded pixel does not end it", on, scrolled(499, 500, 500), true],
    ["a rubber band does not end it", on, scrolled(540, 500, 500), true],
    ["scrolling down to the end resumes it", off, scrolled(500, 300, 500), true],
    ["within two pixels is the end", off, scrolled(498, 300, 500), true],
    ["nearly the end is not the end", off, scrolled(497, 300, 500), false],
    ["scrolling up never resumes it, also within two pixels", off, scrolled(499, 500, 500), false],
    ["the end of what is loaded is not the end", off, scrolled(500, 300, 500, false), false],
    ["text that went under a reader does not resume it", off, scrolled(400, 500, 400), false],
    [
      "a wheel downwards at the end resumes it, though nothing scrolls",
      off,
      { kind: "down", scrollTop: 500, end: 500, isJoined: true },
      true,
    ],
    [
      "a wheel downwards above the end does not",
      off,
      { kind: "down", scrollTop: 400, end: 500, isJoined: true },
      false,
    ],
    [
      "nor at the end of what is loaded",
      off,
      { kind: "down", scrollTop: 500, end: 500, isJoined: false },
      false,
    ],
    ["pressing a button keeps it", on, { kind: "pressed" }, true],
    ["letting go does not resume it", off, { kind: "released" }, false],
  ];
  for (const [name, before, doing, expected] of rows) {
    it(name, () => expect(afterDoing(before, doing).isOn).toBe(expected));
  }

  it("is on at first and waits while something is held", () => {
    expect(followingAtFirst).toEqual(on);
    const held = afterDoing(on, { kind: "pressed" });
    expect(held).toEqual({ isOn: true, isHeld: true });
    expect(afterDoing(held, scrolled(100, 500, 500)).isOn).toBe(false);
    expect(afterDoing(held, { kind: "released" })).toEqual(on);
  });

  it("takes no echo of its own writing for the reader", () => {
    expect(isEcho(500, 500, 900)).toBe(true);
    expect(isEcho(499.2, 500, 900)).toBe(true);
    expect(isEcho(480, 500, 480)).toBe(true);
    expect(isEcho(497, 500, 900)).toBe(false);
    expect(isEcho(520, 500, 900)).toBe(false);
  });
});
