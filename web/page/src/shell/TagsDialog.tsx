import type { Conversation } from "@blockwire/core";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import { type App, setTags, titleOf } from "./app.ts";
import { Dialog } from "./Dialog.tsx";
import { Icon } from "./Icon.tsx";
import { countTags, splitTags } from "./listing.ts";

/** The gateway takes no longer tag (docs/spec/gateway/limits.md). */
export const TAG_CHARACTERS_MAX = 200;

/** Adds and removes tags of a conversation; each change is kept at once. */
export function TagsDialog(props: {
  app: App;
  conversation: Conversation;
  onClose: () => void;
}): JSX.Element {
  const { app, conversation, onClose } = props;
  const tags = useSignal<readonly string[]>(conversation.tags);
  const isBusy = useSignal(false);
  const field = useRef<HTMLInputElement>(null);

  const change = async (wanted: readonly string[]): Promise<void> => {
    const before = tags.value;
    tags.value = wanted;
    isBusy.value = true;
    const isDone = await setTags(app, conversation.id, wanted);
    isBusy.value = false;
    if (!isDone) {
      tags.value = before;
      onClose(); // what failed is said at the edge of the page, below which dialogs are
    }
  };
  const add = (): void => {
    const typed = splitTags(field.current?.value ?? "");
    const added = typed.filter((tag) => !tags.value.includes(tag));
    if (field.current) field.current.value = "";
    if (added.length > 0) void change([...tags.value, ...added]);
  };
  const known = countTags(app.conversations.items.value)
    .map(({ tag }) => tag)
    .filter((tag) => !tags.value.includes(tag));

  return (
    <Dialog title={strings.shell.tagsOf(titleOf(conversation))} onClose={onClose}>
      {tags.value.length === 0 ? (
        <p class="sh-soft">{strings.shell.noTags}</p>
      ) : (
        <ul class="sh-chips">
          {tags.value.map((tag) => (
            <li key={tag} class="sh-chip">
              <span dir="auto">{tag}</span>
              <button
                type="button"
                class="sh-chip-remove"
                aria-label={strings.shell.removeTag(tag)}
                title={strings.shell.removeTag(tag)}
                disabled={isBusy.value}
                onClick={() => {
                  field.current?.focus();
                  void change(tags.value.filter((other) => other !== tag));
                }}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        class="sh-row"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <input
          ref={field}
          class="sh-field"
          type="text"
          dir="auto"
          autofocus
          autocomplete="off"
          aria-label={strings.shell.addTag}
          placeholder={strings.shell.addTag}
          maxLength={TAG_CHARACTERS_MAX}
          list="sh-known-tags"
        />
        <datalist id="sh-known-tags">
          {known.map((tag) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
        <button type="submit" class="sh-button" disabled={isBusy.value}>
          {strings.shell.addTagAction}
        </button>
      </form>
      <p class="sh-row sh-dialog-foot">
        <button type="button" class="sh-button sh-primary" onClick={onClose}>
          {strings.shell.done}
        </button>
      </p>
    </Dialog>
  );
}
