import type { Conversation } from "@blockwire/core";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import { type App, fork, rename, titleOf } from "./app.ts";
import { fullTime, shortAge } from "./listing.ts";
import { MenuButton, type MenuEntry } from "./Menu.tsx";
import { conversationPath } from "./routes.ts";

/** The gateway takes no longer title (docs/spec/gateway/limits.md). */
export const TITLE_CHARACTERS_MAX = 200;

/** One conversation of the list: its link, what goes on in it, and what can be done with it. */
export function Row(props: {
  app: App;
  item: Conversation;
  isOpen: boolean;
  hasTab: boolean;
}): JSX.Element {
  const { app, item, isOpen, hasTab } = props;
  const { value: renaming } = app.renaming;
  const canWrite = app.access.canWrite.value;
  if (renaming?.id === item.id && renaming.where === "list") {
    return (
      <li class="sh-row-item">
        <TitleField app={app} conversation={item} />
      </li>
    );
  }
  const title = titleOf(item);
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLAnchorElement>): void => {
    if (!canWrite) return;
    if (event.key === "F2") app.renaming.value = { id: item.id, where: "list" };
    else if (event.key === "Delete") app.dialog.value = { kind: "delete", conversation: item };
    else return;
    event.preventDefault();
  };
  return (
    <li class="sh-row-item" data-open={isOpen ? "" : undefined}>
      <a
        class="sh-row-link"
        data-row
        data-conversation-id={item.id}
        href={conversationPath(item.id)}
        aria-current={isOpen ? "page" : undefined}
        tabIndex={hasTab ? 0 : -1}
        title={`${title}\n${strings.shell.created(fullTime(item.created_at))}`}
        onKeyDown={onKeyDown}
      >
        <span class="sh-row-title" dir="auto">
          {title}
        </span>
        <RowMark app={app} item={item} />
        {item.tags.length > 0 && (
          <span class="sh-row-tags">
            {item.tags.map((tag) => (
              <span key={tag} dir="auto">
                {tag}
              </span>
            ))}
          </span>
        )}
      </a>
      {canWrite && (
        <MenuButton
          icon="more"
          label={strings.shell.actionsOf(title)}
          tabIndex={hasTab ? 0 : -1}
          entries={() => rowEntries(app, item)}
        />
      )}
    </li>
  );
}

function RowMark({ app, item }: { app: App; item: Conversation }): JSX.Element {
  const mark = app.conversations.mark(item);
  const queued = item.queued_turn_ids?.length ?? 0;
  if (mark === null) {
    return <span class="sh-row-age">{shortAge(item.created_at, app.now.value)}</span>;
  }
  const words = strings.shell[mark];
  return (
    <span class={`sh-row-mark sh-row-${mark}`} title={words}>
      <span class="sh-dot" aria-hidden="true" />
      <span class={mark === "running" ? "sh-hidden" : ""}>{words}</span>
      {queued > 0 && (
        <span title={strings.shell.queued(queued)}>
          <span aria-hidden="true">+{queued}</span>
          <span class="sh-hidden">{strings.shell.queued(queued)}</span>
        </span>
      )}
    </span>
  );
}

function rowEntries(app: App, item: Conversation): MenuEntry[] {
  return [
    {
      kind: "action",
      label: strings.shell.rename,
      icon: "pen",
      run: () => {
        app.renaming.value = { id: item.id, where: "list" };
      },
    },
    {
      kind: "action",
      label: strings.shell.tags,
      icon: "tag",
      run: () => {
        app.dialog.value = { kind: "tags", conversation: item };
      },
    },
    {
      kind: "action",
      label: strings.shell.fork,
      icon: "fork",
      run: () => void fork(app, item.id, null),
    },
    {
      kind: "action",
      label: strings.shell.delete,
      icon: "trash",
      isDanger: true,
      run: () => {
        app.dialog.value = { kind: "delete", conversation: item };
      },
    },
  ];
}

/** The field in which a title is changed: Enter saves, so does leaving it; Esc does not. */
export function TitleField(props: { app: App; conversation: Conversation }): JSX.Element {
  const { app, conversation } = props;
  const field = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);

  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);

  const end = (isSaved: boolean): void => {
    if (isOver.current) return;
    isOver.current = true;
    const typed = field.current?.value.trim() ?? "";
    const where = app.renaming.value?.where;
    app.renaming.value = null;
    if (isSaved && typed !== (conversation.title ?? "")) {
      void rename(app, conversation.id, typed === "" ? null : typed);
    }
    if (where === "list") focusRow(conversation.id);
  };

  return (
    <input
      ref={field}
      class="sh-title-field"
      type="text"
      dir="auto"
      aria-label={strings.shell.renameLabel}
      title={strings.shell.renameHint}
      maxLength={TITLE_CHARACTERS_MAX}
      defaultValue={conversation.title ?? ""}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
        event.preventDefault();
        event.stopPropagation();
        end(event.key === "Enter");
      }}
    />
  );
}

function focusRow(conversationId: string): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    document
      .querySelector<HTMLElement>(
        `a[data-row][data-conversation-id="${CSS.escape(conversationId)}"]`,
      )
      ?.focus();
  });
}
