/** A call of a tool: a card with its name and how it goes, which opens to what went in and came out. */
import type { BlockState, Json } from "@blockwire/core";
import { append, el, setData, setHidden, setText } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import { type BlockView, textMember } from "./blockview.ts";
import type { ShowContext } from "./context.ts";
import { downloadLink } from "./downloads.ts";
import { type IconName, icon, setIcon } from "./icons.ts";
import { duration } from "./moments.ts";
import { shownLine, shownText } from "./shown.ts";
import { chevron } from "./textviews.ts";
import { boundedLength, hasValue, summaryLine, valueText } from "./values.ts";
import { ValueSection } from "./valuesection.ts";

const words = strings.blocks;

/** The members of a tool that are shown, in their order. */
export const VALUE_PARTS = ["input", "output", "error"] as const;

/** Longest beginning of an error that a closed card shows, in UTF-16 units and lines. */
const ERROR_CHARS_MAX = 400;
const ERROR_LINES_MAX = 3;

const STATUS_ICONS: Readonly<Record<string, IconName>> = {
  pending: "pending",
  running: "running",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** How a call stands, in words. */
export function toolStatus(status: string): string {
  return (words.toolStatus as Readonly<Record<string, string>>)[status] ?? status;
}

export class ToolView implements BlockView {
  readonly element: HTMLElement;
  readonly isEmpty = false;
  readonly #context: ShowContext;
  readonly #details: HTMLDetailsElement;
  readonly #mark = icon("pending");
  readonly #summary = el("span", { class: "bk-tool-input", attrs: { dir: "auto" } });
  readonly #status = el("span", { class: "bk-tool-status" });
  readonly #time = el("span", { class: "bk-tool-time", attrs: { dir: "auto" } });
  readonly #error = el("p", { class: "bk-tool-error", attrs: { dir: "auto" } });
  readonly #body = el("div", { class: "bk-tool-body" });
  readonly #nothing = el("p", { class: "bk-soft" }, words.noValues);
  readonly #files = el("ul", { class: "bk-tool-files", attrs: { "aria-label": words.toolFiles } });
  readonly #sections = new Map<string, ValueSection>();
  readonly #name: string;
  #shownFiles: Json | undefined;
  #block: BlockState;

  constructor(context: ShowContext, block: BlockState) {
    this.#context = context;
    this.#block = block;
    this.#name = shownLine(textMember(block, "tool"));
    this.#mark.classList.add("bk-tool-mark");
    this.#details = el(
      "details",
      // The values are laid out only for whoever looks at them: they may be megabytes.
      { class: "bk-tool-details", on: { toggle: () => this.#showValues() } },
      el(
        "summary",
        { class: "bk-summary" },
        chevron(),
        el("bdi", { class: "bk-tool-name" }, this.#name),
        this.#summary,
        el("span", { class: "bk-tool-facts" }, this.#mark, this.#status, this.#time),
      ),
      this.#body,
    );
    this.element = el("div", { class: "bk-tool" }, this.#details, this.#error);
    this.#show();
  }

  update(block: BlockState): void {
    this.#block = block;
    this.#show();
    this.#showValues();
  }

  destroy(): void {
    this.#sections.clear();
  }

  #show(): void {
    const block = this.#block.block;
    const status = textMember(this.#block, "status");
    setData(this.element, "status", status);
    setIcon(this.#mark, STATUS_ICONS[status] ?? "unknown");
    setText(this.#status, toolStatus(status));
    setText(this.#time, duration(block.started_at, block.completed_at));
    setText(this.#summary, summaryLine(block.input));
    const error = block.error;
    const text = hasValue("error", error) ? shownText(valueText(error).trim()) : "";
    const end = boundedLength(text, ERROR_CHARS_MAX, ERROR_LINES_MAX);
    setText(this.#error, end < text.length ? `${text.slice(0, end)}\u2026` : text);
    setHidden(this.#error, text === "");
  }

  #showValues(): void {
    if (!this.#details.open) return;
    const block = this.#block.block;
    for (const part of VALUE_PARTS) {
      const value = block[part];
      let section = this.#sections.get(part);
      if (!hasValue(part, value)) {
        if (section !== undefined) setHidden(section.element, true);
        continue;
      }
      if (section === undefined) {
        section = new ValueSection(this.#context, words.valueParts[part], this.#name);
        this.#sections.set(part, section);
        // Input, output, error, whichever of them came first.
        append(
          this.#body,
          ...VALUE_PARTS.map((name) => this.#sections.get(name)?.element ?? null),
          this.#files,
        );
      }
      setHidden(section.element, false);
      section.show(value);
    }
    this.#showFiles(block.attachments);
    if (this.#sections.size === 0 && this.#files.childElementCount === 0) {
      append(this.#body, this.#nothing);
    } else this.#nothing.remove();
  }

  #showFiles(files: Json | undefined): void {
    if (files === this.#shownFiles) return;
    this.#shownFiles = files;
    this.#files.textContent = "";
    for (const [index, id] of (Array.isArray(files) ? files : []).entries()) {
      if (typeof id !== "string") continue;
      const name = words.toolFile(index + 1);
      append(this.#files, el("li", {}, downloadLink(this.#context, id, name, name)));
    }
    if (this.#files.childElementCount > 0) append(this.#body, this.#files);
    else this.#files.remove();
  }
}
