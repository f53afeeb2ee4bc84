import { cp, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { StepLog } from '../../contract/build-log.ts'
import type { FetchedSource } from '../../source/source.ts'
import { type DeploymentRun, saveProgress } from '../deployment-run.ts'
import { readSource } from '../deployment-row.ts'
import { replaceSourceDigests } from '../../store/source-files.ts'
import { getStoredSource } from '../source-archives.ts'
import { countChangedFiles, summarizeSource } from '../source-files.ts'

/** The folder of a deployment's source while it builds. */
export const getWorkFolder = (dataDir: string, deploymentId: string): string => join(dataDir, 'work', deploymentId)

/** Fetches the source into the work folder. */
export async function clone(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'> {
  if (run.version) return 'skipped'
  const source = await fetchSource(run, log)
  run.source = source
  await saveProgress(run, {
    branch: source.branch ?? run.deployment.branch,
    commit_sha: source.commit_sha,
    commit_message: source.commit_message,
    commit_author: source.commit_author,
    is_dirty: source.is_dirty ? 1 : 0,
    ...(await identifySource(run, source.folder)),
  })
}

/** The size of a new folder or archive, and how many of its files differ from the one before it. */
async function identifySource({ context, deployment, project, signal }: DeploymentRun, folder: string) {
  const source = readSource(deployment)
  // The row has the facts of a stored copy, and those of an attempt that was interrupted.
  if (source.kind === 'git' || deployment.source_bytes !== null) return {}
  const { bytes, digests } = await summarizeSource(folder, signal)
  const before = await context.store.db.write((tx) => replaceSourceDigests(tx, project.id, digests))
  return { source_bytes: bytes, files_changed: before && digests ? countChangedFiles(before, digests) : null }
}

async function fetchSource(run: DeploymentRun, log: StepLog): Promise<FetchedSource> {
  const { context, deployment, project, secrets, signal } = run
  const source = readSource(deployment)
  const stored = getStoredSource(context.data_dir, deployment, source)
  const credentials = source.kind === 'git' ? secrets.getRepositoryCredentials(project, source.url) : null
  const into = getWorkFolder(context.data_dir, deployment.id)
  await mkdir(into, { recursive: true, mode: 0o700 })
  const fetched = await context.fetchSource({ source, credentials, stored, into, log, signal })
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
