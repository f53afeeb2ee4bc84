import type { RuntimeState } from '../../../server/contract/deployments.ts'

/**
 * The state of an app, from the last state of each of its deployments: that of the newest one that serves or sleeps, because a version that failed or
 * was replaced says nothing about it, else that of the newest. IDs of deployments sort by time.
 */
export function chooseAppState(states: ReadonlyMap<string | null, RuntimeState>): RuntimeState | null {
  const newestFirst = [...states].toSorted(([a], [b]) => ((a ?? '') < (b ?? '') ? 1 : -1)).map(([, state]) => state)
  return newestFirst.find((state) => state === 'running' || state === 'cold') ?? newestFirst[0] ?? null
}
