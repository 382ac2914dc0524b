/**
 * Markdown and code by themselves, for tests in a browser: built by bundle.mjs, never part of the page.
 */
import { CodeView, MarkdownView, removedCount } from "../src/markdown/index.ts";

const copied: string[] = [];
const root = document.querySelector("main") ?? document.body;

function make(maths = false): MarkdownView {
  const view = new MarkdownView({ maths, copyCode: (text) => copied.push(text) });
  root.replaceChildren(view.element);
  return view;
}

function whole(text: string, maths = false): MarkdownView {
  const view = make(maths);
  view.set(text, false);
  view.complete();
  return view;
}

/** What is shown of `text` that arrives in pieces of so many characters, over and over. */
function cut(text: string, sizes: readonly number[], maths = false): MarkdownView {
  const view = make(maths);
  let at = 0;
  for (let turn = 0; at < text.length; turn++) {
    const end = at + (sizes[turn % sizes.length] ?? 1);
    view.append(text.slice(at, end));
    at = end;
  }
  view.finish();
  return view;
}

function code(language: string, text: string): CodeView {
  const view = new CodeView({ language, copyCode: (written) => copied.push(written) });
  root.replaceChildren(view.element);
  view.append(text);
  view.finish();
  return view;
}

/** The elements of a view as text, without the colours of code, which come when there is time. */
function bare(view: MarkdownView): string {
  const copy = view.element.cloneNode(true) as Element;
  for (const shown of copy.querySelectorAll("pre code"))
    shown.textContent = String(shown.textContent);
  return copy.innerHTML;
}

const prose = { bare, code, copied, cut, make, removedCount, whole };

declare global {
  interface Window {
    prose: typeof prose;
  }
}

window.prose = prose;
