/** Picking files, and taking a photo where a camera is at hand. */

import { useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import { Icon } from "./icons.tsx";

const words = strings.composer;

interface Props {
  readonly isTouch: boolean;
  readonly isDisabled: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

export function AttachButtons({ isTouch, isDisabled, onFiles }: Props) {
  return (
    <>
      <Picker name="attach" label={words.attach} isDisabled={isDisabled} onFiles={onFiles} />
      {isTouch && (
        <Picker
          name="camera"
          label={words.camera}
          isDisabled={isDisabled}
          onFiles={onFiles}
          isCamera
        />
      )}
    </>
  );
}

function Picker({
  name,
  label,
  isDisabled,
  onFiles,
  isCamera = false,
}: {
  readonly name: "attach" | "camera";
  readonly label: string;
  readonly isDisabled: boolean;
  readonly onFiles: (files: readonly File[]) => void;
  readonly isCamera?: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="co-icon-button"
        aria-label={label}
        title={label}
        disabled={isDisabled}
        onClick={() => input.current?.click()}
      >
        <Icon name={name} />
      </button>
      <input
        ref={input}
        class="co-hidden"
        type="file"
        multiple={!isCamera}
        tabIndex={-1}
        aria-hidden="true"
        data-testid={isCamera ? "camera-input" : "file-input"}
        {...(isCamera ? { accept: "image/*", capture: "environment" } : {})}
        onChange={(event) => {
          const { currentTarget: field } = event;
          onFiles([...(field.files ?? [])]);
          // The same file may be picked again after it was removed.
          field.value = "";
        }}
      />
    </>
  );
}
