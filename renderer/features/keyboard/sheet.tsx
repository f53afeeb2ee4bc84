import { Dialog } from '../../ui/dialog.tsx'
import { SwitchField } from '../../ui/field.tsx'
import { isSingle } from './chords.ts'
import { Keys } from './keys.tsx'
import { type Shortcut, places, shortcuts } from './shortcuts.ts'
import { useKeyboard } from './store.ts'
import './sheet.css'

const all: Shortcut[] = Object.values(shortcuts)

/** Every key on one sheet, drawn from the record that the keys themselves work from. */
export default function KeyboardSheet() {
  const setSheetOpen = useKeyboard((state) => state.setSheetOpen)
  return (
    <Dialog open onOpenChange={setSheetOpen} title="Keyboard" about="Keys rest while you type in a field and while a dialog is open.">
      <KeyboardList heading="h3" />
    </Dialog>
  )
}

export function KeyboardList({ heading: Heading }: { heading: 'h2' | 'h3' }) {
  const { has_single_keys, setSingleKeys } = useKeyboard()
  const isOff = ({ keys }: Shortcut) => !has_single_keys && keys.every(isSingle)
  return (
    <>
      <div className="sheet">
        {Object.entries(places).map(([place, heading]) => (
          <section key={place} aria-label={heading}>
            <Heading>{heading}</Heading>
            <dl>
              {all
                .filter(({ where }) => where === place)
                .map((shortcut) => (
                  <div key={shortcut.words + shortcut.keys.join()} className={isOff(shortcut) ? 'sheet-off' : ''}>
                    <dt>
                      {shortcut.words}
                      {isOff(shortcut) && <span className="unseen"> (off)</span>}
                    </dt>
                    <dd>
                      {shortcut.shown ??
                        shortcut.keys.map((keys, index) => (
                          <span key={keys} className="sheet-keys">
                            {index > 0 && <span className="faint"> or </span>}
                            <Keys keys={keys} />
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
        label="Single keys"
        hint="Characters alone, such as d or g p. Turn them off when you dictate, or press keys by accident; chords go on working."
        checked={has_single_keys}
        onChange={setSingleKeys}
      />
    </>
  )
}
