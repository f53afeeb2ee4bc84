import { createHash } from 'node:crypto'
import { cp, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BuildSettings } from '../contract/build-plan.ts'
import { isoTime } from '../lib/clock.ts'
import type { Artifact } from '../runtime/runtime.ts'
import { type Source, SourceFailure } from '../source/source.ts'
import { findCurrent, findDeploymentById, swapStatus, updateDeployment } from '../store/deployments.ts'
import { findPreview, updatePreview } from '../store/previews.ts'
import { settleProjectStatus, updateProject } from '../store/projects.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import { appVariables, type Secrets } from './variables.ts'
import type { AppSpec, Candidate } from './app.ts'
import type { Apps, OutputTap } from './apps.ts'
import type { DeploymentLog } from './build-log.ts'
import { bundleFile, snapshotFolder } from './bundles.ts'
import { announce } from './job.ts'
import type { YardDeps } from './yard.ts'

/** What a deployment fetches, fixed when it is enqueued and kept in its row. */
export type SourceRef =
  | { kind: 'git'; url: string; branch: string; commit_sha: string | null; allow_local: boolean }
  | { kind: 'folder'; path: string }
  /** The copy that an earlier deployment of a folder kept. */
  | { kind: 'snapshot'; deployment_id: string }
  /** The archive that a deployment brought: this one, or the one that it repeats. */
  | { kind: 'bundle'; deployment_id: string }

export interface Run {
  deps: YardDeps
  apps: Apps
  deployment: DeploymentRow
  project: ProjectRow
  secrets: Secrets
  log: DeploymentLog
  signal: AbortSignal
}

/** One deployment, from source to traffic. Every step either holds or throws; the caller says how it ended. */
export async function runDeployment(run: Run): Promise<void> {
  const artifact = (await reusableArtifact(run)) ?? (await fetchAndBuild(run))
  let starting = true
  let isPortTaken = false
  const tap: OutputTap = (stream, line) => {
    if (starting) run.log.line('start', stream, line)
    isPortTaken ||= line.includes('EADDRINUSE')
  }
  let candidate = await start(run, artifact, tap)
  let aside: Awaited<ReturnType<Apps['stepAside']>>
  try {
    try {
      candidate = await healthy(run, candidate, tap)
    } catch (error) {
      aside = isPortTaken && !run.signal.aborted ? await run.apps.stepAside(candidate.spec) : undefined
      if (!aside) throw error
      const { listen_port } = aside
      run.log.note(
        'health_check',
        `Warning: the live version is stopped while this one starts, because both listen on port ${listen_port}. On the port in the variable PORT they can run side by side.`,
      )
      await run.apps.withdraw(candidate)
      candidate = await run.apps.launch({ ...candidate.spec, listen_port }, run.signal, tap)
      candidate = await healthy(run, candidate, tap)
    }
    starting = false
    await switchOver(run, candidate)
  } catch (error) {
    await run.apps.withdraw(candidate).catch(() => {})
    await aside?.resume()
    throw error
  }
}

export const workFolder = (dataDir: string, deploymentId: string): string => join(dataDir, 'work', deploymentId)

async function fetchAndBuild(run: Run): Promise<Artifact> {
  const { deps, deployment, project, log, signal } = run
  const folder = workFolder(deps.data_dir, deployment.id)
  try {
    log.step('clone')
    const source = await fetch(run, folder)
    await remember(run, {
      branch: source.branch ?? deployment.branch,
      commit_sha: source.commit_sha,
      commit_message: source.commit_message,
      commit_author: source.commit_author,
      is_dirty: source.is_dirty ? 1 : 0,
    })

    log.step('detect')
    const plan = await deps.planBuild({ folder: source.folder, settings: settingsOf(project) })
    for (const sentence of plan.explanation) log.note('detect', sentence)
    await remember(run, { framework: plan.framework })

    const artifact = await deps.runtime(deployment.runtime).build({
      project_id: project.id,
      deployment_id: deployment.id,
      folder: source.folder,
      plan,
      variables: run.secrets.variables,
      memory_mb: deps.settings().build_memory_mb,
      cpus: deps.cpus,
      log,
      signal,
    })
    await remember(run, { artifact: JSON.stringify(artifact), image_bytes: artifact.bytes, inputs_digest: inputsDigest(run) })
    return artifact
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function fetch(run: Run, into: string): Promise<Source> {
  const { deps, deployment, project, log, signal } = run
  const ref = JSON.parse(deployment.source_request) as SourceRef
  await mkdir(into, { recursive: true, mode: 0o700 })
  // A copy and an archive have no repository beside them that says what they are of.
  const { branch, commit_sha, commit_message, commit_author, is_dirty } = deployment
  const known = { branch, commit_sha, commit_message, commit_author, is_dirty: is_dirty === 1 }
  if (ref.kind === 'git')
    return deps.fetchSource({
      request: { ...ref, credentials: run.secrets.repository(project, ref.url) },
      into,
      log,
      signal,
    })
  if (ref.kind === 'bundle') {
    const file = bundleFile(deps.data_dir, project.id, ref.deployment_id)
    return { ...(await deps.fetchSource({ request: { kind: 'archive', file }, into, log, signal })), ...known }
  }
  const copy = snapshotFolder(deps.data_dir, ref.kind === 'folder' ? deployment.id : ref.deployment_id)
  if (ref.kind === 'folder') {
    const source = await deps.fetchSource({ request: { kind: 'folder', path: ref.path }, into, log, signal })
    // Kept as it is now, before anything is built in it: a retry or a roll-back starts from here.
    await rm(copy, { recursive: true, force: true })
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
    await cp(source.folder, copy, { recursive: true, verbatimSymlinks: true })
    return source
  }
  log.note('clone', 'The folder as it was when it was deployed.')
  try {
    await cp(copy, into, { recursive: true, verbatimSymlinks: true })
  } catch (error) {
    throw new SourceFailure('The copy of that folder is no longer kept.', 'Deploy the folder again.', 'clone_failed', error)
  }
  return { folder: into, ...known }
}

/** A rollback takes what its parent built, when the settings and variables are still the same and it is still there. */
async function reusableArtifact(run: Run): Promise<Artifact | undefined> {
  const { deps, deployment, log } = run
  if (deployment.trigger !== 'rollback' || deployment.parent_id === null) return undefined
  const parentId = deployment.parent_id
  // Taken in the step in which it is found: an old build may be let go at any moment.
  const parent = await deps.store.db.write((tx) => {
    const found = findDeploymentById(tx, parentId)
    if (!found?.artifact || found.runtime !== deployment.runtime || found.inputs_digest !== inputsDigest(run)) return undefined
    updateDeployment(tx, deployment.id, { artifact: found.artifact })
    return { ...found, artifact: found.artifact }
  })
  if (!parent) return undefined
  log.step('detect')
  log.note('detect', `Settings and variables are those of ${parent.id}: its build is used again.`)
  for (const name of ['clone', 'install', 'build'] as const) log.skip(name)
  const { framework, image_bytes, inputs_digest, artifact, listen_port } = parent
  await remember(run, { framework, image_bytes, inputs_digest, artifact, listen_port })
  return JSON.parse(artifact) as Artifact
}

async function start(run: Run, artifact: Artifact, tap: OutputTap): Promise<Candidate> {
  const { deps, deployment, log, signal } = run
  signal.throwIfAborted()
  const now = deps.clock.now()
  const began = Date.parse(deployment.started_at ?? deployment.created_at)
  const moved = await deps.store.db.write((tx) => swapStatus(tx, deployment.id, ['building'], 'deploying', { build_ms: now - began }))
  if (!moved) throw new Error('The deployment was ended by somebody else.')
  announce(deps, deployment.project_id, deployment.id)
  log.step('start')
  return run.apps.launch(specOf(run, artifact), signal, tap)
}

async function healthy(run: Run, candidate: Candidate, tap: OutputTap): Promise<Candidate> {
  const { log, signal } = run
  if (!candidate.instance) {
    log.skip('start')
    log.skip('health_check')
    return candidate
  }
  log.step('health_check')
  return run.apps.untilServing(candidate, signal, (line) => log.note('health_check', line), tap)
}

async function switchOver(run: Run, candidate: Candidate): Promise<void> {
  const { deps, deployment, project, log, signal } = run
  signal.throwIfAborted()
  log.step('route')
  const isPreview = deployment.target === 'preview'
  const host = deps.routes.hostOf(deployment)
  const url = deps.urlOf(host)
  const purge = () => deps.purgeOnSwap(project.id, isPreview ? host : undefined)
  const swap = run.apps.promote(candidate)
  let replaced: DeploymentRow | undefined
  try {
    const now = deps.clock.now()
    const began = Date.parse(deployment.started_at ?? deployment.created_at)
    // After the traffic went over: what is still under way from the one before began earlier, and is not stored.
    await purge()
    log.note('route', `Live at ${url}`)
    await log.end('done')
    replaced = await deps.store.db.write((tx) => {
      const old = findCurrent(tx, project.id, deployment.target, deployment.branch)
      if (old) updateDeployment(tx, old.id, { is_current: 0 })
      if (isPreview && !findPreview(tx, project.id, deployment.branch ?? '')) throw new Error('The preview was closed.')
      const row = findDeploymentById(tx, deployment.id)
      const done = swapStatus(tx, deployment.id, ['deploying'], 'ready', {
        is_current: 1,
        url,
        finished_at: isoTime(now),
        deploy_ms: Math.max(0, now - began - (row?.build_ms ?? 0)),
      })
      if (!done) throw new Error('The deployment was ended by somebody else.')
      if (isPreview) updatePreview(tx, project.id, deployment.branch ?? '', { is_cold: 0, updated_at: isoTime(now) })
      else updateProject(tx, project.id, { port: candidate.instance?.port ?? null, crashed_at: null, stopped_at: null, is_cold: 0 })
      settleProjectStatus(tx, project.id, isoTime(now))
      return old
    })
  } catch (error) {
    await swap.revert()
    // What the candidate answered in between is not the answer of the one before.
    await purge()
    throw error
  }
  announce(deps, project.id, deployment.id)
  if (replaced) deps.bus.emit(`deployment:${replaced.id}`)
  // Draining the one before takes up to ten seconds and is nobody's wait.
  void swap.commit().catch((error: unknown) => deps.log.warn('old_instance_not_stopped', { deployment: replaced?.id, error }))
}

export function specOf(run: Pick<Run, 'deployment' | 'project' | 'secrets' | 'deps'>, artifact: Artifact): AppSpec {
  const { deployment, project, secrets, deps } = run
  const plan = deps.store.db.readNow((tx) => deps.planOf(tx, project.account_id))
  return {
    project_id: project.id,
    deployment_id: deployment.id,
    target: deployment.target,
    branch: deployment.branch,
    runtime: deployment.runtime,
    artifact,
    listen_port: deployment.listen_port,
    // The plan may have become a smaller one since the project was set so.
    memory_mb: Math.min(project.memory_limit_mb, plan.memory_mb),
    always_warm: project.always_warm === 1 && plan.always_warm && deployment.target === 'production',
    variables: appVariables(secrets.variables, { url: deps.urlOf(deps.routes.hostOf(deployment)), deployment }),
    mask: secrets.mask,
  }
}

/** Stores what became known of the deployment, in its row and in the copy that the steps read. */
async function remember(run: Run, change: Partial<Omit<DeploymentRow, 'seq' | 'id' | 'status'>>): Promise<void> {
  Object.assign(run.deployment, change)
  await run.deps.store.db.write((tx) => updateDeployment(tx, run.deployment.id, change))
  run.deps.bus.emit(`deployment:${run.deployment.id}`)
}

const settingsOf = ({ node_version, install_command, build_command, root_directory }: ProjectRow): BuildSettings => ({
  node_version,
  install_command,
  build_command,
  root_directory,
})

function inputsDigest(run: Run): string {
  const variables = Object.entries(run.secrets.variables).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([run.deployment.runtime, settingsOf(run.project), variables]))
    .digest('hex')
}
