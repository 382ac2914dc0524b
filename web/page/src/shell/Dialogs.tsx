import type { JSX } from "preact";
import type { App } from "./app.ts";
import { DeleteDialog } from "./DeleteDialog.tsx";
import { HelpDialog } from "./HelpDialog.tsx";
import { ImageDialog } from "./ImageDialog.tsx";
import { SettingsDialog } from "./SettingsDialog.tsx";
import { ShareDialog } from "./ShareDialog.tsx";
import { TagsDialog } from "./TagsDialog.tsx";

/** The dialog that is open, if any. */
export function Dialogs({ app }: { app: App }): JSX.Element | null {
  const { value: state } = app.dialog;
  const close = (): void => {
    app.dialog.value = null;
  };
  switch (state?.kind) {
    case undefined:
      return null;
    case "settings":
      return <SettingsDialog app={app} onClose={close} />;
    case "help":
      return <HelpDialog onClose={close} />;
    case "share":
      return <ShareDialog app={app} conversation={state.conversation} onClose={close} />;
    case "delete":
      return <DeleteDialog app={app} conversation={state.conversation} onClose={close} />;
    case "tags":
      return <TagsDialog app={app} conversation={state.conversation} onClose={close} />;
    case "image":
      return <ImageDialog app={app} image={state} onClose={close} />;
  }
}
