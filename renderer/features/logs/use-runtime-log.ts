import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { followRuntimeLog, type ReplicaLog } from '../../api/runtime-log.ts'
import { useClient } from '../../api/query.ts'
import type { RuntimeState } from '../../../server/contract/deployments.ts'
import type { StreamState } from '../../api/event-stream.ts'
import { chooseAppState } from './app-state.ts'
import { createLogStore } from './log-store.ts'
import type { LogLine } from './log-line.ts'
import { formatStateMessage } from './state-message.ts'

/**
 * Output of the app, in production or in a branch preview: the latest lines, then live output across restarts, sleep and new deployments. `titles`: of
 * the deployments, which lines about their state name; the log is opened once they are known.
 */
export function useRuntimeLog(slug: string, { branch, service, replica }: ReplicaLog, titles: ReadonlyMap<string, string> | null) {
  const client = useClient()
  const [name, number] = [replica?.service, replica?.number]
  const store = useMemo(() => createLogStore(), [client, slug, branch, service, name, number])
  const [stream, setStream] = useState<StreamState>({ name: 'connecting' })
  const [state, setState] = useState<RuntimeState | null>(null)
  const [deployments, setDeployments] = useState<string[]>([])

  const findTitle = useEffectEvent((id: string | null) => (id === null ? undefined : titles?.get(id)))
  const isReady = titles !== null

  useEffect(() => {
    if (!isReady) return
    const states = new Map<string | null, RuntimeState>()
    // Without `starting`, to distinguish waking from starting.
    const settledStates = new Map<string | null, RuntimeState>()
    store.clear()
    setState(null)
    setDeployments([])
    return followRuntimeLog(
      client,
      slug,
      { branch, service, replica: name === undefined || number === undefined ? null : { service: name, number } },
      {
        onState: setStream,
        onEvents(events) {
          const lines: Omit<LogLine, 'number'>[] = []
          const ids = new Set<string>()
          for (const { event, data } of events) {
            if (event === 'log') {
              lines.push({ text: data.line, source: data.stream, ts: data.ts, group: data.deployment_id })
              if (data.deployment_id !== null) ids.add(data.deployment_id)
            } else if (event === 'state') {
              lines.push({
                text: formatStateMessage(data, findTitle(data.deployment_id), settledStates.get(data.deployment_id) === 'cold'),
                source: 'system',
                ts: data.ts,
                group: data.deployment_id,
              })
              states.set(data.deployment_id, data.state)
              if (data.state !== 'starting') settledStates.set(data.deployment_id, data.state)
            } else if (event === 'lagged') {
              lines.push({
                text: `${data.dropped} lines were skipped because they arrived faster than this page could show them`,
                source: 'system',
                ts: null,
                group: null,
              })
            }
          }
          if (ids.size > 0) setDeployments((before) => ([...ids].every((id) => before.includes(id)) ? before : [...new Set([...before, ...ids])]))
          setState(chooseAppState(states))
          store.append(lines)
        },
      },
    )
  }, [client, slug, branch, service, name, number, store, isReady])

  return { store, stream, state, deployments }
}
