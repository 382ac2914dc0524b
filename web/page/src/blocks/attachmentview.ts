/** A file: a picture in a frame of fixed height where it is a safe one, else its name and type. */
import type { BlockState } from "@blockwire/core";
import { append, el, setData } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import { type BlockView, textMember } from "./blockview.ts";
import type { ShowContext } from "./context.ts";
import { downloadLink } from "./downloads.ts";
import { icon } from "./icons.ts";
import { shownLine } from "./shown.ts";

const words = strings.blocks;

/** Types that browsers show and that can hold no program. */
export const IMAGE_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

export class AttachmentView implements BlockView {
  readonly element: HTMLElement;
  readonly isEmpty = false;
  readonly #stop = new AbortController();
  #url: string | null = null;

  constructor(context: ShowContext, block: BlockState) {
    const id = textMember(block, "attachment_id");
    const name = shownLine(textMember(block, "name"));
    const type = shownLine(textMember(block, "media_type"));
    this.element = el("figure", { class: "bk-attachment" });
    if (IMAGE_TYPES.has(type.toLowerCase())) append(this.element, this.#picture(context, id, name));
    append(
      this.element,
      el(
        "figcaption",
        { class: "bk-file" },
        icon("file"),
        el("bdi", { class: "bk-file-name", attrs: { title: name } }, name),
        el("span", { class: "bk-soft bk-file-type", attrs: { dir: "auto" } }, type),
        downloadLink(context, id, name, words.downloadShort),
      ),
    );
  }

  update(): void {
    // An attachment comes whole.
  }

  destroy(): void {
    this.#stop.abort();
    if (this.#url !== null) URL.revokeObjectURL(this.#url);
    this.#url = null;
  }

  #picture(context: ShowContext, id: string, name: string): HTMLElement {
    const image = el("img", {
      class: "bk-image",
      attrs: { alt: name, loading: "lazy", decoding: "async", referrerpolicy: "no-referrer" },
    });
    const frame = el(
      "button",
      {
        class: "bk-frame",
        data: { state: "loading" },
        attrs: {
          type: "button",
          "aria-label": words.openImage(name),
          title: words.openImage(name),
        },
        on: { click: () => context.openImage(id, name) },
      },
      image,
      el("span", { class: "bk-frame-note" }, words.noPreview),
    );
    // The frame has its height whatever comes, so that nothing below it ever moves.
    image.addEventListener("load", () => {
      setData(frame, "state", "shown");
    });
    image.addEventListener("error", () => {
      setData(frame, "state", "failed");
    });
    const address = context.gateway.previewUrl(id);
    if (context.gateway.hasBearer) {
      this.#load(context, address, image).catch(() => {
        setData(frame, "state", "failed");
      });
    } else image.src = address;
    return frame;
  }

  /** Fetches a picture with the token of a share link, which an `img` would not send. */
  async #load(context: ShowContext, address: string, image: HTMLImageElement): Promise<void> {
    const blob = await context.gateway.blob(address, this.#stop.signal);
    if (this.#stop.signal.aborted) return;
    this.#url = URL.createObjectURL(blob);
    image.src = this.#url;
  }
}
