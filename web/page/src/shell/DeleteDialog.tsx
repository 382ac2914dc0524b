import type { Conversation } from "@blockwire/core";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { strings } from "../strings.ts";
import { type App, remove, titleOf } from "./app.ts";
import { Dialog } from "./Dialog.tsx";

/** Asks before a conversation is deleted: there is no way back, and it says so. */
export function DeleteDialog(props: {
  app: App;
  conversation: Conversation;
  onClose: () => void;
}): JSX.Element {
  const { app, conversation, onClose } = props;
  const isBusy = useSignal(false);
  const go = async (): Promise<void> => {
    isBusy.value = true;
    await remove(app, conversation.id);
    onClose();
  };
  return (
    <Dialog title={strings.shell.deleteTitle} onClose={onClose} role="alertdialog">
      <p dir="auto">{strings.shell.deleteBody(titleOf(conversation))}</p>
      <p class="sh-row sh-dialog-foot">
        <button type="button" class="sh-button" onClick={onClose} autofocus>
          {strings.shell.cancel}
        </button>
        <button
          type="button"
          class="sh-button sh-primary-danger"
          disabled={isBusy.value}
          onClick={() => void go()}
        >
          {strings.shell.delete}
        </button>
      </p>
    </Dialog>
  );
}
