import type { ComponentProps } from 'react'
import { limits } from '../../../server/contract/limits.ts'
import { SwitchField, TextField } from '../../components/field.tsx'

const { min, max } = limits.replicas

/** How many replicas of the app run, and whether a browser stays at one. */
export function ReplicasFields({
  replicas,
  onChange,
  error,
  sticky,
}: {
  replicas: number
  onChange: (replicas: number) => void
  error: string | undefined
  sticky: Omit<ComponentProps<typeof SwitchField>, 'label' | 'hint'>
}) {
  return (
    <>
      <TextField
        label="Replicas"
        type="number"
        required
        min={min}
        max={max}
        value={Number.isNaN(replicas) ? '' : replicas}
        onChange={({ target }) => onChange(target.valueAsNumber)}
        error={error}
        hint={`${min} to ${max}, each with this memory and CPU. Requests are distributed over them. Applies at once; a number in the configuration file takes precedence.`}
      />
      <SwitchField
        label="Sticky sessions"
        hint="With several replicas, a cookie keeps each browser at the same one. Needed only if the app keeps sessions in its memory."
        {...sticky}
      />
    </>
  )
}
