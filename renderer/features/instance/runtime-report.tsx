import { useInstanceSession } from '../../api/instance.ts'
import { findRuntimeTraits } from '../../../server/contract/runtimes.ts'
import { Button } from '../../components/button.tsx'
import { Skeleton } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { StatusIcon } from '../../components/status.tsx'
import styles from './runtime-report.module.css'

/** The runtime of this instance, why it was chosen, and how to change it. */
export function RuntimeReport() {
  const { data, isPending, isFetching, refetch } = useInstanceSession()
  if (isPending) return <Skeleton height={44} />
  if (!data) return null
  const { runtime } = data.instance
  const { label = runtime.name, isolates = true } = findRuntimeTraits(runtime.name) ?? {}
  return (
    <section className={styles.runtimeReport} aria-label="Runtime">
      <StatusIcon badge={{ label: '', shape: isolates ? 'disc' : 'ring', tone: isolates ? 'live' : 'busy' }} />
      <div>
        <p>
          <strong>{isolates ? `${label} ${runtime.version ?? ''} is ready` : 'Running without containers'}</strong>
        </p>
        <p className="text-muted">{runtime.reason}</p>
        {!isolates && (
          <p className="text-muted">
            {runtime.is_forced ? (
              <>
                To use containers, start Homeport without <code className="nowrap">--runtime {runtime.name}</code>.
              </>
            ) : (
              'To use containers, start Docker, OrbStack, Colima or Podman, then restart Homeport.'
            )}{' '}
            <HelpLink topic="engine">Learn more</HelpLink>
          </p>
        )}
      </div>
      {!isolates && !runtime.is_forced && (
        <Button kind="bare" busy={isFetching} onClick={() => void refetch()}>
          Check again
        </Button>
      )}
    </section>
  )
}
