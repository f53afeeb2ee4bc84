import { SelectField } from '../../components/field.tsx'
import { type EnvironmentName, environments } from '../../lib/environments.ts'

export function EnvironmentField({ value, onChange }: { value: EnvironmentName; onChange: (name: EnvironmentName) => void }) {
  return (
    <SelectField
      label="Environment"
      value={value}
      onChange={({ target }) => {
        const chosen = environments.find(({ name }) => name === target.value)
        if (chosen) onChange(chosen.name)
      }}
    >
      {environments.map(({ name, title }) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </SelectField>
  )
}
