import { createHash } from 'node:crypto'
import { cp, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BuildSettings } from '../contract/build-plan.ts'
import { isoTime } from '../lib/clock.ts'
import type { Artifact } from '../runtime/runtime.ts'
import type { FetchedSource } from '../source/source.ts'
import { findCurrentDeployment, findDeploymentById, compareAndSwapStatus, updateDeployment } from '../store/deployments.ts'
import { findPreview, updatePreview } from '../store/previews.ts'
import { recomputeProjectStatus, updateProject } from '../store/projects.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import { createAppVariables, type DeploymentSecrets } from './variables.ts'
import type { AppSpec, Candidate } from './supervised-app.ts'
import type { OutputListener } from './runtime-logs.ts'
import type { Supervisor } from './supervisor.ts'
import type { DeploymentLog } from './deployment-log.ts'
import { readSource } from './deployment-row.ts'
import { getStoredSource } from './source-archives.ts'
import { publishChange } from './outcome.ts'
import type { DeploymentContext } from './context.ts'

export interface PipelineRun {
  context: DeploymentContext
  supervisor: Supervisor
  deployment: DeploymentRow
  project: ProjectRow
  secrets: DeploymentSecrets
  log: DeploymentLog
  signal: AbortSignal
}

/** Runs one deployment, from source to traffic. Each step succeeds or throws; the caller records the outcome. */
export async function runDeployment(run: PipelineRun): Promise<void> {
  const artifact = (await findReusableArtifact(run)) ?? (await fetchAndBuild(run))
  let isStarting = true
  let isPortTaken = false
  const onOutput: OutputListener = (stream, line) => {
    if (isStarting) run.log.line('start', stream, line)
    isPortTaken ||= line.includes('EADDRINUSE')
  }
  let candidate = await startCandidate(run, artifact, onOutput)
  let stoppedApp: Awaited<ReturnType<Supervisor['stopForFixedPort']>>
  try {
    try {
      candidate = await waitUntilHealthy(run, candidate, onOutput)
    } catch (error) {
      stoppedApp = isPortTaken && !run.signal.aborted ? await run.supervisor.stopForFixedPort(candidate.spec) : undefined
      if (!stoppedApp) throw error
      const { listen_port } = stoppedApp
      run.log.note(
        'health_check',
        `Warning: the live version is stopped while this one starts, because both listen on port ${listen_port}. Use the PORT variable to deploy without downtime.`,
      )
      await run.supervisor.stopCandidate(candidate)
      candidate = await run.supervisor.launch({ ...candidate.spec, listen_port }, run.signal, onOutput)
      candidate = await waitUntilHealthy(run, candidate, onOutput)
    }
    isStarting = false
    await switchTraffic(run, candidate)
  } catch (error) {
    await run.supervisor.stopCandidate(candidate).catch(() => {})
    await stoppedApp?.resume()
    throw error
  }
}

export const getWorkFolder = (dataDir: string, deploymentId: string): string => join(dataDir, 'work', deploymentId)

async function fetchAndBuild(run: PipelineRun): Promise<Artifact> {
  const { context, deployment, project, log, signal } = run
  const folder = getWorkFolder(context.data_dir, deployment.id)
  try {
    log.step('clone')
    const source = await fetchSource(run, folder)
    await saveProgress(run, {
      branch: source.branch ?? deployment.branch,
      commit_sha: source.commit_sha,
      commit_message: source.commit_message,
      commit_author: source.commit_author,
      is_dirty: source.is_dirty ? 1 : 0,
    })

    log.step('detect')
    const plan = await context.planBuild({ folder: source.folder, settings: getBuildSettings(project) })
    for (const sentence of plan.explanation) log.note('detect', sentence)
    await saveProgress(run, { framework: plan.framework })

    const artifact = await context.runtime(deployment.runtime).build({
      project_id: project.id,
      deployment_id: deployment.id,
      folder: source.folder,
      plan,
      variables: run.secrets.variables,
      memory_mb: context.settings().build_memory_mb,
      cpus: context.cpus,
      log,
      signal,
    })
    await saveProgress(run, { artifact: JSON.stringify(artifact), image_bytes: artifact.bytes, inputs_digest: computeInputsDigest(run) })
    return artifact
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function fetchSource(run: PipelineRun, folder: string): Promise<FetchedSource> {
  const { context, deployment, project, secrets, log, signal } = run
  const source = readSource(deployment)
  const stored = getStoredSource(context.data_dir, deployment, source)
  const credentials = source.kind === 'git' ? secrets.getRepositoryCredentials(project, source.url) : null
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const fetched = await context.fetchSource({ source, credentials, stored, into: folder, log, signal })
  if (stored === undefined) return fetched
  if (source.kind === 'folder' && source.of === undefined) {
    // Stored before the build changes the folder, because a retry or a rollback starts from this copy.
    await rm(stored, { recursive: true, force: true })
    await mkdir(dirname(stored), { recursive: true, mode: 0o700 })
    await cp(fetched.folder, stored, { recursive: true, verbatimSymlinks: true })
    return fetched
  }
  // A copy or an archive has no repository that describes it.
  const { branch, commit_sha, commit_message, commit_author, is_dirty } = deployment
  return { folder: fetched.folder, branch, commit_sha, commit_message, commit_author, is_dirty: is_dirty === 1 }
}

/** A rollback uses its parent's build if that build still exists and the settings and variables have not changed. */
async function findReusableArtifact(run: PipelineRun): Promise<Artifact | undefined> {
  const { context, deployment, log } = run
  if (deployment.trigger !== 'rollback' || deployment.parent_id === null) return undefined
  const parentId = deployment.parent_id
  // The build is claimed in the same transaction, because an old build may be removed at any moment.
  const parent = await context.store.db.write((tx) => {
    const parentRow = findDeploymentById(tx, parentId)
    if (!parentRow?.artifact || parentRow.runtime !== deployment.runtime || parentRow.inputs_digest !== computeInputsDigest(run)) return undefined
    updateDeployment(tx, deployment.id, { artifact: parentRow.artifact })
    return { ...parentRow, artifact: parentRow.artifact }
  })
  if (!parent) return undefined
  log.step('detect')
  log.note('detect', `Reusing the build of ${parent.id}: settings and variables have not changed.`)
  for (const name of ['clone', 'install', 'build'] as const) log.skip(name)
  const { framework, image_bytes, inputs_digest, artifact, listen_port } = parent
  await saveProgress(run, { framework, image_bytes, inputs_digest, artifact, listen_port })
  return JSON.parse(artifact) as Artifact
}

async function startCandidate(run: PipelineRun, artifact: Artifact, onOutput: OutputListener): Promise<Candidate> {
  const { context, deployment, log, signal } = run
  signal.throwIfAborted()
  const now = context.clock.now()
  const startedAt = Date.parse(deployment.started_at ?? deployment.created_at)
  await context.store.db.write((tx) => {
    if (!compareAndSwapStatus(tx, deployment.id, ['building'], 'deploying', { build_ms: now - startedAt }))
      throw new Error('The deployment has already ended.')
    publishChange(tx, deployment.project_id, deployment.id)
  })
  log.step('start')
  return run.supervisor.launch(createAppSpec(run, artifact), signal, onOutput)
}

async function waitUntilHealthy(run: PipelineRun, candidate: Candidate, onOutput: OutputListener): Promise<Candidate> {
  const { log, signal } = run
  if (!candidate.replica) {
    log.skip('start')
    log.skip('health_check')
    return candidate
  }
  log.step('health_check')
  return run.supervisor.waitUntilServing(candidate, signal, (line) => log.note('health_check', line), onOutput)
}

async function switchTraffic(run: PipelineRun, candidate: Candidate): Promise<void> {
  const { context, deployment, project, log, signal } = run
  signal.throwIfAborted()
  log.step('route')
  const isPreview = deployment.target === 'preview'
  const host = context.routes.getHost(deployment)
  const url = context.urlOf(host)
  const purge = () => context.purgeEdgeCache(project.id, isPreview ? host : undefined)
  const promotion = run.supervisor.promote(candidate)
  let replaced: DeploymentRow | undefined
  try {
    const now = context.clock.now()
    const startedAt = Date.parse(deployment.started_at ?? deployment.created_at)
    // After the switch of traffic: responses of the previous version that are still in progress started earlier and are not stored.
    await purge()
    log.note('route', `Live at ${url}`)
    await log.end('done')
    replaced = await context.store.db.write((tx) => {
      const previous = findCurrentDeployment(tx, project.id, deployment.target, deployment.branch)
      if (previous) updateDeployment(tx, previous.id, { is_current: 0 })
      if (isPreview && !findPreview(tx, project.id, deployment.branch ?? '')) throw new Error('The preview was closed.')
      const row = findDeploymentById(tx, deployment.id)
      const isReady = compareAndSwapStatus(tx, deployment.id, ['deploying'], 'ready', {
        is_current: 1,
        url,
        finished_at: isoTime(now),
        deploy_ms: Math.max(0, now - startedAt - (row?.build_ms ?? 0)),
      })
      if (!isReady) throw new Error('The deployment has already ended.')
      if (isPreview) updatePreview(tx, project.id, deployment.branch ?? '', { is_cold: 0, updated_at: isoTime(now) })
      else updateProject(tx, project.id, { port: candidate.replica?.port ?? null, crashed_at: null, stopped_at: null, is_cold: 0 })
      recomputeProjectStatus(tx, project.id, isoTime(now))
      publishChange(tx, project.id, deployment.id)
      if (previous) tx.publish({ type: 'deployment_changed', id: previous.id })
      return previous
    })
  } catch (error) {
    await promotion.revert()
    // Removes the candidate's cached responses, because the previous version gets the traffic back.
    await purge()
    throw error
  }
  // Draining the previous version takes up to ten seconds, so the deployment does not wait for it.
  void promotion.commit().catch((error: unknown) => context.log.warn('old_instance_not_stopped', { deployment: replaced?.id, error }))
}

export function createAppSpec(run: Pick<PipelineRun, 'deployment' | 'project' | 'secrets' | 'context'>, artifact: Artifact): AppSpec {
  const { deployment, project, secrets, context } = run
  const plan = context.store.db.readSync((tx) => context.getPlanLimits(tx, project.account_id))
  return {
    project_id: project.id,
    deployment_id: deployment.id,
    target: deployment.target,
    branch: deployment.branch,
    runtime: deployment.runtime,
    artifact,
    listen_port: deployment.listen_port,
    // The plan may have been downgraded since the project's limit was set.
    memory_mb: Math.min(project.memory_limit_mb, plan.memory_mb),
    always_warm: project.always_warm === 1 && plan.always_warm && deployment.target === 'production',
    variables: createAppVariables(secrets.variables, { url: context.urlOf(context.routes.getHost(deployment)), deployment }),
    mask: secrets.mask,
  }
}

/** Stores new facts about the deployment, in its row and in the copy that the steps read. */
async function saveProgress(run: PipelineRun, change: Partial<Omit<DeploymentRow, 'seq' | 'id' | 'status'>>): Promise<void> {
  Object.assign(run.deployment, change)
  await run.context.store.db.write((tx) => {
    updateDeployment(tx, run.deployment.id, change)
    tx.publish({ type: 'deployment_changed', id: run.deployment.id })
  })
}

const getBuildSettings = ({ node_version, install_command, build_command, root_directory }: ProjectRow): BuildSettings => ({
  node_version,
  install_command,
  build_command,
  root_directory,
})

function computeInputsDigest(run: PipelineRun): string {
  const variables = Object.entries(run.secrets.variables).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([run.deployment.runtime, getBuildSettings(run.project), variables]))
    .digest('hex')
}
