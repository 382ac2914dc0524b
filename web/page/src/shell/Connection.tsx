import { type FeedStatus, systemTiming } from "@blockwire/core";
import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { strings } from "../strings.ts";

export type ConnectionName = "live" | "connecting" | "waiting" | "offline";

/** How the stream does, in the words of the page; null where there is none any more. */
export function connectionName(status: FeedStatus, isOnline: boolean): ConnectionName | null {
  if (status.kind === "deleted") return null;
  if (status.kind === "live") return "live";
  if (!isOnline) return "offline";
  return status.kind === "connecting" ? "connecting" : "waiting";
}

/** The state of the stream above the conversation: quiet while all is well. */
export function Connection(props: {
  status: FeedStatus;
  isOnline: ReadonlySignal<boolean>;
  onWake: () => void;
}): JSX.Element | null {
  const { status, onWake } = props;
  const name = connectionName(status, props.isOnline.value);
  if (name === null) return null;
  return (
    <div class="sh-connection" data-testid="connection" data-status={name}>
      <span class="sh-dot" aria-hidden="true" />
      <span class="sh-connection-words">
        {name === "waiting" ? <Countdown until={status.retryAtMs ?? null} /> : strings.shell[name]}
      </span>
      {name !== "live" && (
        <button type="button" class="sh-link-button" onClick={onWake}>
          {strings.shell.tryNow}
        </button>
      )}
    </div>
  );
}

function Countdown({ until }: { until: number | null }): JSX.Element {
  const now = useSignal(systemTiming.nowMs());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = systemTiming.nowMs();
    }, 1000);
    return () => clearInterval(timer);
  }, [now]);
  if (until === null) return <>{strings.shell.notConnected}</>;
  return <>{strings.shell.waiting(Math.max(0, Math.ceil((until - now.value) / 1000)))}</>;
}
