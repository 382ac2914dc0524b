import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { strings } from "../strings.ts";
import { type App, openStart, showList } from "./app.ts";
import { Found } from "./Found.tsx";
import { Icon, IconButton } from "./Icon.tsx";
import { ListEnd } from "./ListEnd.tsx";
import { countTags, filterListed, groupByDay } from "./listing.ts";
import { moveInList } from "./listkeys.ts";
import { Row } from "./Row.tsx";
import { dayText } from "./words.ts";

/** Tags of the filter that are shown before "more". */
const TAGS_SHOWN = 8;

/** The list of conversations with its search, beside the conversation or over it. */
export function Sidebar({ app }: { app: App }): JSX.Element {
  const { search } = app;
  const close = (): void => {
    showList(app, false);
  };
  return (
    <nav
      id="sh-side"
      class="sh-side"
      aria-label={strings.shell.conversations}
      onKeyDown={moveInList}
    >
      <div class="sh-side-head">
        <a class="sh-name" href="/" onClick={() => openStart(app)}>
          {strings.shell.name}
        </a>
        <IconButton icon="list" label={strings.shell.closeList} onClick={close} data-drawer-close />
      </div>
      {app.access.canWrite.value && (
        <button type="button" class="sh-new" onClick={() => openStart(app)}>
          <Icon name="pen" />
          {strings.shell.newConversation}
        </button>
      )}
      <SearchBox app={app} />
      <TagFilter app={app} />
      <div class="sh-list-scroll">
        {search.query.value.trim() === "" ? <List app={app} /> : <Found app={app} />}
      </div>
      <div class="sh-side-foot">
        <button
          type="button"
          class="sh-foot-button"
          onClick={() => {
            app.dialog.value = { kind: "settings" };
          }}
        >
          <Icon name="gear" />
          {strings.shell.settings}
        </button>
        <IconButton
          icon="keyboard"
          label={strings.shell.help}
          onClick={() => {
            app.dialog.value = { kind: "help" };
          }}
        />
      </div>
    </nav>
  );
}

function SearchBox({ app }: { app: App }): JSX.Element {
  const { search } = app;
  const hasText = search.query.value !== "";
  return (
    <search class="sh-search">
      <Icon name="search" />
      <input
        type="search"
        data-testid="search-input"
        aria-label={strings.shell.search}
        placeholder={strings.shell.searchPlaceholder}
        dir="auto"
        autocomplete="off"
        spellcheck={false}
        enterkeyhint="search"
        value={search.query.value}
        onInput={(event) => search.type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || !hasText) return;
          event.stopPropagation();
          event.preventDefault();
          search.clear();
        }}
      />
      {hasText && (
        <IconButton icon="close" label={strings.shell.clearSearch} onClick={() => search.clear()} />
      )}
    </search>
  );
}

function TagFilter({ app }: { app: App }): JSX.Element | null {
  const isAll = useSignal(false);
  const tags = countTags(app.conversations.items.value);
  const { value: chosen } = app.search.tag;
  if (tags.length === 0 && chosen === null) return null;
  const names = tags.map(({ tag }) => tag);
  if (chosen !== null && !names.includes(chosen)) names.unshift(chosen);
  const shown = isAll.value ? names : names.slice(0, TAGS_SHOWN);
  if (chosen !== null && !shown.includes(chosen)) shown.unshift(chosen);
  return (
    <fieldset class="sh-tagfilter">
      <legend class="sh-hidden">{strings.shell.tagFilter}</legend>
      {shown.map((tag) => (
        <button
          key={tag}
          type="button"
          class="sh-tag"
          dir="auto"
          aria-pressed={tag === chosen}
          title={tag === chosen ? strings.shell.tagFilterOn(tag) : tag}
          onClick={() => app.search.setTag(tag === chosen ? null : tag)}
        >
          {tag}
        </button>
      ))}
      {names.length > TAGS_SHOWN && !isAll.value && (
        <button
          type="button"
          class="sh-tag"
          onClick={() => {
            isAll.value = true;
          }}
        >
          {strings.shell.more}
        </button>
      )}
    </fieldset>
  );
}

function List({ app }: { app: App }): JSX.Element {
  const { conversations } = app;
  const { value: tag } = app.search.tag;
  const { value: all } = conversations.items;
  const now = app.now.value;
  const items = filterListed(all, { query: "", tag });
  const { value: route } = app.route;
  const openId = route.kind === "conversation" ? route.conversationId : null;
  // One row takes part in the order of Tab; arrows go on from there.
  const tabId = items.some(({ id }) => id === openId) ? openId : (items[0]?.id ?? null);
  return (
    <div data-testid="conversation-list" aria-busy={!conversations.isLoaded.value}>
      {groupByDay(items, now).map((group) => (
        <section key={group.key} class="sh-group">
          <h2 class="sh-group-name">{dayText(group.label)}</h2>
          <ul class="sh-rows">
            {group.items.map((item) => (
              <Row
                key={item.id}
                app={app}
                item={item}
                isOpen={item.id === openId}
                hasTab={item.id === tabId}
              />
            ))}
          </ul>
        </section>
      ))}
      {conversations.isLoaded.value && items.length === 0 && !conversations.hasMore.value && (
        <p class="sh-quiet">{tag === null ? strings.shell.emptyList : strings.shell.noneWithTag}</p>
      )}
      <ListEnd app={app} isFiltered={tag !== null} />
    </div>
  );
}
