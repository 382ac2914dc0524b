/** Markdown and code in the document: docs/spec/page/markdown.md. */
export { type CodeOptions, CodeView } from "./codeview.ts";
export { type MarkdownOptions, MarkdownView } from "./markdownview.ts";
export { removedCount } from "./sanitise.ts";
