/**
 * Moving through the list with the arrows, from the search box down and back.
 *
 * Spec: docs/spec/page/shell.md, "Keyboard".
 */

const STOPS = "a[data-row]";

/** Handles the arrows, Home and End for every list of links below the element it is put on. */
export function moveInList(
  event: KeyboardEvent & { readonly currentTarget: EventTarget | null },
): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const { currentTarget: list, target } = event;
  if (!(list instanceof HTMLElement) || !(target instanceof HTMLElement)) return;
  const isSearch = target instanceof HTMLInputElement && target.type === "search";
  const stop = target.closest(STOPS);
  if (!isSearch && stop === null) return;
  const stops = [...list.querySelectorAll<HTMLElement>(STOPS)];
  const at = stop instanceof HTMLElement ? stops.indexOf(stop) : -1;
  const to = nextIndex(event.key, at, stops.length, isSearch);
  if (to === null) return;
  event.preventDefault();
  if (to === -1) list.querySelector<HTMLElement>("input[type=search]")?.focus();
  else stops[to]?.focus();
}

/** The index to go to; -1 for the search box above the list, null when the key is not ours. */
export function nextIndex(
  key: string,
  at: number,
  count: number,
  isSearch: boolean,
): number | null {
  if (key === "ArrowDown") return at + 1 < count ? at + 1 : null;
  if (isSearch) return null;
  if (key === "ArrowUp") return at - 1;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}
