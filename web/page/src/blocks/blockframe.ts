/** A block in its place: the view of its type, and the button that copies it. */
import type { BlockState } from "@blockwire/core";
import { append, el, setData, setHidden } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import { AttachmentView } from "./attachmentview.ts";
import type { BlockView } from "./blockview.ts";
import type { ShowContext } from "./context.ts";
import { copyButton } from "./controls.ts";
import { blockSource } from "./copytext.ts";
import { NoteView } from "./noteviews.ts";
import { CodeBlockView, ProseView, ReasoningView, SpeechView, UnknownView } from "./textviews.ts";
import { ToolView } from "./toolview.ts";
import type { TurnFacts } from "./turnfacts.ts";

const words = strings.blocks;

type ViewClass = new (context: ShowContext, block: BlockState) => BlockView;

const VIEWS: ReadonlyMap<string, ViewClass> = new Map<string, ViewClass>([
  ["prose", ProseView],
  ["code", CodeBlockView],
  ["reasoning", ReasoningView],
  ["tool", ToolView],
  ["error", NoteView],
  ["notice", NoteView],
  ["attachment", AttachmentView],
  ["speech", SpeechView],
]);

/** Has its own button for copying, in its head. */
const COPIES_ITSELF: ReadonlySet<string> = new Set(["code"]);

/** Names of classes and of strings are only those of known types: others are anybody's words. */
function kindOf(type: string): keyof typeof words.blockNames {
  return VIEWS.has(type) ? (type as keyof typeof words.blockNames) : "unknown";
}

export class BlockFrame {
  readonly element: HTMLElement;
  readonly id: string;
  readonly type: string;
  readonly #view: BlockView;
  #block: BlockState;

  constructor(context: ShowContext, block: BlockState) {
    const kind = kindOf(block.type);
    const View = VIEWS.get(block.type) ?? UnknownView;
    this.id = block.id;
    this.type = block.type;
    this.#block = block;
    this.#view = new View(context, block);
    this.element = el(
      "div",
      { class: `bk-block bk-block-${kind}`, data: { blockId: block.id, blockType: block.type } },
      this.#view.element,
    );
    if (!COPIES_ITSELF.has(kind)) {
      const name = words.copyBlock(words.blockNames[kind]);
      const copy = copyButton(name, () =>
        context.copy(blockSource(this.#block), strings.blocks.blockTitles[kind]),
      );
      append(this.element, el("div", { class: "bk-block-actions" }, copy));
    }
    this.#mark();
  }

  get isEmpty(): boolean {
    return this.#view.isEmpty;
  }

  get isOpen(): boolean {
    return this.#block.isOpen;
  }

  /** Shows a newer state; nothing happens for the one that is shown. */
  update(block: BlockState): void {
    if (block === this.#block) return;
    this.#block = block;
    this.#view.update(block);
    this.#mark();
  }

  showTurn(facts: TurnFacts): void {
    if (this.#view instanceof NoteView) this.#view.showTurn(facts);
  }

  /** Draws now what is drawn in idle moments otherwise. */
  complete(): void {
    this.#view.complete?.();
  }

  destroy(): void {
    this.#view.destroy();
    this.element.remove();
  }

  #mark(): void {
    setData(this.element, "open", String(this.#block.isOpen));
    setHidden(this.element, this.#view.isEmpty);
  }
}
