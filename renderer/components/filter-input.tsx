interface FilterInputProps {
  label: string
  placeholder: string
  value: string
  className?: string | undefined
  onChange: (value: string) => void
}

/** A text that filters once it is complete: with Enter, or when the focus leaves it. */
export function FilterInput({ label, placeholder, value, className = '', onChange }: FilterInputProps) {
  return (
    <input
      key={value}
      className={`input mono ${className}`}
      type="search"
      aria-label={label}
      maxLength={200}
      placeholder={placeholder}
      defaultValue={value}
      onBlur={({ target }) => target.value.trim() !== value && onChange(target.value.trim())}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  )
}
