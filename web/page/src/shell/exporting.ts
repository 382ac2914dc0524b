/**
 * Exports as files: fetched by the browser itself, so that they may be larger than memory; on a
 * share page by the bearer, which no address may hold.
 *
 * Spec: docs/spec/gateway/exports.md.
 */
import { type ExportFormat, Gateway } from "@blockwire/core";
import { strings } from "../strings.ts";
import type { App } from "./app.ts";
import type { MenuEntry } from "./Menu.tsx";

/** How the export of a share is named; a browser takes the gateway's name for the others. */
const ENDINGS: Readonly<Record<ExportFormat, string>> = {
  markdown: "md",
  html: "html",
  text: "txt",
  json: "json",
  jsonl: "jsonl",
};

// Documents are for others to read, so they hold what everybody may see, as `blockwire export` does.
const publicGateway = new Gateway({ view: "public" });
const DOCUMENTS: readonly (readonly [ExportFormat, string])[] = [
  ["markdown", strings.shell.exportMarkdown],
  ["html", strings.shell.exportHtml],
  ["text", strings.shell.exportText],
];
const DATA: readonly (readonly [ExportFormat, string])[] = [
  ["json", strings.shell.exportJson],
  ["jsonl", strings.shell.exportJsonl],
];

/** The part of a menu that exports. */
export function exportEntries(app: App, conversationId: string, title: string): MenuEntry[] {
  const entry = ([format, label]: readonly [ExportFormat, string]): MenuEntry => ({
    kind: "action",
    label,
    icon: "download",
    run: () => void exportAs(app, conversationId, title, format),
  });
  return [
    { kind: "heading", label: strings.shell.exportDocument },
    ...DOCUMENTS.map(entry),
    { kind: "heading", label: strings.shell.exportData },
    ...DATA.map(entry),
  ];
}

async function exportAs(
  app: App,
  conversationId: string,
  title: string,
  format: ExportFormat,
): Promise<void> {
  try {
    if (app.gateway.hasBearer) {
      const blob = await app.gateway.exportBlob(conversationId, format);
      const url = URL.createObjectURL(blob);
      download(url, `${fileName(title)}.${ENDINGS[format]}`);
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
      return;
    }
    // A download that is refused says nothing; a question before it does.
    await app.gateway.conversation(conversationId);
    const isDocument = DOCUMENTS.some(([name]) => name === format);
    const gateway = isDocument ? publicGateway : app.gateway;
    download(gateway.exportUrl(conversationId, format), "");
  } catch (error) {
    app.fail(strings.shell.exportFailed, error);
  }
}

/** Lets the browser keep what is at `url`; with an empty name under the one that comes with it. */
export function download(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
}

/** A name that every file system takes. */
export function fileName(title: string): string {
  const plain = title
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\p{M}_. -]+/gu, " ")
    .replace(/\s+/gu, " ")
    .replace(/^[. ]+|[. ]+$/gu, "");
  return Array.from(plain).slice(0, 60).join("").trim() || "conversation";
}
