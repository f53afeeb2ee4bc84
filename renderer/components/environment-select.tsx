interface EnvironmentSelectProps {
  /** Of the selected preview; null: production. */
  branch: string | null
  previews: readonly { branch: string }[] | undefined
  className?: string | undefined
  disabled?: boolean
  onChange(branch: string | null): void
}

/** Selects production or a preview. Shows nothing in a project without previews. */
export function EnvironmentSelect({ branch, previews = [], className = '', disabled = false, onChange }: EnvironmentSelectProps) {
  const branches = [...new Set([...(branch === null ? [] : [branch]), ...previews.map((preview) => preview.branch)])]
  if (branches.length === 0) return null
  return (
    <select
      className={`input select ${className}`}
      aria-label="Environment"
      disabled={disabled}
      value={branch ?? ''}
      onChange={({ target: { value } }) => onChange(value === '' ? null : value)}
    >
      <option value="">Production</option>
      {branches.map((one) => (
        <option key={one} value={one}>
          Preview of {one}
        </option>
      ))}
    </select>
  )
}
