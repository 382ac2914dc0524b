import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import type { App } from "./app.ts";
import { failureText, hasCode } from "./failures.ts";

/** Trades a token for a cookie. The token is in the field until it is sent, and nowhere after. */
export function LoginForm({ app, text }: { app: App; text: string }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const isBusy = useSignal(false);
  const problem = useSignal<string | null>(null);
  const fieldId = useId();
  const problemId = useId();

  useEffect(() => field.current?.focus(), []);

  const enter = async (): Promise<void> => {
    const token = field.current?.value.trim() ?? "";
    if (token === "") {
      problem.value = strings.shell.loginEmpty;
      field.current?.focus();
      return;
    }
    isBusy.value = true;
    problem.value = null;
    try {
      await app.access.enter(token);
    } catch (error) {
      problem.value = hasCode(error, "unauthorized")
        ? strings.shell.loginWrong
        : failureText(strings.shell.loginFailed, error);
      // A wrong token is of no use to anybody; one that could not be sent may be right.
      if (hasCode(error, "unauthorized") && field.current) field.current.value = "";
      isBusy.value = false;
      field.current?.focus();
      return;
    }
    if (field.current) field.current.value = "";
    isBusy.value = false;
  };

  return (
    <form
      class="sh-login"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void enter();
      }}
    >
      <p class="sh-soft">{text}</p>
      <label for={fieldId}>{strings.shell.token}</label>
      <input
        ref={field}
        id={fieldId}
        class="sh-field"
        type="password"
        data-testid="token"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        dir="ltr"
        autofocus
        placeholder="bw_…"
        aria-invalid={problem.value !== null}
        aria-describedby={problem.value === null ? undefined : problemId}
      />
      {problem.value !== null && (
        <p id={problemId} class="sh-problem" role="alert">
          {problem.value}
        </p>
      )}
      <button type="submit" class="sh-button sh-primary" disabled={isBusy.value}>
        {isBusy.value ? strings.shell.loggingIn : strings.shell.loginAction}
      </button>
      <p class="sh-soft sh-tiny">{strings.shell.loginKept}</p>
    </form>
  );
}
