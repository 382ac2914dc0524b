import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import type { App } from "./app.ts";
import { LISTED_MAX } from "./conversations.ts";
import { reasonOf } from "./failures.ts";

/** The end of the loaded list: loads the next page when it comes near. */
export function ListEnd({
  app,
  isFiltered,
}: {
  app: App;
  isFiltered: boolean;
}): JSX.Element | null {
  const { conversations } = app;
  const mark = useRef<HTMLDivElement>(null);
  const { value: error } = conversations.error;
  const count = conversations.items.value.length;
  const hasMore = conversations.hasMore.value;

  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at anew when the list has grown.
  useEffect(() => {
    const element = mark.current;
    if (element === null || error !== null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) void conversations.loadMore();
      },
      { rootMargin: "400px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [count, hasMore, error]);

  if (error !== null && conversations.isLoaded.value === false) {
    return (
      <div class="sh-quiet" role="alert">
        <p>
          {strings.shell.listFailed} {reasonOf(error)}
        </p>
        <button type="button" class="sh-button" onClick={() => void conversations.refresh()}>
          {strings.shell.retry}
        </button>
      </div>
    );
  }
  if (hasMore) {
    return (
      <div ref={mark} class="sh-quiet">
        {strings.shell.loadingMore}
      </div>
    );
  }
  if (isFiltered && count >= LISTED_MAX) {
    return <p class="sh-quiet">{strings.shell.titlesBounded(LISTED_MAX)}</p>;
  }
  return null;
}
