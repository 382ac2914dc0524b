import { describe, expect, it } from "vitest";
import { commandFor, type KeyPress, keyNames, SHORTCUTS } from "../src/shell/keyboard.ts";
import { nextIndex } from "../src/shell/listkeys.ts";
import { strings } from "../src/strings.ts";

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  isComposing: false,
  ...more,
});

describe("shortcuts", () => {
  it.each([
    [press("k", { ctrlKey: true }), "search"],
    [press("K", { ctrlKey: true, shiftKey: true }), null],
    [press("f", { ctrlKey: true }), "find"],
    [press("O", { ctrlKey: true, shiftKey: true }), "newConversation"],
    [press("o", { ctrlKey: true }), null],
    [press("?", { shiftKey: true }), "help"],
    [press("?"), "help"],
    [press("/"), "focusComposer"],
    [press("/", { shiftKey: true }), "focusComposer"],
    [press("ArrowDown", { altKey: true }), "nextConversation"],
    [press("ArrowUp", { altKey: true }), "previousConversation"],
    [press("ArrowUp"), null],
    [press("Escape"), "stop"],
    [press("b", { ctrlKey: true }), "toggleSidebar"],
    [press("b", { metaKey: true }), null],
    [press(",", { ctrlKey: true }), "settings"],
    [press("k", { ctrlKey: true, isComposing: true }), null],
    [press("k", { ctrlKey: true, altKey: true }), null],
  ])("%o", (key, command) => {
    expect(commandFor(key, { isTyping: false, isMac: false })).toBe(command);
  });

  it("use Cmd on a Mac, and leave Ctrl to it", () => {
    const isMac = true;
    expect(commandFor(press("k", { metaKey: true }), { isTyping: true, isMac })).toBe("search");
    expect(commandFor(press("k", { ctrlKey: true }), { isTyping: true, isMac })).toBeNull();
  });

  it("take no character from who types, and none at all when they are off", () => {
    for (const shortcut of SHORTCUTS) {
      const key = press(shortcut.key, {
        ctrlKey: shortcut.mod ?? false,
        shiftKey: shortcut.shift ?? false,
        altKey: shortcut.alt ?? false,
      });
      const typesText = shortcut.key.length === 1 && !shortcut.mod && !shortcut.alt;
      const typing = commandFor(key, { isTyping: true, isMac: false });
      expect(typing).toBe(typesText ? null : shortcut.command);
      const off = commandFor(key, { isTyping: false, isMac: false, singleKeys: false });
      expect(off).toBe(typesText ? null : shortcut.command);
    }
  });

  it("are all in the help, with their keys, and none twice", () => {
    const spelled = SHORTCUTS.map((shortcut) => keyNames(shortcut, false).join("+"));
    expect(new Set(spelled).size).toBe(spelled.length);
    for (const { command } of SHORTCUTS) expect(strings.shell.commands[command]).toBeTruthy();
    const found = SHORTCUTS.find(({ command }) => command === "newConversation");
    expect(found && keyNames(found, true)).toEqual(["⌘", "⇧", "O"]);
  });
});

describe("the arrows in the list", () => {
  it.each([
    ["ArrowDown", -1, 3, true, 0],
    ["ArrowDown", 0, 3, false, 1],
    ["ArrowDown", 2, 3, false, null],
    ["ArrowDown", -1, 0, true, null],
    ["ArrowUp", 0, 3, false, -1],
    ["ArrowUp", 2, 3, false, 1],
    ["ArrowUp", -1, 3, true, null],
    ["Home", 2, 3, false, 0],
    ["End", 0, 3, false, 2],
    // In the field these move the caret.
    ["Home", -1, 3, true, null],
    ["x", 0, 3, false, null],
  ])("%s at %d of %d (search: %s) goes to %s", (key, at, count, isSearch, to) => {
    expect(nextIndex(key, at, count, isSearch)).toBe(to);
  });
});
