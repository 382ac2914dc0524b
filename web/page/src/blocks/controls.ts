import { append, type Child, el } from "../platform/dom.ts";
import { type IconName, icon, setIcon } from "./icons.ts";
import { shownText } from "./shown.ts";

/** A button of one picture; its name is for screen readers and for whoever points at it. */
export function iconButton(
  name: IconName,
  label: string,
  onPress: (event: MouseEvent) => void,
): HTMLButtonElement {
  return el(
    "button",
    {
      class: "bk-icon-button",
      attrs: { type: "button", "aria-label": label, title: label },
      on: { click: onPress },
    },
    icon(name),
  );
}

/** How long a button says that it copied, in milliseconds. */
const COPIED_MS = 1_500;

/** A button that copies, and shows for a moment that it was pressed; a failure is told elsewhere. */
export function copyButton(label: string, copy: () => void): HTMLButtonElement {
  return markedCopyButton("copy", label, copy);
}

/** A {@link copyButton} with a picture of its own. */
export function markedCopyButton(
  name: IconName,
  label: string,
  copy: () => void,
): HTMLButtonElement {
  let timer = 0;
  const button = iconButton(name, label, () => {
    copy();
    show("completed");
    clearTimeout(timer);
    timer = window.setTimeout(() => show(name), COPIED_MS);
  });
  const show = (picture: IconName): void => {
    const found = button.querySelector("svg");
    if (found !== null) setIcon(found, picture);
  };
  return button;
}

/** A button of words, perhaps with a picture before them. */
export function wordButton(
  label: string,
  options: { readonly icon?: IconName; readonly kind?: "main" | "plain" },
  onPress: (event: MouseEvent) => void,
): HTMLButtonElement {
  const button = el("button", {
    class: `bk-button bk-button-${options.kind ?? "plain"}`,
    attrs: { type: "button" },
    on: { click: onPress },
  });
  append(button, options.icon !== undefined && icon(options.icon), el("span", {}, label));
  return button;
}

/** A box with a picture, a label and what follows: errors, notices, spoken words, unknown blocks. */
export function note(
  kind: string,
  picture: IconName,
  label: string,
  ...children: readonly Child[]
): HTMLDivElement {
  return el(
    "div",
    { class: `bk-note bk-note-${kind}`, attrs: { role: "note", "aria-label": label } },
    icon(picture),
    el("div", { class: "bk-note-body" }, ...children),
  );
}

/** A text that is shown as it is, with its line breaks, in its own direction. */
export function literal(text: string, className = "bk-literal"): HTMLElement {
  return el("div", { class: className, attrs: { dir: "auto" } }, shownText(text));
}
