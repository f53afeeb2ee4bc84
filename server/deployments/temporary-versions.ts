import { randomBytes } from 'node:crypto'
import { Problem } from '../contract/errors.ts'
import { BuildFailure } from '../runtime/runtime.ts'
import { listProjectVolumes } from '../store/project-volumes.ts'
import { findProject } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { addProjectVolumes } from './added-volumes.ts'
import { createAppSpec } from './app-spec.ts'
import type { DeploymentContext } from './context.ts'
import { type AppSpec, type Candidate, getEnvironmentId } from './supervised-app.ts'
import type { Supervisor } from './supervisor.ts'
import { readSecrets } from './variables.ts'
import { parseStoredVersion } from './version.ts'

/** A version that answers at a host of its own beside the live one. The caller must always call `stop`. */
export interface TemporaryVersion {
  host: string
  stop(): Promise<void>
}

/**
 * Starts the main service of a kept build that does not serve, with the variables, the database and the other services that the live version of its
 * environment has now. It ends at the latest with that version. Throws `replay_not_possible`.
 */
export async function startTemporaryVersion(
  context: DeploymentContext,
  supervisor: Supervisor,
  deployment: DeploymentRow,
  signal: AbortSignal,
): Promise<TemporaryVersion> {
  const { project_id } = deployment
  const live = supervisor.findEnvironment(getEnvironmentId(deployment))?.spec
  if (!live) throw notPossible('No version is live. Deploy the project, then replay the request.')
  // Keeps the environment awake, and is the only one of its project, because each takes the memory of an app.
  const key = `replay ${project_id}`
  if (context.environmentsWithCommands.has(key))
    throw notPossible('Another replay to an earlier version of this project is running. Wait until it has ended.')
  context.environmentsWithCommands.set(key, live.environment_id)
  const host = `replay-${randomBytes(10).toString('hex')}.localhost`
  let candidate: Candidate | undefined
  const stop = async () => {
    try {
      await context.edge.removeRoute(host)
      await context.edge.cache.purgeHost(project_id, host)
      if (candidate) await supervisor.stopBeside(candidate)
    } finally {
      context.environmentsWithCommands.delete(key)
    }
  }
  try {
    candidate = await supervisor.startBeside(live, await readSpec(context, deployment, live), signal)
    await context.edge.setRoute(host, { ...createTarget(candidate), ...context.routes.getRouteMetadata(candidate.spec), visited_as: host })
    // It is not restarted, so its requests need not wait.
    void candidate.exited.then(() => context.edge.removeRoute(host)).catch((error: unknown) => context.log.warn('route_failed', { error }))
    return { host, stop }
  } catch (error) {
    await stop()
    if (isAbort(error) && !signal.aborted) throw notPossible('The live version was replaced or stopped. Replay the request again.', error)
    if (error instanceof BuildFailure) throw notPossible(`This deployment did not start. ${error.message} ${error.hint}`, error)
    throw error
  }
}

async function readSpec(context: DeploymentContext, deployment: DeploymentRow, live: AppSpec): Promise<AppSpec> {
  const { artifact, project_id } = deployment
  const { project, volumes } = await context.store.db.read((tx) => ({
    project: findProject(tx, project_id),
    volumes: listProjectVolumes(tx, project_id),
  }))
  if (!project || artifact === null)
    throw notPossible('The build of this deployment was removed, because newer ones took its place. Roll back to it, which builds it again.')
  const secrets = await readSecrets(context, project, deployment)
  // A version from before a volume was added would look for its files there too.
  const version = addProjectVolumes(parseStoredVersion(artifact), volumes, () => {})
  const spec = createAppSpec({ deployment, project, secrets, context }, version)
  if (!spec.artifact) throw notPossible('This deployment has no service that answers requests.')
  if (version.main?.config?.volumes.some(({ is_read_only }) => !is_read_only))
    throw notPossible('This deployment has a volume, to which only the live version may write. Roll back to it, then replay the request.')
  // It calls the services of the live version, and none calls it.
  const networks = (live.service?.networks ?? []).map((network) => ({ ...network, host_names: [] }))
  const service = spec.service && { ...spec.service, networks }
  return { ...spec, ...(service && { service }), services: [], ports: [], release: null, replicas: 1, autoscaling: null }
}

function createTarget({ spec: { artifact }, replica }: Candidate) {
  if (artifact?.kind === 'static') return { kind: 'static', directory: artifact.directory, spa_fallback: artifact.spa_fallback } as const
  if (!replica) throw new Error('A version without a replica cannot be routed.')
  return { kind: 'upstream', host: replica.host, port: replica.port } as const
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'

const notPossible = (message: string, cause?: unknown) => new Problem('replay_not_possible', message, { cause })
