import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { strings } from "../strings.ts";
import { type App, fork, showList, titleOf, tryNow } from "./app.ts";
import { Connection } from "./Connection.tsx";
import { exportEntries } from "./exporting.ts";
import type { FeedView } from "./feedview.ts";
import { IconButton } from "./Icon.tsx";
import { MenuButton, type MenuEntry } from "./Menu.tsx";
import { TitleField } from "./Row.tsx";
import { countText } from "./words.ts";

/** The bar above every page: the way to the list, what is open, and what can be done with it. */
export function Bar({ app, children }: { app: App; children?: ComponentChildren }): JSX.Element {
  const isHidden = app.isNarrow.value || !app.settings.sidebar.value;
  return (
    <header class="sh-head">
      {isHidden && (
        <IconButton
          icon="list"
          label={strings.shell.openList}
          aria-expanded={app.isNarrow.value ? app.isDrawerOpen.value : undefined}
          aria-controls="sh-side"
          data-drawer-open
          onClick={() => showList(app, true)}
        />
      )}
      {children}
    </header>
  );
}

/** The bar above a conversation. */
export function Header(props: {
  app: App;
  view: FeedView;
  isOnline: ReadonlySignal<boolean>;
  onFind: () => void;
}): JSX.Element {
  const { app, view, onFind } = props;
  const { value: conversation } = app.current;
  const { value: renaming } = app.renaming;
  const canWrite = app.access.canWrite.value;
  const title = titleOf(conversation);
  const isRenaming = renaming?.where === "head" && renaming.id === conversation?.id;
  const startRenaming = (): void => {
    if (canWrite && conversation) app.renaming.value = { id: conversation.id, where: "head" };
  };
  return (
    <Bar app={app}>
      {isRenaming && conversation ? (
        <TitleField app={app} conversation={conversation} />
      ) : (
        <h1 class="sh-title" dir="auto" title={title} onDblClick={startRenaming}>
          {title}
        </h1>
      )}
      <Connection status={view.status.value} isOnline={props.isOnline} onWake={() => tryNow(app)} />
      <IconButton icon="search" label={strings.shell.find} onClick={onFind} />
      <MenuButton
        icon="more"
        label={strings.shell.menu}
        entries={() => headerEntries(app, canWrite, startRenaming)}
      />
    </Bar>
  );
}

function headerEntries(app: App, canWrite: boolean, startRenaming: () => void): MenuEntry[] {
  const { value: conversation } = app.current;
  if (conversation === null) return [];
  const { id } = conversation;
  const changing: MenuEntry[] = [
    { kind: "action", label: strings.shell.rename, icon: "pen", run: startRenaming },
    {
      kind: "action",
      label: strings.shell.tags,
      icon: "tag",
      run: () => {
        app.dialog.value = { kind: "tags", conversation };
      },
    },
    {
      kind: "action",
      label: strings.shell.share,
      icon: "share",
      run: () => {
        app.dialog.value = { kind: "share", conversation };
      },
    },
    {
      kind: "action",
      label: strings.shell.forkWhole,
      icon: "fork",
      run: () => void fork(app, id, null),
    },
  ];
  const deleting: MenuEntry = {
    kind: "action",
    label: strings.shell.delete,
    icon: "trash",
    isDanger: true,
    run: () => {
      app.dialog.value = { kind: "delete", conversation };
    },
  };
  return [
    ...(canWrite ? changing : []),
    ...exportEntries(app, id, titleOf(conversation)),
    ...(canWrite ? [deleting] : []),
    ...totals(conversation.usage),
  ];
}

/** What the conversation used, as far as the gateway counts it. */
function totals(usage: Readonly<Record<string, unknown>> | undefined): MenuEntry[] {
  const turns = numberOf(usage?.turns);
  if (turns === null || turns === 0) return [];
  const tokens = [usage?.input_tokens, usage?.output_tokens].map(numberOf);
  const sum = tokens.every((count) => count === null)
    ? null
    : tokens.reduce<number>((total, count) => total + (count ?? 0), 0);
  const label = strings.shell.totals(
    turns,
    sum === null ? null : countText(sum),
    costText(usage?.cost),
  );
  return [{ kind: "note", label }];
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
}

/** Amounts by currency, as the reader's language writes money; null where no prices are known. */
function costText(cost: unknown): string | null {
  if (typeof cost !== "object" || cost === null) return null;
  const amounts = Object.entries(cost).flatMap(([currency, amount]) => {
    const value = numberOf(amount) ?? Number.NaN;
    if (!Number.isFinite(value) || !/^[a-z]{3}$/iu.test(currency)) return [];
    const format = new Intl.NumberFormat(undefined, {
      style: "currency",
      currency: currency.toUpperCase(),
      minimumSignificantDigits: 2,
      maximumSignificantDigits: 3,
    });
    return [format.format(value)];
  });
  return amounts.length === 0 ? null : amounts.join(" + ");
}
