/**
 * How a person wants the page: kept in this browser, for all its tabs.
 *
 * Spec: docs/spec/page/shell.md, "Settings".
 */
import { batch, effect, type Signal, signal } from "@preact/signals";
import type { SafeStore } from "../platform/storage.ts";

export const THEMES = ["system", "light", "dark"] as const;
export const TEXT_SIZES = ["small", "normal", "large", "larger"] as const;
export type Theme = (typeof THEMES)[number];
export type TextSize = (typeof TEXT_SIZES)[number];

const NAME = "settings";

/** Signals, each of one setting; a change is kept at once. */
export interface Settings {
  readonly theme: Signal<Theme>;
  readonly textSize: Signal<TextSize>;
  /** Whether formulas between dollars are set as mathematics. */
  readonly maths: Signal<boolean>;
  /** True: Enter sends and Shift+Enter breaks the line. False: Ctrl+Enter or Cmd+Enter sends. */
  readonly enterSends: Signal<boolean>;
  /** Whether single characters are shortcuts, outside of fields. */
  readonly singleKeys: Signal<boolean>;
  /** Whether the list of conversations is shown beside the conversation, on wide windows. */
  readonly sidebar: Signal<boolean>;
  /** Reads again what is kept; another tab has changed it. */
  reload(): void;
}

/** Settings as `store` keeps them; what is damaged or unknown there counts as not set. */
export function makeSettings(store: SafeStore): Settings {
  const settings = {
    theme: signal<Theme>("system"),
    textSize: signal<TextSize>("normal"),
    maths: signal(false),
    enterSends: signal(true),
    singleKeys: signal(true),
    sidebar: signal(true),
  };
  // What was just read is not written: half of it would undo what another tab is changing.
  let isReading = true;
  const read = (): void => {
    isReading = true;
    batch(() => {
      const kept = store.getObject(NAME);
      settings.theme.value = oneOf(THEMES, kept.theme, "system");
      settings.textSize.value = oneOf(TEXT_SIZES, kept.textSize, "normal");
      settings.maths.value = kept.maths === true;
      settings.enterSends.value = kept.enterSends !== false;
      settings.singleKeys.value = kept.singleKeys !== false;
      settings.sidebar.value = kept.sidebar !== false;
    });
    isReading = false;
  };
  read();
  isReading = true;
  effect(() => {
    const values = Object.fromEntries(
      Object.entries(settings).map(([name, setting]) => [name, setting.value]),
    );
    if (!isReading) store.setObject(NAME, values);
  });
  isReading = false;
  return { ...settings, reload: read };
}

/** Puts theme and size on the root of the document, where the style sheets look for them. */
export function showSettings(settings: Settings, root: HTMLElement): () => void {
  return effect(() => {
    const theme = settings.theme.value;
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    root.dataset.textSize = settings.textSize.value;
  });
}

function oneOf<T extends string>(names: readonly T[], value: unknown, otherwise: T): T {
  return names.find((name) => name === value) ?? otherwise;
}
