import type { CommandTarget } from '../../api/commands.ts'
import { usePreviews } from '../../api/previews.ts'
import { useServices } from '../../api/services.ts'
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
  const branches = [...new Set([...(branch === null ? [] : [branch]), ...(previews ?? []).map((preview) => preview.branch)])]
  const others = [
    ...new Set([...(service === null ? [] : [service]), ...(services?.services ?? []).filter(({ is_main }) => !is_main).map(({ name }) => name)]),
  ]
  if (isLoading || isLoadingServices) return <Skeleton width={138} height={36} />
  return (
    <>
      {branches.length > 0 && (
        <select
          className="input select"
          aria-label="Environment"
          disabled={disabled}
          value={branch ?? ''}
          onChange={({ target: { value } }) => onChange({ slug, branch: value === '' ? null : value, service: null })}
        >
          <option value="">Production</option>
          {branches.map((one) => (
            <option key={one} value={one}>
              Preview of {one}
            </option>
          ))}
        </select>
      )}
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
