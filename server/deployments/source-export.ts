import { randomUUID } from 'node:crypto'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { StepLog } from '../contract/build-log.ts'
import type { Source } from '../contract/deployment-source.ts'
import { Problem } from '../contract/errors.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { packSource } from '../source/pack-source.ts'
import { SourceError } from '../source/source.ts'
import { listSteps } from '../store/deployments.ts'
import { findProject } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { readSource } from './deployment-row.ts'
import { getSnapshotFolder, getStoredSource } from './source-archives.ts'
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
const discardedLog: StepLog = { line() {}, note() {} }

export function createSourceExporter(context: DeploymentContext): SourceExporter {
  const root = join(context.data_dir, 'outgoing')
  const turns = createConcurrencyLimit(maxConcurrentFetches)

  /** Fetches the deployment's source again into a folder. */
  const fetchInto = async (row: DeploymentRow, source: Source, into: string, signal: AbortSignal): Promise<string> => {
    await mkdir(into, { recursive: true, mode: 0o700 })
    const stored = getStoredSource(context.data_dir, row, source)
    const credentials = source.kind === 'git' ? await findCredentials(row, source.url) : null
    const fetched = await context.fetchSource({ source, credentials, stored, into, log: discardedLog, signal })
    const isSame =
      source.kind !== 'folder' || (row.commit_sha !== null && fetched.commit_sha === row.commit_sha && !fetched.is_dirty && row.is_dirty === 0)
    if (!isSame)
      throw createNotFoundProblem(
        'The folder has changed since this deployment, and its copy is no longer stored. Deploy the folder again and export that deployment.',
      )
    return fetched.folder
  }

  const findCredentials = async (row: DeploymentRow, url: string) => {
    const project = await context.store.db.read((tx) => findProject(tx, row.project_id))
    if (!project) throw createNeverFetchedProblem()
    return project.repo_url !== null && isSameOrigin(project.repo_url, url) ? readCredentials(context, project) : null
  }

  return {
    deleteLeftovers: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),

    async exportSource(row, signal) {
      const requested = readSource(row)
      const source = requested.kind === 'git' ? { ...requested, commit_sha: row.commit_sha ?? requested.commit_sha } : requested
      if (source.kind === 'git' && source.commit_sha === null) throw createNeverFetchedProblem()
      const pack = (folder: string) => packSource(folder, { top: 'source', mtime: new Date(row.created_at), signal })
      if (source.kind === 'folder') {
        if (source.of === undefined && !(await isSourceFetched(context, row))) throw createNeverFetchedProblem()
        const folder = getSnapshotFolder(context.data_dir, source.of ?? row.id)
        if (await pathExists(folder)) return pack(folder)
        if (source.of !== undefined) throw createNotFoundProblem('The copy of the folder is no longer stored. Deploy the folder again.')
      }
      const into = join(root, randomUUID())
      const discard = () =>
        rm(into, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) =>
          context.log.warn('source_cleanup_failed', { deployment: row.id, error }),
        )
      try {
        const folder = await turns(signal, () => fetchInto(row, source, into, signal))
        return withCleanup(pack(folder), signal, discard)
      } catch (error) {
        await discard()
        if (error instanceof SourceError) throw createNotFoundProblem(`${error.message} ${error.hint}`, error)
        throw error
      }
    },
  }
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
const createNeverFetchedProblem = () => createNotFoundProblem('This deployment has no source yet, because the source was not fetched.')
