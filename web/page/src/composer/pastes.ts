/** What comes by paste and drop. */

import { strings } from "../strings.ts";

/** Characters from which a pasted text is offered as a file. */
export const PASTE_CHARS_MAX = 20_000;

/** A long text that was pasted into the draft. */
export interface LongPaste {
  readonly text: string;
  /** Where it begins in the draft. */
  readonly at: number;
}

/** Return the files of a paste or drop; pictures without a name of their own get one. */
export function filesOf(data: DataTransfer | null): File[] {
  if (data === null) return [];
  const files = [...data.items].flatMap((item) => {
    if (item.kind !== "file") return [];
    // A folder is no file, and reading it would fail later.
    if (item.webkitGetAsEntry?.()?.isDirectory) return [];
    return item.getAsFile() ?? [];
  });
  return files.map(named);
}

function named(file: File): File {
  if (file.name !== "") return file;
  const suffix = /^image\/([a-z0-9]+)$/u.exec(file.type)?.[1] ?? "bin";
  return new File([file], strings.composer.pastedImage(suffix), { type: file.type });
}

/** Whether a drag or paste holds files. */
export function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes("Files") ?? false;
}

/** Return `draft` without a paste that is still in it as it came; null if it is not. */
export function withoutPaste(draft: string, paste: LongPaste): string | null {
  const at = draft.startsWith(paste.text, paste.at) ? paste.at : draft.indexOf(paste.text);
  return at < 0 ? null : draft.slice(0, at) + draft.slice(at + paste.text.length);
}

/** Return a text as a file of a question. */
export function textFile(text: string): File {
  return new File([text], strings.composer.pasted, { type: "text/plain" });
}
