/** The button that goes to the end, and tells what is there. */
import { el } from "../platform/dom.ts";
import { strings } from "../strings.ts";

const words = strings.transcript;

export class JumpButton {
  readonly element: HTMLButtonElement;
  readonly #text: HTMLElement;
  #said = "";

  constructor(onClick: () => void) {
    this.#text = el("span", {}, words.toEnd);
    this.element = el(
      "button",
      {
        class: "tr-jump",
        data: { testid: "jump-to-end" },
        attrs: { type: "button", hidden: true },
        on: { click: onClick },
      },
      el("span", { class: "tr-jump-arrow", attrs: { "aria-hidden": "true" } }, "↓"),
      this.#text,
    );
  }

  /** Show or hide it; writes only what changed. */
  show(isAway: boolean, newBelow: number, isStreaming: boolean): void {
    if (this.element.hidden === isAway) this.element.hidden = !isAway;
    if (!isAway) return;
    const news = newBelow > 0 ? words.toEndNew(newBelow) : isStreaming ? words.toEndStreaming : "";
    if (news === this.#said && this.#text.textContent !== "") return;
    this.#said = news;
    this.#text.textContent = news === "" ? words.toEnd : `${words.toEnd} · ${news}`;
    this.element.toggleAttribute("data-streaming", isStreaming);
  }
}
