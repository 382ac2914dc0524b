import type { JSX } from "preact";
import { strings } from "../strings.ts";
import { Icon, IconButton } from "./Icon.tsx";
import type { Messages } from "./messages.ts";

/** Messages at the edge of the page, and the live region of the shell. */
export function Toasts({ messages }: { messages: Messages }): JSX.Element {
  return (
    <>
      <section class="sh-toasts" aria-label={strings.shell.messages}>
        {messages.shown.value.map((message) => (
          <div
            key={message.id}
            class={`sh-toast sh-toast-${message.kind}`}
            data-testid="toast"
            data-kind={message.kind}
            role={message.kind === "error" ? "alert" : "status"}
          >
            <Icon name={message.kind === "error" ? "warning" : "info"} />
            <p dir="auto">{message.text}</p>
            {message.action && (
              <button
                type="button"
                class="sh-link-button"
                onClick={() => {
                  messages.close(message.id);
                  message.action?.run();
                }}
              >
                {message.action.label}
              </button>
            )}
            <IconButton
              icon="close"
              label={strings.shell.closeMessage}
              onClick={() => messages.close(message.id)}
            />
          </div>
        ))}
      </section>
      <p class="sh-hidden" role="status" aria-live="polite">
        {messages.spoken.value}
      </p>
    </>
  );
}
