import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { strings } from "../strings.ts";
import type { App } from "./app.ts";
import { Dialog } from "./Dialog.tsx";
import { Icon } from "./Icon.tsx";
import { TEXT_SIZES, type TextSize, THEMES, type Theme } from "./settings.ts";

const THEME_NAMES: Readonly<Record<Theme, string>> = {
  system: strings.shell.themeSystem,
  light: strings.shell.themeLight,
  dark: strings.shell.themeDark,
};
const SIZE_NAMES: Readonly<Record<TextSize, string>> = {
  small: strings.shell.sizeSmall,
  normal: strings.shell.sizeNormal,
  large: strings.shell.sizeLarge,
  larger: strings.shell.sizeLarger,
};

/** How the page looks and behaves, kept in this browser; and the way out. */
export function SettingsDialog({ app, onClose }: { app: App; onClose: () => void }): JSX.Element {
  const { settings, access } = app;
  const logOut = async (): Promise<void> => {
    onClose();
    try {
      await access.leave();
    } catch (error) {
      app.fail(strings.shell.logoutFailed, error);
    }
  };
  const version = app.capabilities.value?.version;
  return (
    <Dialog title={strings.shell.settings} onClose={onClose}>
      <Choices
        label={strings.shell.theme}
        names={THEMES}
        words={THEME_NAMES}
        setting={settings.theme}
      />
      <Choices
        label={strings.shell.textSize}
        names={TEXT_SIZES}
        words={SIZE_NAMES}
        setting={settings.textSize}
      />
      <Switch
        label={strings.shell.enterSends}
        hint={strings.shell.enterSendsHint}
        setting={settings.enterSends}
      />
      <Switch label={strings.shell.maths} hint={strings.shell.mathsHint} setting={settings.maths} />
      <Switch
        label={strings.shell.singleKeys}
        hint={strings.shell.singleKeysHint}
        setting={settings.singleKeys}
      />
      <p class="sh-dialog-foot sh-row sh-spread">
        <span class="sh-soft">
          {version === undefined ? "" : `${strings.shell.version(version)} · `}
          {strings.shell.settingsKept}
        </span>
        {access.hasLogin.value && (
          <button type="button" class="sh-button" onClick={() => void logOut()}>
            <Icon name="leave" />
            {strings.shell.logout}
          </button>
        )}
      </p>
    </Dialog>
  );
}

/** One of a few, as radio buttons that stand in a row. */
export function Choices<T extends string>(props: {
  label: string;
  names: readonly T[];
  words: Readonly<Record<T, string>>;
  setting: Signal<T>;
}): JSX.Element {
  const group = useId();
  return (
    <fieldset class="sh-choices">
      <legend>{props.label}</legend>
      <div class="sh-segments">
        {props.names.map((name) => (
          <label key={name} class="sh-segment">
            <input
              type="radio"
              name={group}
              checked={props.setting.value === name}
              onChange={() => {
                props.setting.value = name;
              }}
            />
            <span>{props.words[name]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Switch(props: { label: string; hint: string; setting: Signal<boolean> }): JSX.Element {
  const hintId = useId();
  return (
    <div class="sh-switch">
      <label>
        <input
          type="checkbox"
          aria-describedby={hintId}
          checked={props.setting.value}
          onChange={(event) => {
            props.setting.value = event.currentTarget.checked;
          }}
        />
        <span>{props.label}</span>
      </label>
      <p id={hintId} class="sh-soft">
        {props.hint}
      </p>
    </div>
  );
}
