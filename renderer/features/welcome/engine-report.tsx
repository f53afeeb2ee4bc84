import { useQueryClient } from '@tanstack/react-query'
import { keys } from '../../api/keys.ts'
import { useInstance } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/feedback.tsx'
import { HelpLink } from '../help/help-link.tsx'
import { Mark } from '../../ui/status.tsx'

/** What builds and runs the apps here, why that, and what to do for more. */
export function EngineReport() {
  const { data, isPending, isFetching } = useInstance()
  const cache = useQueryClient()
  if (isPending) return <Skeleton height={44} />
  if (!data) return null
  const { runtime } = data.instance
  const isDocker = runtime.name === 'docker'
  return (
    <section className="engine" aria-label="Runtime">
      <Mark sign={{ word: '', shape: isDocker ? 'disc' : 'ring', tone: isDocker ? 'live' : 'busy' }} />
      <div>
        <p>
          <strong>{isDocker ? `Docker ${runtime.version ?? ''} is ready` : 'Running without containers'}</strong>
        </p>
        <p className="quiet">{runtime.reason}</p>
        {!isDocker && (
          <p className="quiet">
            {runtime.is_forced
              ? 'To use containers, start Homeport without --runtime process.'
              : 'To use containers, start Docker, OrbStack, Colima or Podman, then restart Homeport.'}{' '}
            <HelpLink topic="engine">Learn more</HelpLink>
          </p>
        )}
      </div>
      {!isDocker && !runtime.is_forced && (
        <Button kind="bare" busy={isFetching} onClick={() => void cache.invalidateQueries({ queryKey: keys.session })}>
          Check again
        </Button>
      )}
    </section>
  )
}
