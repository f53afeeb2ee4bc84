import type { CommandTarget } from '../../api/commands.ts'
import { usePreviews } from '../../api/previews.ts'
import { useServices } from '../../api/services.ts'
import { EnvironmentSelect } from '../../components/environment-select.tsx'
import { Skeleton } from '../../components/feedback.tsx'

interface TargetSelectsProps {
  target: CommandTarget
  disabled?: boolean
  onChange(target: CommandTarget): void
}

/** Selects an environment and a service, if a project has several. */
export function TargetSelects({ target, disabled = false, onChange }: TargetSelectsProps) {
  const { slug, branch, service } = target
  const { data: previews, isLoading } = usePreviews(slug)
  const { data: services, isLoading: isLoadingServices } = useServices(slug, branch)
  const others = [
    ...new Set([...(service === null ? [] : [service]), ...(services?.services ?? []).filter(({ is_main }) => !is_main).map(({ name }) => name)]),
  ]
  if (isLoading || isLoadingServices) return <Skeleton width={138} height={36} />
  return (
    <>
      <EnvironmentSelect
        branch={branch}
        previews={previews}
        disabled={disabled}
        onChange={(next) => onChange({ slug, branch: next, service: null })}
      />
      {others.length > 0 && (
        <select
          className="input select"
          aria-label="Service"
          disabled={disabled}
          value={service ?? ''}
          onChange={({ target: { value } }) => onChange({ slug, branch, service: value === '' ? null : value })}
        >
          <option value="">Main service</option>
          {others.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      )}
    </>
  )
}
