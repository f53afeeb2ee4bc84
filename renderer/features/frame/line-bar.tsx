import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { useEffect, useState } from 'react'
import { refreshAll } from '../../api/cache.ts'
import type { StreamState } from '../../api/follow.ts'
import { homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../ui/button.tsx'

// A stream that is cut and back at once is nothing to tell anybody.
const patience_ms = 1_500

/** Says that the line to the platform is cut, and goes by itself when it is back. */
export function LineBar() {
  const stream = useConnection((state) => state.stream)
  const { id, name } = useConnection((state) => state.current)
  const cache = useQueryClient()
  const busy = useIsFetching() > 0
  const [lost, setLost] = useState(false)
  const waiting = stream.name === 'waiting'

  useEffect(() => {
    if (stream.name === 'open') setLost(false)
    if (!waiting) return
    const timer = setTimeout(() => setLost(true), patience_ms)
    return () => clearTimeout(timer)
  }, [stream.name, waiting])

  return (
    <div role="status">
      {lost && (
        <div className="line-bar">
          <Unplug size={16} aria-hidden />
          <span>{wordsOf(stream, id === homeId ? null : name)} What you see may be old; it heals by itself when the line is back.</span>
          <Button
            busy={busy}
            onClick={() => {
              // The stream waits for this event to try again at once.
              window.dispatchEvent(new Event('online'))
              refreshAll(cache)
            }}
          >
            Try now
          </Button>
        </div>
      )}
    </div>
  )
}

/** `remote`: the name of another instance; the line to it has two parts. */
function wordsOf(stream: StreamState, remote: string | null): string {
  const isHomeThere = stream.name === 'waiting' && stream.problem.status !== 0
  if (remote !== null && isHomeThere) return `${remote} does not answer.`
  return 'The connection to Homeport is lost.'
}
