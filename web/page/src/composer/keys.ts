/** What a key does in the input of the composer. */

/** Within so long a second Escape stops the answer, in milliseconds. */
export const ESCAPE_MS = 3_000;

export type KeyAction = "send" | "escape" | null;

/** What is read of a KeyboardEvent. */
export interface InputKey {
  readonly key: string;
  readonly keyCode: number;
  readonly isComposing: boolean;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** How somebody types here. */
export interface Typing {
  /** The setting: Enter sends, else Ctrl+Enter or Cmd+Enter. */
  readonly enterSends: boolean;
  /** A keyboard on the screen has no Shift+Enter, so that its Enter begins a line. */
  readonly isTouch: boolean;
}

/** 229 is what keys of an input method are in browsers that end the composition before the key. */
const COMPOSING_KEY_CODE = 229;

/** Return what `press` does; null leaves it to the browser. */
export function keyAction(press: InputKey, typing: Typing): KeyAction {
  if (press.isComposing || press.keyCode === COMPOSING_KEY_CODE) return null;
  if (press.key === "Escape") return "escape";
  if (press.key !== "Enter" || press.shiftKey || press.altKey) return null;
  if (press.ctrlKey || press.metaKey) return "send";
  return typing.enterSends && !typing.isTouch ? "send" : null;
}
