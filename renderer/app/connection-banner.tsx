import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { useEffect, useState } from 'react'
import { refetchAll } from '../api/query-cache.ts'
import type { StreamState } from '../api/event-stream.ts'
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
  const [isLost, setLost] = useState(false)
  const isWaiting = stream.name === 'waiting'

  useEffect(() => {
    if (stream.name === 'open') setLost(false)
    if (!isWaiting) return
    const timer = setTimeout(() => setLost(true), showDelay_ms)
    return () => clearTimeout(timer)
  }, [stream.name, isWaiting])

  return (
    <div role="status">
      {isLost && (
        <div className="connection-banner">
          <Unplug size={16} aria-hidden />
          <span>{connectionMessage(stream, id === localInstanceId ? null : name)} This page may be outdated; it reconnects automatically.</span>
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
function connectionMessage(stream: StreamState, remote: string | null): string {
  const isLocalReachable = stream.name === 'waiting' && stream.problem.status !== 0
  if (remote !== null && isLocalReachable) return `${remote} is not responding.`
  return 'Connection to Homeport lost.'
}
