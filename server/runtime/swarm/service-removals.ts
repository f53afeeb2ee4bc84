import type Docker from 'dockerode'
import { sleep, systemClock, withTimeout } from '../../lib/clock.ts'
import { rejectAfter } from '../docker/connection.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { getStatusCode } from '../docker/errors.ts'
import { removeUnusedNetwork } from '../docker/networks.ts'
import { getServiceNetworkName } from '../docker/service-container.ts'

/**
 * Removes services of replicas, and tries again until the swarm accepts it: one without a leader refuses for many seconds, and a service that is left
 * would start its replica again once its node is ready, without Homeport.
 */
export interface ServiceRemovals {
  /** Removes a service, by id or name, in the background; no error if it does not exist. Resolves once it is gone, at the latest after 6 s. */
  remove(service: string): Promise<void>
  /** Whether its removal has begun and is not accepted yet. */
  isRemoving(service: string): boolean
  /** Ends all attempts; what is left is found at the next start. */
  close(): void
}

/** Of one request, because a swarm that has lost its leader may not answer. */
const answer_ms = 20_000
const pause = { step_ms: 250, most_ms: 5_000 }
/** A leader that has just changed refuses for a moment, and so does one that has many requests at once. */
const usualAttempts = 6
const wait_ms = 6_000

export function createServiceRemovals(engine: DockerEngine, { clock = systemClock } = {}): ServiceRemovals {
  const removals = new Map<string, Promise<void>>()
  const closing = new AbortController()
  const { log, instance_id } = engine.options

  const attempt = async (service: string, networks: Set<string>): Promise<void> => {
    const { docker } = await engine.connection()
    const found = await inspectService(docker, service, instance_id)
    for (const { Target = '' } of found?.Spec?.TaskTemplate?.Networks ?? []) networks.add(Target)
    if (!found) return
    await docker
      .getService(service)
      .remove()
      .catch((error: unknown) => {
        if (getStatusCode(error) !== 404) throw error
      })
  }
  const removeNetworkOf = async (id: string): Promise<void> => {
    const { docker } = await engine.connection()
    const found: { Name: string } | undefined = await docker
      .getNetwork(id)
      .inspect()
      .catch(() => undefined)
    if (found?.Name.startsWith(getServiceNetworkName(engine, ''))) await removeUnusedNetwork(docker, found.Name, id)
  }

  const removeUntilGone = async (service: string): Promise<void> => {
    const networks = new Set<string>()
    for (let attempts = 1; !closing.signal.aborted; attempts++) {
      try {
        await rejectAfter(answer_ms, attempt(service, networks), clock)
        for (const id of networks) engine.runInBackground(removeNetworkOf(id))
        return
      } catch (error) {
        if (attempts === usualAttempts) log.warn('swarm_service_not_removed', { service, error })
        await sleep(clock, Math.min(pause.most_ms, pause.step_ms * attempts), closing.signal).catch(() => {})
      }
    }
  }

  return {
    remove(service) {
      const removal = removals.get(service) ?? removeUntilGone(service).finally(() => removals.delete(service))
      removals.set(service, removal)
      return withTimeout(clock, wait_ms, removal)
    },
    isRemoving: (service) => removals.has(service),
    close: () => closing.abort(),
  }
}

/** Undefined if it does not exist or belongs to another instance. */
export const inspectService = (
  docker: Docker,
  id: string,
  instanceId: string,
): Promise<(Docker.Service & { Spec?: Docker.ServiceSpec }) | undefined> =>
  docker
    .getService(id)
    .inspect()
    .then(
      (found: Docker.Service & { Spec?: Docker.ServiceSpec }) => (found.Spec?.Labels?.['homeport.instance'] === instanceId ? found : undefined),
      (error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)),
    )
