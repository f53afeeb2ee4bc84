import { Dialog } from '../../components/dialog.tsx'
import { SwitchField } from '../../components/field.tsx'
import { isSingleKey } from '../../lib/key-chords.ts'
import { KeyCaps } from '../../components/key-caps.tsx'
import { type Shortcut, shortcutGroups, shortcuts } from '../../stores/shortcuts.ts'
import { useKeyboard } from '../../stores/keyboard.ts'
import styles from './shortcuts-dialog.module.css'

const all: Shortcut[] = Object.values(shortcuts)

/** All shortcuts, rendered from the list that also handles them. */
export default function ShortcutsDialog() {
  const setSheetOpen = useKeyboard((state) => state.setShortcutsOpen)
  return (
    <Dialog
      open
      onOpenChange={setSheetOpen}
      title="Keyboard shortcuts"
      description="Shortcuts are disabled while you type in a field and while a dialog is open."
    >
      <ShortcutList heading="h3" />
    </Dialog>
  )
}

export function ShortcutList({ heading: Heading }: { heading: 'h2' | 'h3' }) {
  const { has_single_keys, setSingleKeys } = useKeyboard()
  const isOff = ({ keys }: Shortcut) => !has_single_keys && keys.every(isSingleKey)
  return (
    <>
      <div className={styles.shortcuts}>
        {Object.entries(shortcutGroups).map(([group, heading]) => (
          <section key={group} aria-label={heading}>
            <Heading>{heading}</Heading>
            <dl>
              {all
                .filter((shortcut) => shortcut.group === group)
                .map((shortcut) => (
                  <div key={shortcut.description + shortcut.keys.join()} className={isOff(shortcut) ? styles.shortcutsOff : ''}>
                    <dt>
                      {shortcut.description}
                      {isOff(shortcut) && <span className="visually-hidden"> (off)</span>}
                    </dt>
                    <dd>
                      {shortcut.keysLabel ??
                        shortcut.keys.map((keys, index) => (
                          <span key={keys} className={styles.shortcutsKeys}>
                            {index > 0 && <span className="text-subtle"> or </span>}
                            <KeyCaps keys={keys} />
                          </span>
                        ))}
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <SwitchField
        label="Single-key shortcuts"
        hint="Shortcuts without a modifier, such as d or g p. Turn them off if you use dictation or press keys by accident."
        checked={has_single_keys}
        onChange={setSingleKeys}
      />
    </>
  )
}
