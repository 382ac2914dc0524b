/**
 * The shortcuts of the page: one table, from which both the handler and the help are made.
 *
 * Spec: docs/spec/page/shell.md, "Keyboard".
 */

export type CommandName =
  | "newConversation"
  | "search"
  | "find"
  | "focusComposer"
  | "nextConversation"
  | "previousConversation"
  | "toggleSidebar"
  | "stop"
  | "help"
  | "settings";

/** A key with what is held down. `mod` is Ctrl, and Cmd on a Mac. */
export interface Shortcut {
  readonly command: CommandName;
  /** As `KeyboardEvent.key` in lower case. */
  readonly key: string;
  readonly mod?: boolean;
  readonly shift?: boolean;
  readonly alt?: boolean;
  /**
   * Whether it also works while somebody types; only combinations that type nothing may. The others
   * are single characters, which the settings can turn off: who speaks to a machine types many.
   */
  readonly whileTyping?: boolean;
}

// Ctrl+N, Ctrl+T, Ctrl+W and Ctrl+Tab belong to the browser and cannot be taken.
export const SHORTCUTS: readonly Shortcut[] = [
  { command: "newConversation", key: "o", mod: true, shift: true, whileTyping: true },
  { command: "search", key: "k", mod: true, whileTyping: true },
  { command: "find", key: "f", mod: true, whileTyping: true },
  { command: "focusComposer", key: "/" },
  { command: "nextConversation", key: "arrowdown", alt: true, whileTyping: true },
  { command: "previousConversation", key: "arrowup", alt: true, whileTyping: true },
  { command: "toggleSidebar", key: "b", mod: true, whileTyping: true },
  { command: "settings", key: ",", mod: true, whileTyping: true },
  { command: "stop", key: "escape", whileTyping: true },
  { command: "help", key: "?" },
];

/** What is read of a KeyboardEvent. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  /** Whether an input method is composing a character; its keys are its own. */
  readonly isComposing: boolean;
}

/**
 * The command of a key press, or null.
 *
 * @param isTyping Whether the focus is where keys are text.
 * @param isMac Where Cmd takes the place of Ctrl.
 */
export function commandFor(
  press: KeyPress,
  {
    isTyping,
    isMac,
    singleKeys = true,
  }: { isTyping: boolean; isMac: boolean; singleKeys?: boolean },
): CommandName | null {
  if (press.isComposing) return null;
  const key = press.key.toLowerCase();
  const isMod = isMac ? press.metaKey && !press.ctrlKey : press.ctrlKey && !press.metaKey;
  const isOther = isMac ? press.ctrlKey : press.metaKey;
  for (const shortcut of SHORTCUTS) {
    if (shortcut.key !== key || isOther) continue;
    if ((isTyping || !singleKeys) && !shortcut.whileTyping) continue;
    if (isMod !== (shortcut.mod ?? false) || press.altKey !== (shortcut.alt ?? false)) continue;
    // Where a sign is asked for, keyboards differ in how it is typed: "?" and "/" may need Shift.
    const isSign = key.length === 1 && !/[a-z]/u.test(key);
    if (!isSign && press.shiftKey !== (shortcut.shift ?? false)) continue;
    return shortcut.command;
  }
  return null;
}

/** The keys of a shortcut as they are printed on a keyboard, in the order one presses them. */
export function keyNames(shortcut: Shortcut, isMac: boolean): string[] {
  const names: string[] = [];
  if (shortcut.mod) names.push(isMac ? "⌘" : "Ctrl");
  if (shortcut.alt) names.push(isMac ? "⌥" : "Alt");
  if (shortcut.shift) names.push(isMac ? "⇧" : "Shift");
  const printed: Readonly<Record<string, string>> = {
    arrowdown: "↓",
    arrowup: "↑",
    escape: "Esc",
  };
  names.push(printed[shortcut.key] ?? shortcut.key.toUpperCase());
  return names;
}

/** Whether keys are text at `target`. */
export function isTypingTarget(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLSelectElement) return true;
  return (
    target instanceof HTMLInputElement &&
    !["button", "checkbox", "radio", "range", "submit", "reset", "file"].includes(target.type)
  );
}
