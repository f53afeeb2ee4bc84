import type { ComponentProps } from 'react'
import type { Autoscaling } from '../../../server/contract/autoscaling.ts'
import { limits } from '../../../server/contract/limits.ts'
import { SwitchField, TextField } from '../../components/field.tsx'

const { min, max } = limits.replicas
const { target_concurrency, stabilization_window_ms } = limits.autoscaling

interface FieldState<Value> {
  value: Value
  onChange: (value: Value) => void
  error: string | undefined
}

/** How many replicas of the app run, and whether a browser stays at one. */
export function ReplicasFields({
  replicas,
  autoscaling,
  sticky,
}: {
  replicas: FieldState<number>
  autoscaling: FieldState<Autoscaling | null>
  sticky: Omit<ComponentProps<typeof SwitchField>, 'label' | 'hint'>
}) {
  const range = autoscaling.value
  return (
    <>
      {range === null && (
        <NumberField
          label="Replicas"
          bounds={limits.replicas}
          {...replicas}
          hint={`${min} to ${max}, each with this memory and CPU. Requests are distributed over them. Applies at once; a number in the configuration file takes precedence.`}
        />
      )}
      <SwitchField
        label="Autoscaling"
        hint={`Changes the number of replicas with the load: more start at once, and fewer run after ${stabilization_window_ms / 1_000} s with less load.`}
        checked={range !== null}
        onChange={(isOn) =>
          autoscaling.onChange(
            isOn ? { min: replicas.value, max: Math.max(replicas.value, 3), target_concurrency: target_concurrency.default } : null,
          )
        }
        error={autoscaling.error}
      />
      {range !== null && (
        <>
          <NumberField
            label="Minimum replicas"
            bounds={limits.replicas}
            value={range.min}
            onChange={(value) => autoscaling.onChange({ ...range, min: value })}
          />
          <NumberField
            label="Maximum replicas"
            bounds={limits.replicas}
            value={range.max}
            onChange={(value) => autoscaling.onChange({ ...range, max: value })}
          />
          <NumberField
            label="Target concurrency"
            bounds={target_concurrency}
            value={range.target_concurrency}
            onChange={(value) => autoscaling.onChange({ ...range, target_concurrency: value })}
            hint="Open requests for each replica, WebSockets included."
          />
        </>
      )}
      <SwitchField
        label="Sticky sessions"
        hint="With several replicas, a cookie keeps each browser at the same one. Needed only if the app keeps sessions in its memory."
        {...sticky}
      />
    </>
  )
}

function NumberField({
  bounds,
  value,
  onChange,
  ...field
}: Pick<ComponentProps<typeof TextField>, 'label' | 'hint' | 'error'> & {
  bounds: { min: number; max: number }
  value: number
  onChange: (value: number) => void
}) {
  return (
    <TextField
      type="number"
      required
      min={bounds.min}
      max={bounds.max}
      value={Number.isNaN(value) ? '' : value}
      onChange={({ target }) => onChange(target.valueAsNumber)}
      {...field}
    />
  )
}
