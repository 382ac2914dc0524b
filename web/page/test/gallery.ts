/**
 * Shows every block in every state, for looking at and for tests in a browser. Served by Vite while
 * developing (`/test/gallery.html?theme=dark&dir=rtl&write=0`), never built.
 */
import type { Gateway } from "@blockwire/core";
import { MessageView, type ShowContext } from "../src/blocks/index.ts";
import { copyText } from "../src/platform/clipboard.ts";
import { el } from "../src/platform/dom.ts";
import * as made from "./galleryscenes.ts";

const query = new URLSearchParams(location.search);
const said: string[] = [];

function picture(): string {
  const canvas = el("canvas");
  canvas.width = 640;
  canvas.height = 420;
  const paint = canvas.getContext("2d");
  if (paint !== null) {
    const sky = paint.createLinearGradient(0, 0, 0, 420);
    sky.addColorStop(0, "#27477d");
    sky.addColorStop(1, "#f0a35e");
    paint.fillStyle = sky;
    paint.fillRect(0, 0, 640, 420);
  }
  return canvas.toDataURL();
}

const preview = picture();

/** As much of a gateway as views of blocks use. */
const gateway = {
  hasBearer: query.get("bearer") === "1",
  attachmentUrl: (id: string) => `/attachments/${id}`,
  previewUrl: (id: string) => (id === "att_ok" ? preview : "/attachments/none"),
  blob: async (url: string) => (await fetch(url)).blob(),
} as unknown as Gateway;

let answerWith: { readonly code: string; readonly message: string } | null = null;

const context: ShowContext = {
  gateway,
  conversationId: "conv_1",
  isOwner: true,
  canWrite: query.get("write") !== "0",
  maths: () => false,
  announce: (text) => said.push(`announce ${text}`),
  copy: (text, what) => {
    said.push(`copy ${what}: ${text}`);
    void copyText(text);
  },
  retry: (turnId) => said.push(`retry ${turnId}`),
  fork: (turnId) => said.push(`fork ${turnId}`),
  answer: async (turnId, requestId, answer) => {
    said.push(`answer ${turnId} ${requestId} ${JSON.stringify(answer)}`);
    if (answerWith !== null) {
      throw Object.assign(new Error(answerWith.message), { code: answerWith.code });
    }
  },
  openImage: (id) => said.push(`open ${id}`),
};

const views: MessageView[] = [];

function show(message: made.Shown): MessageView {
  const view = new MessageView(context, message);
  views.push(view);
  root.append(view.element);
  return view;
}

document.documentElement.dataset.theme = query.get("theme") ?? "light";
document.documentElement.dir = query.get("dir") ?? "ltr";
const root = document.querySelector("#gallery") ?? document.body;
const { style } = document.body;
style.margin = "0 auto";
style.maxWidth = "46rem";
style.padding = "1rem";
style.background = "var(--ground)";
style.color = "var(--text)";
style.fontFamily = "var(--font)";

if (query.get("empty") !== "1") {
  for (const [title, messages] of made.scenes()) {
    const heading = el("h1", {}, title);
    heading.style.fontSize = "1rem";
    heading.style.marginBlock = "2.5rem 0.5rem";
    root.append(heading);
    for (const message of messages) show(message);
  }
}

/** What tests in a browser reach for. */
export const gallery = {
  made,
  show,
  views,
  said,
  refuse: (code: string, message: string) => {
    answerWith = { code, message };
  },
};

declare global {
  interface Window {
    gallery: typeof gallery;
  }
}
window.gallery = gallery;
