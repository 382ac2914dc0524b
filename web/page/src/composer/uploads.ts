/** The bytes of a draft's files: pictures of them, and their way to the gateway. */

import { type ComposerPort, readFault, readUpload } from "./port.ts";
import type { ComposerEvent, NewFile } from "./types.ts";

/** Pictures that every browser draws and that can hold no program. */
const PREVIEWED: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/** What uploads are given. */
export interface UploadParts {
  readonly port: Pick<ComposerPort, "upload">;
  readonly newKey: () => string;
  readonly dispatch: (event: ComposerEvent) => void;
}

export class Uploads {
  readonly #parts: UploadParts;
  readonly #files = new Map<string, File>();
  readonly #controls = new Map<string, AbortController>();
  readonly #previews = new Map<string, string>();

  constructor(parts: UploadParts) {
    this.#parts = parts;
  }

  /** Take files, in their order. */
  add(files: readonly File[]): NewFile[] {
    return files.map((file) => {
      const localId = this.#parts.newKey();
      this.#files.set(localId, file);
      return { localId, name: file.name, mediaType: file.type, size: file.size };
    });
  }

  /** The bytes of a file; undefined where they are not here. */
  file(localId: string): File | undefined {
    return this.#files.get(localId);
  }

  /** The address of a picture of a file, from its own bytes; null where there is none. */
  previewUrl(localId: string): string | null {
    const known = this.#previews.get(localId);
    if (known !== undefined) return known;
    const file = this.#files.get(localId);
    if (file === undefined || !PREVIEWED.has(file.type)) return null;
    const url = URL.createObjectURL(file);
    this.#previews.set(localId, url);
    return url;
  }

  /** Send a file, and tell how far it is and how it ended. */
  async start(conversationId: string, localId: string): Promise<void> {
    const { port, dispatch } = this.#parts;
    const file = this.#files.get(localId);
    if (file === undefined) return;
    const control = new AbortController();
    this.#controls.set(localId, control);
    const { signal } = control;
    const onProgress = (sent: number, total: number): void => {
      if (signal.aborted) return;
      dispatch({ type: "file-progress", localId, share: total > 0 ? sent / total : 0 });
    };
    let event: ComposerEvent;
    try {
      const row = await port.upload(conversationId, file, file.name, { onProgress, signal });
      event = { type: "file-done", localId, file: readUpload(row, file.name, file.size) };
    } catch (error) {
      event = { type: "file-failed", localId, fault: readFault(error) };
    }
    if (this.#controls.get(localId) === control) this.#controls.delete(localId);
    dispatch(event);
  }

  /** Let go of a file, and stop sending it. */
  drop(localId: string): void {
    this.#controls.get(localId)?.abort();
    this.#controls.delete(localId);
    this.#files.delete(localId);
    const url = this.#previews.get(localId);
    if (url !== undefined) URL.revokeObjectURL(url);
    this.#previews.delete(localId);
  }

  /** Let go of every file. */
  close(): void {
    for (const localId of [...this.#files.keys()]) this.drop(localId);
  }
}
