import { limits } from '../../../server/contract/limits.ts'
import { findRuntimeTraits } from '../../../server/contract/runtimes.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { TextField } from '../../components/field.tsx'

/** The CPU cores of the app and of its builds. */
export function CpuField({
  cpus,
  value,
  onChange,
  error,
}: {
  cpus: number
  value: number | null
  onChange: (value: number | null) => void
  error: string | undefined
}) {
  const runtime = useInstanceSession().data?.instance.runtime.name
  const isHeld = runtime === undefined || findRuntimeTraits(runtime)?.limits_cpu !== false
  return (
    <TextField
      label="CPU (cores)"
      type="number"
      min={limits.cpu.min}
      max={cpus}
      step="any"
      placeholder="Default"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? null : target.valueAsNumber)}
      error={error}
      hint={
        isHeld
          ? `${limits.cpu.min} to ${cpus}, for the app and for builds. Leave empty for ${limits.cpu.default} core for the app and all cores for builds.`
          : 'Has no effect here: apps and builds that run as processes can use every core. It applies with Docker.'
      }
    />
  )
}
