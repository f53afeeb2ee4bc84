interface FilterSelectProps {
  label: string
  /** The text of the choice that filters nothing. Its value is empty. */
  all: string
  value: string
  /** The text of each value. */
  choices: Readonly<Record<string, string>>
  onChange: (value: string) => void
}

export function FilterSelect({ label, all, value, choices, onChange }: FilterSelectProps) {
  return (
    <select className="input select" aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">{all}</option>
      {Object.entries(choices).map(([choice, text]) => (
        <option key={choice} value={choice}>
          {text}
        </option>
      ))}
    </select>
  )
}
