/** The files of the draft: pictures, names, how far they are, what can be done with them. */

import { strings } from "../strings.ts";
import { Icon } from "./icons.tsx";
import type { ComposerRunner } from "./runner.ts";
import type { DraftFile } from "./types.ts";
import { reason, sizeText } from "./words.ts";

const words = strings.composer;

export function FileList({ runner }: { readonly runner: ComposerRunner }) {
  const { files } = runner.state.value;
  if (files.length === 0) return null;
  return (
    <ul class="co-files" aria-label={words.files}>
      {files.map((file) => (
        <FileItem key={file.localId} file={file} runner={runner} />
      ))}
    </ul>
  );
}

function FileItem({ file, runner }: { readonly file: DraftFile; readonly runner: ComposerRunner }) {
  const { localId, name, stage } = file;
  const url = runner.previewUrl(localId);
  return (
    <li class="co-file" data-stage={stage}>
      <span class="co-file-picture">
        {url === null ? <Icon name="file" /> : <img src={url} alt="" decoding="async" />}
      </span>
      <span class="co-file-words">
        <span class="co-file-name" dir="auto" title={name}>
          {name}
        </span>
        <span class="co-file-state">{stateOf(file)}</span>
      </span>
      {stage === "uploading" && (
        <progress
          class="co-file-progress"
          aria-label={words.fileProgress(name)}
          max={1}
          value={file.share}
        />
      )}
      {stage === "failed" && canRetry(file, runner) && (
        <button
          type="button"
          class="co-icon-button"
          aria-label={words.retryFile(name)}
          title={words.fileRetry}
          onClick={() => runner.dispatch({ type: "file-retry", localId })}
        >
          <Icon name="again" />
        </button>
      )}
      <button
        type="button"
        class="co-icon-button"
        aria-label={words.removeFile(name)}
        title={words.takeOut}
        onClick={() => runner.dispatch({ type: "file-removed", localId })}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

function stateOf(file: DraftFile): string {
  switch (file.stage) {
    case "waiting":
      return file.fault === null ? words.fileWaiting : words.fileAgain;
    case "uploading":
      return `${sizeText(file.size)} · ${Math.round(file.share * 100)} %`;
    case "done":
      return sizeText(file.size);
    case "failed":
      return file.fault === null ? words.unexpected : reason(file.fault);
  }
}

/** What is too large or too many stays so. */
function canRetry(file: DraftFile, runner: ComposerRunner): boolean {
  const code = file.fault?.code;
  return (
    runner.hasBytes(file.localId) && code !== "attachment_too_large" && code !== "too_many_files"
  );
}
