import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { strings } from "../strings.ts";
import type { App } from "./app.ts";
import { Dialog } from "./Dialog.tsx";
import { download } from "./exporting.ts";
import { reasonOf } from "./failures.ts";
import { Icon } from "./Icon.tsx";

/** A picture in full: fit into the window, or in its own size to be looked at closely. */
export function ImageDialog(props: {
  app: App;
  image: { readonly attachmentId: string; readonly name: string };
  onClose: () => void;
}): JSX.Element {
  const { app, image, onClose } = props;
  const source = useSignal<string | null>(null);
  const problem = useSignal<string | null>(null);
  const isLoaded = useSignal(false);
  const isActual = useSignal(false);

  useEffect(() => {
    const url = app.gateway.attachmentUrl(image.attachmentId);
    const abort = new AbortController();
    let made: string | null = null;
    // By `fetch`, so that a refusal can be told, and a share's secret stays out of the address.
    app.gateway.blob(url, abort.signal).then(
      (blob) => {
        if (abort.signal.aborted) return;
        made = URL.createObjectURL(blob);
        source.value = made;
      },
      (error: unknown) => {
        if (!abort.signal.aborted) problem.value = reasonOf(error);
      },
    );
    return () => {
      abort.abort();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [app, image.attachmentId, source, problem]);

  return (
    <Dialog title={image.name} onClose={onClose} isWide>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <div class="sh-image" data-actual={isActual.value ? "" : undefined} tabIndex={0}>
        {problem.value !== null ? (
          <p class="sh-problem" role="alert">
            {strings.shell.imageFailed} {problem.value}
          </p>
        ) : (
          <>
            {!isLoaded.value && <p class="sh-soft">{strings.shell.imageLoading}</p>}
            {source.value !== null && (
              <img
                src={source.value}
                alt={image.name}
                decoding="async"
                onLoad={() => {
                  isLoaded.value = true;
                }}
                onError={() => {
                  problem.value = strings.shell.imageUnreadable;
                }}
              />
            )}
          </>
        )}
      </div>
      <p class="sh-row sh-dialog-foot">
        <button
          type="button"
          class="sh-button"
          aria-pressed={isActual.value}
          disabled={!isLoaded.value}
          onClick={() => {
            isActual.value = !isActual.value;
          }}
        >
          {isActual.value ? strings.shell.imageFit : strings.shell.imageActual}
        </button>
        <button
          type="button"
          class="sh-button"
          disabled={source.value === null}
          onClick={() => {
            if (source.value !== null) download(source.value, image.name);
          }}
        >
          <Icon name="download" />
          {strings.shell.imageDownload}
        </button>
      </p>
    </Dialog>
  );
}
