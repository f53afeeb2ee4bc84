import { useId } from 'react'
import { TextField } from '../../components/field.tsx'
import { hues } from './hues.ts'

export function TokenField({ value, onChange, error }: { value: string; onChange: (token: string) => void; error: string | undefined }) {
  return (
    <TextField
      label="API token"
      type="password"
      mono
      required
      maxLength={200}
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      placeholder="svc_…"
      hint="Stored by Homeport on this machine, not in this browser."
      error={error}
    />
  )
}

/** The colour of the frame. Each says its name, and the chosen one is marked by more than its colour. */
export function HueField({ value, onChange }: { value: number; onChange: (hue: number) => void }) {
  const name = useId()
  // One that was chosen elsewhere, such as on the command line, stays to be chosen.
  const choices: readonly { hue: number; label: string }[] = hues.some(({ hue }) => hue === value)
    ? hues
    : [...hues, { hue: value, label: 'Current' }]
  return (
    <fieldset className="hue-field">
      <legend>Frame color</legend>
      <div className="hue-choices">
        {choices.map(({ hue, label }) => (
          <label key={hue} className="hue-choice" title={label} style={{ '--hue': hue } as React.CSSProperties}>
            <input type="radio" name={name} checked={hue === value} onChange={() => onChange(hue)} />
            <span className="hue-swatch" aria-hidden />
            <span className="hue-word">{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
