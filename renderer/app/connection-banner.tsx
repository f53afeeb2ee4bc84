import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { useEffect, useState } from 'react'
import { refetchAll } from '../api/query-cache.ts'
import type { ApiError } from '../../server/client/api-error.ts'
import { localInstanceId } from '../lib/instance-path.ts'
import { useConnection } from '../stores/connection.ts'
import { Button } from '../components/button.tsx'

// Delay before the banner appears, so that short interruptions are not reported.
const showDelay_ms = 1_500

/** Reports a lost connection and disappears once it is restored. */
export function ConnectionBanner() {
  const stream = useConnection((state) => state.stream)
  const { id, name } = useConnection((state) => state.current)
  const cache = useQueryClient()
  const busy = useIsFetching() > 0
  const remote = id === localInstanceId ? null : name
  // Stays as it is while the connection is tried again.
  const [message, setMessage] = useState<string | null>(null)

  useEffect(() => {
    if (stream.name === 'open') setMessage(null)
    if (stream.name !== 'waiting') return
    const timer = setTimeout(() => setMessage(connectionMessage(stream.problem, remote)), showDelay_ms)
    return () => clearTimeout(timer)
  }, [stream, remote])

  return (
    <div role="status">
      {message !== null && (
        <div className="connection-banner">
          <Unplug size={16} aria-hidden />
          <span>{message} This page may be outdated; it reconnects automatically.</span>
          <Button
            busy={busy}
            onClick={() => {
              // The stream listens for this event to reconnect immediately.
              window.dispatchEvent(new Event('online'))
              refetchAll(cache)
            }}
          >
            Retry now
          </Button>
        </div>
      )}
    </div>
  )
}

/** `remote`: the name of a remote instance, whose connection runs through this machine. */
function connectionMessage(problem: ApiError, remote: string | null): string {
  const isLocalReachable = problem.status !== 0
  return remote !== null && isLocalReachable ? `${remote} is not responding.` : 'Connection to Homeport lost.'
}
