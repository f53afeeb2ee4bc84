import { randomUUID } from 'node:crypto'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildLog } from '../contract/build-log.ts'
import { Problem } from '../contract/errors.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { packSource } from '../source/pack-source.ts'
import { SourceError, type SourceRequest } from '../source/source.ts'
import { listSteps } from '../store/deployments.ts'
import { findProject } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { getArchiveFile, getSnapshotFolder } from './source-archives.ts'
import type { SourceRef } from './source-ref.ts'
import { readCredentials, isSameOrigin } from './variables.ts'
import type { DeploymentContext } from './context.ts'

/** Exports the source of a deployment, to be built on another instance. */
export interface SourceExporter {
  /** Deletes leftovers of the previous run. */
  deleteLeftovers(): Promise<void>
  /** A .tar.gz of the source. Throws `source_not_found`; temporary files are deleted when the reader ends or `signal` aborts. */
  exportSource(deployment: DeploymentRow, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

/** Limits concurrent fetches, across all callers. */
const maxConcurrentFetches = 2
const discardedLog: BuildLog = { line() {}, note() {}, step() {}, skip() {} }

export function createSourceExporter(context: DeploymentContext): SourceExporter {
  const root = join(context.data_dir, 'outgoing')
  const turns = createConcurrencyLimit(maxConcurrentFetches)

  /** Fetches the deployment's source again into a folder. */
  const fetchInto = async (row: DeploymentRow, ref: SourceRef, into: string, signal: AbortSignal): Promise<string> => {
    await mkdir(into, { recursive: true, mode: 0o700 })
    const source = await context.fetchSource({ request: await createSourceRequest(context, row, ref), into, log: discardedLog, signal })
    const isSame =
      ref.kind !== 'folder' || (row.commit_sha !== null && source.commit_sha === row.commit_sha && !source.is_dirty && row.is_dirty === 0)
    if (!isSame)
      throw createNotFoundProblem(
        'The folder has changed since this deployment, and its copy is no longer stored. Deploy the folder again and export that deployment.',
      )
    return source.folder
  }

  return {
    deleteLeftovers: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),

    async exportSource(row, signal) {
      const ref = JSON.parse(row.source_request) as SourceRef
      const pack = (folder: string) => packSource(folder, { top: 'source', mtime: new Date(row.created_at), signal })
      const snapshotId = ref.kind === 'folder' ? row.id : ref.kind === 'snapshot' ? ref.deployment_id : undefined
      if (ref.kind === 'folder' && !(await isSourceFetched(context, row))) throw createNeverFetchedProblem()
      if (snapshotId !== undefined) {
        const folder = getSnapshotFolder(context.data_dir, snapshotId)
        if (await pathExists(folder)) return pack(folder)
        if (ref.kind === 'snapshot') throw createNotFoundProblem('The copy of the folder is no longer stored. Deploy the folder again.')
      }
      const into = join(root, randomUUID())
      const discard = () =>
        rm(into, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) =>
          context.log.warn('source_not_removed', { deployment: row.id, error }),
        )
      try {
        const folder = await turns(signal, () => fetchInto(row, ref, into, signal))
        return withCleanup(pack(folder), signal, discard)
      } catch (error) {
        await discard()
        if (error instanceof SourceError) throw createNotFoundProblem(`${error.message} ${error.hint}`, error)
        throw error
      }
    },
  }
}

async function createSourceRequest(context: DeploymentContext, row: DeploymentRow, ref: SourceRef): Promise<SourceRequest> {
  if (ref.kind === 'bundle') return { kind: 'archive', file: getArchiveFile(context.data_dir, row.project_id, ref.deployment_id) }
  if (ref.kind === 'folder') return { kind: 'folder', path: ref.path }
  const project = await context.store.db.read((tx) => findProject(tx, row.project_id))
  const commit_sha = row.commit_sha ?? (ref.kind === 'git' ? ref.commit_sha : null)
  if (ref.kind !== 'git' || !project || commit_sha === null) throw createNeverFetchedProblem()
  const isProjectRepository = project.repo_url !== null && isSameOrigin(project.repo_url, ref.url)
  return { ...ref, commit_sha, credentials: isProjectRepository ? readCredentials(context, project) : null }
}

/** Runs the clean-up however the stream ends: read to the end, abandoned, or never started. */
function withCleanup(chunks: AsyncGenerator<Uint8Array>, signal: AbortSignal, discard: () => Promise<void>): AsyncIterable<Uint8Array> {
  let closing: Promise<void> | undefined
  const close = () => (closing ??= chunks.return(undefined).then(discard, discard))
  const abort = () => void close()
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return {
    async *[Symbol.asyncIterator]() {
      try {
        yield* chunks
      } finally {
        signal.removeEventListener('abort', abort)
        await close()
      }
    },
  }
}

/** Before that, the copy of the folder may be incomplete. */
const isSourceFetched = async (context: DeploymentContext, row: DeploymentRow): Promise<boolean> =>
  (await context.store.db.read((tx) => listSteps(tx, row.id))).some(({ name, status }) => name === 'clone' && status === 'done')

const pathExists = (folder: string): Promise<boolean> =>
  stat(folder).then(
    () => true,
    () => false,
  )

const createNotFoundProblem = (message: string, cause?: unknown): Problem => new Problem('source_not_found', message, { cause })
const createNeverFetchedProblem = () => createNotFoundProblem('This deployment has no source, because its source has not been fetched.')
