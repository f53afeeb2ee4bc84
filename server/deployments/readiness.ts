import { StartFailure } from '../runtime/runtime.ts'
import { updateDeployment } from '../store/deployments.ts'
import type { SupervisedApp, Candidate } from './supervised-app.ts'
import {
  findPublicPorts,
  findSilentPorts,
  formatPortWarning,
  formatPublicPortWarning,
  formatSilentPortWarning,
  waitUntilHealthy,
} from './health-check.ts'
import type { DeploymentContext } from './context.ts'

/**
 * Waits until a candidate responds and returns it with its port, which is stored for the next start. A candidate whose port Docker must publish
 * first is started once more. `note` receives a warning about unexpected ports. On failure, only replicas that this function started are removed;
 * the candidate belongs to the caller.
 */
export async function waitUntilReady(
  context: DeploymentContext,
  candidate: Candidate,
  signal: AbortSignal,
  onNote: (line: string) => void,
  { launch, stopCandidate }: { launch(spec: Candidate['spec']): Promise<Candidate>; stopCandidate(candidate: Candidate): Promise<void> },
): Promise<Candidate> {
  const checkHealth = async ({ replica, exited, spec }: Candidate) =>
    replica && waitUntilHealthy({ replica, known_port: spec.listen_port, exited, signal, clock: context.clock, ...spec.health })
  let health = await checkHealth(candidate)
  if (!health) return candidate
  let ready = candidate
  if (!health.endpoint) {
    await stopCandidate(candidate)
    ready = await launch({ ...candidate.spec, listen_port: health.listen_port })
  }
  try {
    if (ready !== candidate) health = await checkHealth(ready)
    if (!health?.endpoint || !ready.replica)
      throw new StartFailure(
        'port_not_detected',
        'The app listens on a different port at each start.',
        'Make the app listen on the port in the PORT variable.',
      )
    const { listen_port, endpoint } = health
    const { deployment_id } = ready.spec
    if (listen_port !== candidate.spec.listen_port) await context.store.db.write((tx) => updateDeployment(tx, deployment_id, { listen_port }))
    if (listen_port !== null) onNote(formatPortWarning(listen_port, ready.replica.assigned_port))
    for (const silent of await findSilentPorts(ready.replica)) onNote(formatSilentPortWarning(silent))
    const publicPorts = await findPublicPorts(ready.replica)
    if (publicPorts?.length) onNote(formatPublicPortWarning(publicPorts))
    return { ...ready, spec: { ...ready.spec, listen_port }, replica: { ...ready.replica, host: endpoint.host, port: endpoint.port } }
  } catch (error) {
    if (ready !== candidate) await stopCandidate(ready).catch(() => {})
    throw error
  }
}

export interface PublicListener {
  project_id: string
  branch: string | null
  /** undefined where the system does not report it. */
  ports: number[] | undefined
}

/** The apps that run as processes of this machine, each with its current ports beyond loopback. */
export function findPublicListeners(apps: Iterable<SupervisedApp>): Promise<PublicListener[]> {
  const running = [...apps].flatMap(({ spec, candidate }) => (candidate?.replica?.is_on_host ? [{ spec, replica: candidate.replica }] : []))
  return Promise.all(
    running.map(async ({ spec: { project_id, branch, target }, replica }) => ({
      project_id,
      branch: target === 'preview' ? branch : null,
      ports: await findPublicPorts(replica),
    })),
  )
}
