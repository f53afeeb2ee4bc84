import { useId } from 'react'
import { TextField } from '../../components/field.tsx'
import { hues } from './hues.ts'
import styles from './page.module.css'

export function TokenField(field: { value: string; onChange: (event: { target: { value: string } }) => void; error: string | undefined }) {
  return (
    <TextField
      label="API token"
      type="password"
      mono
      required
      maxLength={200}
      autoComplete="off"
      spellCheck={false}
      {...field}
      placeholder="svc_…"
      hint="Stored by Homeport on this machine, not in this browser."
    />
  )
}

/** Frame color. Each option has a name, and the selected one has a mark besides its color. */
export function HueField({ value, onChange }: { value: number; onChange: (hue: number) => void }) {
  const name = useId()
  // Keeps a custom hue selectable, such as one set on the command line.
  const choices: readonly { hue: number; label: string }[] = hues.some(({ hue }) => hue === value)
    ? hues
    : [...hues, { hue: value, label: 'Current' }]
  return (
    <fieldset className={styles.hueField}>
      <legend>Frame color</legend>
      <div className={styles.hueChoices}>
        {choices.map(({ hue, label }) => (
          <label key={hue} className={styles.hueChoice} title={label} style={{ '--hue': hue } as React.CSSProperties}>
            <input type="radio" name={name} checked={hue === value} onChange={() => onChange(hue)} />
            <span className={styles.hueSwatch} aria-hidden />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
