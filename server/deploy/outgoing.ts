import { randomUUID } from 'node:crypto'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildLog } from '../contract/build-log.ts'
import { Problem } from '../contract/errors.ts'
import { createTurns } from '../lib/turns.ts'
import { packSource } from '../source/pack.ts'
import { SourceFailure, type SourceRequest } from '../source/source.ts'
import { listSteps } from '../store/deployments.ts'
import { findProject } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { bundleFile, snapshotFolder } from './bundles.ts'
import type { SourceRef } from './run.ts'
import { readCredentials, sameOrigin } from './variables.ts'
import type { YardDeps } from './yard.ts'

/** Sources on their way out: what a deployment was built from, to be built elsewhere. */
export interface Outgoing {
  /** Takes away what the last run left. */
  clear(): Promise<void>
  /** A .tar.gz of exactly that source. Throws `source_not_found`; nothing of it is left on the disk when the reader ends or `signal` aborts. */
  read(deployment: DeploymentRow, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

/** Fetched or unpacked at once, for all who ask. */
const fetchedAtOnce = 2
const silent: BuildLog = { line() {}, note() {}, step() {}, skip() {} }

export function createOutgoing(deps: YardDeps): Outgoing {
  const root = join(deps.data_dir, 'outgoing')
  const turns = createTurns(fetchedAtOnce)

  /** Fills a folder anew with what the deployment began from. */
  const fetch = async (row: DeploymentRow, ref: SourceRef, into: string, signal: AbortSignal): Promise<string> => {
    await mkdir(into, { recursive: true, mode: 0o700 })
    const source = await deps.fetchSource({ request: await requestOf(deps, row, ref), into, log: silent, signal })
    const isSame =
      ref.kind !== 'folder' || (row.commit_sha !== null && source.commit_sha === row.commit_sha && !source.is_dirty && row.is_dirty === 0)
    if (!isSame) throw gone('The folder has changed since, and its copy is no longer kept. Deploy it again, and take the source of that.')
    return source.folder
  }

  return {
    clear: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),

    async read(row, signal) {
      const ref = JSON.parse(row.source_request) as SourceRef
      const pack = (folder: string) => packSource(folder, { top: 'source', mtime: new Date(row.created_at), signal })
      const copy = ref.kind === 'folder' ? row.id : ref.kind === 'snapshot' ? ref.deployment_id : undefined
      if (ref.kind === 'folder' && !(await wasFetched(deps, row))) throw neverHad()
      if (copy !== undefined) {
        const folder = snapshotFolder(deps.data_dir, copy)
        if (await isThere(folder)) return pack(folder)
        if (ref.kind === 'snapshot') throw gone('The copy of that folder is no longer kept. Deploy the folder again.')
      }
      const into = join(root, randomUUID())
      const discard = () =>
        rm(into, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) =>
          deps.log.warn('source_not_removed', { deployment: row.id, error }),
        )
      try {
        const folder = await turns(signal, () => fetch(row, ref, into, signal))
        return endingWith(pack(folder), signal, discard)
      } catch (error) {
        await discard()
        if (error instanceof SourceFailure) throw gone(`${error.message} ${error.hint}`, error)
        throw error
      }
    },
  }
}

async function requestOf(deps: YardDeps, row: DeploymentRow, ref: SourceRef): Promise<SourceRequest> {
  if (ref.kind === 'bundle') return { kind: 'archive', file: bundleFile(deps.data_dir, row.project_id, ref.deployment_id) }
  if (ref.kind === 'folder') return { kind: 'folder', path: ref.path }
  const project = await deps.store.db.read((tx) => findProject(tx, row.project_id))
  const commit_sha = row.commit_sha ?? (ref.kind === 'git' ? ref.commit_sha : null)
  if (ref.kind !== 'git' || !project || commit_sha === null) throw neverHad()
  const isItsOwn = project.repo_url !== null && sameOrigin(project.repo_url, ref.url)
  return { ...ref, commit_sha, credentials: isItsOwn ? readCredentials(deps, project) : null }
}

/** However it ends: read to the end, given up half-way, or never begun. */
function endingWith(chunks: AsyncGenerator<Uint8Array>, signal: AbortSignal, discard: () => Promise<void>): AsyncIterable<Uint8Array> {
  let ending: Promise<void> | undefined
  const end = () => (ending ??= chunks.return(undefined).then(discard, discard))
  const leave = () => void end()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  return {
    async *[Symbol.asyncIterator]() {
      try {
        yield* chunks
      } finally {
        signal.removeEventListener('abort', leave)
        await end()
      }
    },
  }
}

/** Until then the copy of its folder may be half of it. */
const wasFetched = async (deps: YardDeps, row: DeploymentRow): Promise<boolean> =>
  (await deps.store.db.read((tx) => listSteps(tx, row.id))).some(({ name, status }) => name === 'clone' && status === 'done')

const isThere = (folder: string): Promise<boolean> =>
  stat(folder).then(
    () => true,
    () => false,
  )

const gone = (message: string, cause?: unknown): Problem => new Problem('source_not_found', message, { cause })
const neverHad = () => gone('This deployment has no source: it did not get as far as fetching one, or has not yet.')
