import type { JSX } from "preact";
import { strings } from "../strings.ts";
import { Dialog } from "./Dialog.tsx";
import { keyNames, SHORTCUTS } from "./keyboard.ts";

/** Every shortcut, made of the table that handles them, and the keys of what has the focus. */
export function HelpDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const isMac = /Mac|iPhone|iPad/u.test(navigator.platform);
  return (
    <Dialog title={strings.shell.help} onClose={onClose}>
      <dl class="sh-keys">
        {SHORTCUTS.map((shortcut) => (
          <div key={`${shortcut.command} ${shortcut.key}`}>
            <dt>{strings.shell.commands[shortcut.command]}</dt>
            <dd>
              <Keys names={keyNames(shortcut, isMac)} />
            </dd>
          </div>
        ))}
      </dl>
      <KeysOf title={strings.shell.listKeysTitle} keys={strings.shell.listKeys} />
      <KeysOf title={strings.shell.readKeysTitle} keys={strings.shell.readKeys} />
    </Dialog>
  );
}

/** Keys that work where the focus is only. */
function KeysOf(props: {
  title: string;
  keys: readonly (readonly [readonly string[], string])[];
}): JSX.Element {
  return (
    <>
      <h3 class="sh-dialog-part">{props.title}</h3>
      <dl class="sh-keys">
        {props.keys.map(([names, words]) => (
          <div key={words}>
            <dt>{words}</dt>
            <dd>
              <Keys names={names} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Keys({ names }: { names: readonly string[] }): JSX.Element {
  return (
    <>
      {names.map((name) => (
        <kbd key={name}>{name}</kbd>
      ))}
    </>
  );
}
