import type { Conversation, NewShare, Share } from "@blockwire/core";
import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { copyText } from "../platform/clipboard.ts";
import { strings } from "../strings.ts";
import type { App } from "./app.ts";
import { Dialog } from "./Dialog.tsx";
import { failureText, hasCode } from "./failures.ts";
import { Icon } from "./Icon.tsx";
import { fullTime } from "./listing.ts";
import { shareLink } from "./routes.ts";
import { Choices } from "./SettingsDialog.tsx";

const DAY_MS = 86_400_000;
const LASTINGS = ["day", "week", "month", "ever"] as const;
type Lasting = (typeof LASTINGS)[number];
const LASTING_MS: Readonly<Record<Lasting, number | null>> = {
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
  ever: null,
};
const LASTING_NAMES: Readonly<Record<Lasting, string>> = {
  day: strings.shell.shareDay,
  week: strings.shell.shareWeek,
  month: strings.shell.shareMonth,
  ever: strings.shell.shareEver,
};

/** Makes, shows and revokes links that let others read along. */
export function ShareDialog(props: {
  app: App;
  conversation: Conversation;
  onClose: () => void;
}): JSX.Element {
  const { app, conversation, onClose } = props;
  const shares = useSignal<readonly Share[] | null>(null);
  const made = useSignal<NewShare | null>(null);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const lasting = useRef(signal<Lasting>("week")).current;

  // Each of these says in the dialog itself what failed: it lies over the page's own messages.
  const attempt = async (failed: string, work: () => Promise<void>): Promise<void> => {
    isBusy.value = true;
    problem.value = null;
    try {
      await work();
    } catch (error) {
      problem.value = failureText(failed, error);
    }
    isBusy.value = false;
  };
  const load = (): Promise<void> =>
    attempt(strings.shell.shareListFailed, async () => {
      shares.value = await app.gateway.shares(conversation.id);
    });
  const create = (): Promise<void> =>
    attempt(strings.shell.shareFailed, async () => {
      const ms = LASTING_MS[lasting.value];
      const expiresAt = ms === null ? null : Date.now() + ms;
      const share = await app.gateway.createShare(conversation.id, { expires_at: expiresAt });
      made.value = share;
      shares.value = [...(shares.value ?? []).filter(({ id }) => id !== share.id), share];
    });
  const revoke = (share: Share): Promise<void> =>
    attempt(strings.shell.revokeFailed, async () => {
      try {
        await app.gateway.deleteShare(conversation.id, share.id);
      } catch (error) {
        if (!hasCode(error, "share_not_found")) throw error;
      }
      if (made.value?.id === share.id) made.value = null;
      shares.value = (shares.value ?? []).filter(({ id }) => id !== share.id);
      app.announce(strings.shell.revoked);
    });

  // biome-ignore lint/correctness/useExhaustiveDependencies: read once, when it opens.
  useEffect(() => void load(), []);

  return (
    <Dialog title={strings.shell.shareTitle} onClose={onClose} isWide>
      <p class="sh-soft">{strings.shell.shareText}</p>
      <Choices
        label={strings.shell.shareFor}
        names={LASTINGS}
        words={LASTING_NAMES}
        setting={lasting}
      />
      <p class="sh-row">
        <button
          type="button"
          class="sh-button sh-primary"
          disabled={isBusy.value}
          onClick={() => void create()}
        >
          <Icon name="share" />
          {strings.shell.shareCreate}
        </button>
      </p>
      {problem.value !== null && (
        <p class="sh-problem" role="alert">
          {problem.value}
        </p>
      )}
      {made.value !== null && <NewLink share={made.value} />}
      <h3 class="sh-dialog-part">{strings.shell.shareList}</h3>
      {shares.value?.length === 0 && <p class="sh-soft">{strings.shell.shareNone}</p>}
      <ul class="sh-shares">
        {shares.value?.map((share) => (
          <ShareRow
            key={share.id}
            share={share}
            isNew={share.id === made.value?.id}
            isBusy={isBusy.value}
            onRevoke={() => void revoke(share)}
          />
        ))}
      </ul>
    </Dialog>
  );
}

function NewLink({ share }: { share: NewShare }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const copied = useSignal<boolean | null>(null);
  const link = shareLink(location.origin, share.fragment);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new link is at hand to be copied.
  useEffect(() => {
    copied.value = null;
    field.current?.focus();
    field.current?.select();
  }, [share.id]);
  return (
    <div class="sh-newlink">
      <p>{strings.shell.shareNew}</p>
      <div class="sh-row">
        <input
          ref={field}
          class="sh-field"
          type="text"
          readOnly
          dir="ltr"
          data-testid="share-link"
          aria-label={strings.shell.shareLinkLabel}
          value={link}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button
          type="button"
          class="sh-button"
          onClick={() =>
            void copyText(link).then((isDone) => {
              copied.value = isDone;
            })
          }
        >
          <Icon name={copied.value ? "check" : "copy"} />
          {strings.shell.copyLink}
        </button>
      </div>
      <p class="sh-soft sh-tiny" role="status">
        {copied.value === null
          ? ""
          : copied.value
            ? strings.shell.linkCopied
            : strings.shell.linkNotCopied}
      </p>
    </div>
  );
}

function ShareRow(props: {
  share: Share;
  isNew: boolean;
  isBusy: boolean;
  onRevoke: () => void;
}): JSX.Element {
  const { share } = props;
  const isAsking = useSignal(false);
  const end = share.expires_at;
  const isOver = end !== undefined && end <= Date.now();
  return (
    <li class="sh-share" data-share-id={share.id}>
      <div class="sh-share-times">
        <span>{strings.shell.shareMade(fullTime(share.created_at))}</span>
        <span class="sh-soft">
          {end === undefined
            ? strings.shell.shareNoEnd
            : isOver
              ? strings.shell.shareOver(fullTime(end))
              : strings.shell.shareEnds(fullTime(end))}
        </span>
        {isAsking.value && <span class="sh-soft">{strings.shell.revokeText}</span>}
      </div>
      {isAsking.value ? (
        <span class="sh-row">
          <button
            type="button"
            class="sh-button"
            onClick={() => {
              isAsking.value = false;
            }}
          >
            {strings.shell.cancel}
          </button>
          <button
            type="button"
            class="sh-button sh-primary-danger"
            disabled={props.isBusy}
            onClick={props.onRevoke}
          >
            {strings.shell.revokeConfirm}
          </button>
        </span>
      ) : (
        <button
          type="button"
          class="sh-button"
          onClick={() => {
            isAsking.value = true;
          }}
        >
          {strings.shell.revoke}
        </button>
      )}
    </li>
  );
}
