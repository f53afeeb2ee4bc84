import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock, timeoutSignal } from '../lib/clock.ts'
import { ArchiveError, unpackArchive } from './archive.ts'
import type { Environment } from '../lib/environment.ts'
import { gitEnvironment } from './git-environment.ts'
import { runGit } from './run-git.ts'
import { fetchFolder } from './fetch-folder.ts'
import { type ListBranchesRequest, listBranches } from './branches.ts'
import { listChangedFiles, type ChangedFiles, type ChangedFilesRequest } from './changed-files.ts'
import { type ContainedCommitsRequest, listContainedCommits, listPullRequests, type PullRequestHead } from './pull-requests.ts'
import { describeFolder, fetchGit, type FolderDescription } from './fetch-git.ts'
import type { GitHost } from './git-repository.ts'
import { formatLfsWarning } from './git-lfs.ts'
import { SourceError, type SourceFetchOptions, type FetchedSource } from './source.ts'

export { SourceError, type SourceFetchOptions, type FetchedSource } from './source.ts'
export type { ListBranchesRequest } from './branches.ts'
export type { ContainedCommitsRequest, PullRequestHead } from './pull-requests.ts'
export type { ChangedFiles, ChangedFilesRequest } from './changed-files.ts'
export { watchRepository, type RepositoryWatcher } from './watch-repository.ts'
export type { FolderDescription } from './fetch-git.ts'

export interface SourceFetcher {
  /** Fills `into` with the source and describes it. On failure (SourceError) and on abort, `into` is left empty. */
  fetchSource(options: SourceFetchOptions): Promise<FetchedSource>
  /** The branches of a repository, each with its commit. Throws SourceError when the branches cannot be read. */
  listBranches(request: ListBranchesRequest, signal: AbortSignal): Promise<Map<string, string>>
  /** The newest pull requests that the forge publishes, open and closed. Throws SourceError. */
  listPullRequests(request: ListBranchesRequest, signal: AbortSignal): Promise<PullRequestHead[]>
  /** Those of the given commits that are among the last ones of a branch. Throws SourceError. */
  listContainedCommits(request: ContainedCommitsRequest, signal: AbortSignal): Promise<Set<string>>
  /** The files that differ between two commits; undefined when they cannot be compared. */
  listChangedFiles(request: ChangedFilesRequest, signal: AbortSignal): Promise<ChangedFiles | undefined>
  /** The git status of a folder of this machine; `is_git` is false when the folder is not a repository. */
  describeFolder(path: string, signal?: AbortSignal): Promise<FolderDescription>
  /** For example `git version 2.47.0`; undefined when git is not installed. */
  gitVersion(): Promise<string | undefined>
}

/**
 * `environment` is the host's: only PATH, certificates, proxies and the ssh agent are read. `clock` measures how long git prints no output; the
 * default is real time, because git runs outside of the platform's clock.
 */
export function createSourceFetcher({ environment, clock = systemClock }: { environment: Environment; clock?: Clock }): SourceFetcher {
  const host: GitHost = { environment, clock }
  return {
    async fetchSource(options) {
      const { source, into } = options
      await mkdir(into, { recursive: true })
      try {
        const fetched = await fetchByKind(options, host)
        const warning = await formatLfsWarning(fetched.folder, lfsAdvice[source.kind])
        if (warning !== undefined) options.log.note(warning)
        return fetched
      } catch (error) {
        await emptyFolder(into)
        throw error
      }
    },
    listBranches: (request, signal) => listBranches(request, host, signal),
    listPullRequests: (request, signal) => listPullRequests(request, host, signal),
    listContainedCommits: (request, signal) => listContainedCommits(request, host, signal),
    listChangedFiles: (request, signal) => listChangedFiles(request, host, signal),
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
  const { source } = options
  if (source.kind === 'git') return fetchGit(source, options, host)
  if (source.kind === 'archive') return fetchArchive(options)
  return source.of === undefined ? fetchFolder(source.path, options, host) : copyStoredFolder(options)
}

const lfsAdvice = {
  git: 'Install git-lfs on this instance’s machine, then deploy again. Git LFS is only available for repositories of the instance owner.',
  folder: 'Run git lfs pull in the folder, then deploy again.',
  archive: 'Run git lfs pull before you create the archive.',
}

const withoutCommit = { branch: null, commit_sha: null, commit_message: null, commit_author: null, is_dirty: false }

async function copyStoredFolder({ stored = '', into, log }: SourceFetchOptions): Promise<FetchedSource> {
  log.note('Using the stored copy of the folder.')
  const folder = join(into, 'source')
  await cp(stored, folder, { recursive: true, verbatimSymlinks: true }).catch((error: unknown) => {
    throw new SourceError('The copy of the folder is no longer stored.', 'Deploy the folder again.', 'clone_failed', error)
  })
  return { folder, ...withoutCommit }
}

async function fetchArchive({ stored = '', into, log, signal }: SourceFetchOptions): Promise<FetchedSource> {
  try {
    const { folder, files, left_out, bytes } = await unpackArchive(stored, join(into, 'source'), signal)
    log.note(`${files} ${files === 1 ? 'file' : 'files'} unpacked from the archive, ${bytes} bytes.`)
    if (await readFile(join(folder, '.gitmodules'), 'utf8').catch(() => ''))
      log.note(
        'Warning: the archive comes from a repository with submodules. Archives created by a git host do not include submodules, so their folders may be empty.',
      )
    if (left_out > 0) log.note(`Left out ${left_out} generated entries (such as node_modules and .git).`)
    return { folder, ...withoutCommit }
  } catch (error) {
    if (error instanceof ArchiveError)
      throw new SourceError(`The archive cannot be used. ${error.message}`, 'Upload it again.', 'clone_failed', error)
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new SourceError('The archive is no longer stored.', 'Upload it again.', 'clone_failed', error)
    throw error
  }
}

async function emptyFolder(folder: string): Promise<void> {
  // A git helper process that is exiting may still create a file, so the removal is retried.
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
}
