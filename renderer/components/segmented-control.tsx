import type { LucideIcon } from 'lucide-react'
import { ToggleGroup } from 'radix-ui'
import styles from './segmented-control.module.css'

/** A radio group with all options visible. */
export function SegmentedControl<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: Value
  choices: readonly { value: Value; text: string; icon?: LucideIcon }[]
  onChange: (value: Value) => void
}) {
  return (
    <ToggleGroup.Root
      type="single"
      className={styles.segments}
      aria-label={label}
      value={value}
      onValueChange={(next) => {
        const choice = choices.find((one) => one.value === next)
        if (choice) onChange(choice.value)
      }}
    >
      {choices.map(({ value: choice, text, icon: Icon }) => (
        <ToggleGroup.Item key={choice} value={choice} className={styles.segment}>
          {Icon && <Icon size={15} aria-hidden />}
          {text}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}
