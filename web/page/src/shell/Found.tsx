import type { SearchHit } from "@blockwire/core";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { strings } from "../strings.ts";
import { type App, titleOf } from "./app.ts";
import { reasonOf } from "./failures.ts";
import { ListEnd } from "./ListEnd.tsx";
import { filterListed } from "./listing.ts";
import { Row } from "./Row.tsx";
import { conversationPath } from "./routes.ts";
import { type HitGroup, markdownParts, type SnippetPart, snippetParts } from "./snippets.ts";

/** What was found: titles at once, then what the gateway finds in what was said. */
export function Found({ app }: { app: App }): JSX.Element {
  const { search, conversations } = app;
  const { value: status } = search.status;
  const { value: groups } = search.groups;
  const query = search.query.value.trim();
  const titles = filterListed(conversations.items.value, {
    query,
    tag: search.tag.value,
  });
  const { value: route } = app.route;
  const openId = route.kind === "conversation" ? route.conversationId : null;

  const count = groups.reduce((sum, group) => sum + group.hits.length, 0);
  useEffect(() => {
    if (status === "done") app.announce(strings.shell.foundCount(count + titles.length));
  }, [app, status, count, titles.length]);

  return (
    <div data-testid="search-results" aria-busy={status === "searching"}>
      {titles.length > 0 && (
        <section class="sh-group">
          <h2 class="sh-group-name">{strings.shell.titlesFound}</h2>
          <ul class="sh-rows">
            {titles.map((item, index) => (
              <Row
                key={item.id}
                app={app}
                item={item}
                isOpen={item.id === openId}
                hasTab={index === 0}
              />
            ))}
          </ul>
        </section>
      )}
      <ListEnd app={app} isFiltered />
      {groups.length > 0 && (
        <section class="sh-group">
          <h2 class="sh-group-name">{strings.shell.textFound}</h2>
          {groups.map((group) => (
            <FoundIn key={group.conversationId} app={app} group={group} />
          ))}
        </section>
      )}
      {search.isBuilding.value && status === "done" && (
        <p class="sh-quiet">{strings.shell.building}</p>
      )}
      {status === "searching" && groups.length === 0 && (
        <p class="sh-quiet">{strings.shell.searching}</p>
      )}
      {status === "done" && groups.length === 0 && titles.length === 0 && (
        <p class="sh-quiet">{strings.shell.nothingFound(query)}</p>
      )}
      {status === "failed" && (
        <div class="sh-quiet" role="alert">
          <p>
            {strings.shell.searchFailed} {reasonOf(search.error.value)}
          </p>
          <button type="button" class="sh-button" onClick={() => search.again()}>
            {strings.shell.retry}
          </button>
        </div>
      )}
      {search.hasMore.value && status !== "failed" && (
        <button
          type="button"
          class="sh-button sh-more"
          disabled={status === "searching"}
          onClick={() => void search.more()}
        >
          {strings.shell.moreHits}
        </button>
      )}
    </div>
  );
}

function FoundIn({ app, group }: { app: App; group: HitGroup<SearchHit> }): JSX.Element {
  return (
    <div class="sh-found">
      <h3 class="sh-found-title" dir="auto">
        {titleOf({ title: group.title })}
      </h3>
      <ul class="sh-rows">
        {group.hits.map((hit) => (
          <li key={`${hit.message_id}/${hit.block_id}`}>
            <a
              class="sh-hit"
              data-row
              data-block-id={hit.block_id}
              href={conversationPath(hit.conversation_id, {
                messageId: hit.message_id,
                blockId: hit.block_id,
              })}
              onClick={() => {
                app.isDrawerOpen.value = false;
              }}
            >
              <span class="sh-hit-role">{roleText(hit.role)}</span>
              <span class="sh-snippet" dir="auto">
                {hit.snippet.at_start ? "" : "…"}
                {partsOf(hit).map((part, index) =>
                  part.isMatch ? <mark key={index}>{part.text}</mark> : part.text,
                )}
                {hit.snippet.at_end ? "" : "…"}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What is prose is read, everything else is shown to the letter. */
function partsOf({ block_type, snippet }: SearchHit): SnippetPart[] {
  const { text, matches } = snippet;
  return block_type === "prose"
    ? markdownParts(text, matches, snippet)
    : snippetParts(text, matches);
}

function roleText(role: string): string {
  if (role === "user") return strings.shell.roleUser;
  return role === "tool" ? strings.shell.roleTool : strings.shell.roleAssistant;
}
