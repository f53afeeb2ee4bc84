import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock, timeoutSignal } from '../lib/clock.ts'
import { ArchiveError, unpackArchive } from './archive.ts'
import type { Environment } from '../lib/environment.ts'
import { gitEnvironment } from './git-environment.ts'
import { runGit } from './run-git.ts'
import { fetchFolder } from './fetch-folder.ts'
import { type ListBranchesRequest, listBranches } from './branches.ts'
import { describeFolder, fetchGit, type FolderDescription } from './fetch-git.ts'
import type { GitHost } from './git-repository.ts'
import { formatLfsWarning } from './git-lfs.ts'
import { SourceError, type SourceFetchOptions, type FetchedSource } from './source.ts'

export { SourceError, type SourceFetchOptions, type FetchedSource, type SourceRequest } from './source.ts'
export type { ListBranchesRequest } from './branches.ts'
export { watchRepository, type RepositoryWatcher } from './watch-repository.ts'
export type { FolderDescription } from './fetch-git.ts'

export interface SourceFetcher {
  /** Fills `into` with the source and says what it is. On failure (SourceFailure) and abort `into` is empty again. */
  fetchSource(options: SourceFetchOptions): Promise<FetchedSource>
  /** The branches of a repository, each with its commit. On failure SourceFailure: then nothing is known of them. */
  listBranches(request: ListBranchesRequest, signal: AbortSignal): Promise<Map<string, string>>
  /** What git knows of a folder of this machine; `is_git` false when it knows nothing. */
  describeFolder(path: string, signal?: AbortSignal): Promise<FolderDescription>
  /** `git version 2.47.0`, or undefined when there is no git. */
  gitVersion(): Promise<string | undefined>
}

/**
 * `environment` is the host's: PATH, certificates, proxies and ssh's agent are taken from it, nothing else. `clock` measures for how
 * long git prints nothing: real time by default, because git is an outside program whatever the platform's clock shows.
 */
export function createSourceFetcher({ environment, clock = systemClock }: { environment: Environment; clock?: Clock }): SourceFetcher {
  const host: GitHost = { environment, clock }
  return {
    async fetchSource(options) {
      const { request, into } = options
      await mkdir(into, { recursive: true })
      try {
        const source = await fetchByKind(options, host)
        const warning = await formatLfsWarning(source.folder, lfsAdvice[request.kind])
        if (warning !== undefined) options.log.note('clone', warning)
        return source
      } catch (error) {
        await emptyFolder(into)
        throw error
      }
    },
    listBranches: (request, signal) => listBranches(request, host, signal),
    async gitVersion() {
      try {
        const run = await runGit(['--version'], {
          environment: gitEnvironment(host.environment, '/'),
          signal: timeoutSignal(systemClock, 2_000),
          clock,
        })
        return run.code === 0 ? run.stdout.trim() : undefined
      } catch {
        return undefined
      }
    },
    describeFolder: (path, signal = new AbortController().signal) => describeFolder(path, host, signal),
  }
}

function fetchByKind(options: SourceFetchOptions, host: GitHost): Promise<FetchedSource> {
  const { request } = options
  if (request.kind === 'archive') return fetchArchive(request.file, options)
  return request.kind === 'git' ? fetchGit(request, options, host) : fetchFolder(request.path, options, host)
}

const lfsAdvice = {
  git: 'Install git-lfs on the machine of this instance, then deploy again; where repositories of other people are deployed, it is not used.',
  folder: 'Run git lfs pull in the folder, then deploy again.',
  archive: 'Run git lfs pull before you pack the archive.',
}

async function fetchArchive(file: string, { into, log, signal }: SourceFetchOptions): Promise<FetchedSource> {
  try {
    const { folder, files, left_out, bytes } = await unpackArchive(file, join(into, 'source'), signal)
    log.note('clone', `${files} files unpacked from the archive, ${bytes} bytes.`)
    if (await readFile(join(folder, '.gitmodules'), 'utf8').catch(() => ''))
      log.note(
        'clone',
        'Warning: the archive comes from a repository with submodules. Archives that hosts make leave them out: their folders may be empty.',
      )
    if (left_out > 0) log.note('clone', `Left out ${left_out} entries that tools make (node_modules, .git and the like).`)
    return { folder, branch: null, commit_sha: null, commit_message: null, commit_author: null, is_dirty: false }
  } catch (error) {
    if (error instanceof ArchiveError)
      throw new SourceError(`The archive cannot be used. ${error.message}`, 'Upload it again.', 'clone_failed', error)
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new SourceError('The archive is no longer kept.', 'Upload it again.', 'clone_failed', error)
    throw error
  }
}

async function emptyFolder(folder: string): Promise<void> {
  // A helper of git that dies this moment may still hold or make a file: hence the retries.
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
}
