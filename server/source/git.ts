import { mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isBranchName } from '../contract/shared.ts'
import { parseAddress, restrictToPublic } from './address.ts'
import { gitEnvironment, safeSettings } from './environment.ts'
import { checkOut, connect, isMissingProgram, mustWork, usable, type GitHost } from './git-fetch.ts'
import { fetchLargeFiles } from './large-files.ts'
import { removeLinksThatLeave } from './links.ts'
import { runGit } from './process.ts'
import { SourceFailure, type FetchOptions, type Source, type SourceRequest } from './source.ts'
import { fetchSubmodules } from './submodules.ts'

type GitRequest = Extract<SourceRequest, { kind: 'git' }>

/**
 * Fetches one commit of one branch into `into/source`, without history, and leaves no `.git` behind. Nothing of the repository runs:
 * no hook, no filter but that of Git LFS, which is started by us; links that lead out of it are left out.
 */
export async function fetchGit(request: GitRequest, options: FetchOptions, host: GitHost): Promise<Source> {
  const { into, log, signal } = options
  const note = (line: string) => log.note('clone', line)
  if (!isBranchName(request.branch))
    throw new SourceFailure(`“${request.branch}” is not a name that git allows for a branch.`, 'Check the branch in the project’s settings.')
  if (request.commit_sha !== null && !/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(request.commit_sha)) {
    throw new SourceFailure('The commit of this deployment is not a full commit id.', 'Deploy the branch instead.')
  }
  const parsed = parseAddress(request.url)
  const address = request.allow_local ? parsed : await restrictToPublic(parsed, signal)
  const credentials = usable(request.credentials ?? parsed.credentials)
  const home = join(into, 'home')
  await mkdir(home, { recursive: true, mode: 0o700 })
  await mkdir(join(into, 'source'), { recursive: true })
  const folder = await realpath(join(into, 'source'))

  const connecting = { host, home, log, signal }
  const main = connect(address, { branch: request.branch, folder, credentials }, connecting)
  note(
    `Fetching ${main.mask(address.url)}, ${request.commit_sha === null ? `branch ${request.branch}` : `commit ${request.commit_sha.slice(0, 12)}`}.`,
  )
  const commit = await checkOut(main, request.commit_sha)
  const description = await mustWork(await main.git(['log', '-1', '--format=%H%x00%s%x00%an', commit, '--']))
  const [commit_sha = commit, commit_message = '', commit_author = ''] = description.stdout.trimEnd().split('\0')
  const listing = (await mustWork(await main.git(['ls-files', '-s', '-z']))).stdout
  await removeLinksThatLeave(folder, folder, listing, note)
  await fetchLargeFiles(main, note)
  await fetchSubmodules({ main, credentials, allow_local: request.allow_local, root: folder }, main, listing, connecting)
  await rm(join(folder, '.git'), { recursive: true, force: true })
  await rm(home, { recursive: true, force: true })
  note(`Commit ${commit_sha.slice(0, 12)} by ${commit_author}: ${commit_message}`)
  return { folder, branch: request.branch, commit_sha, commit_message, commit_author, is_dirty: false }
}

/** What the instance's owner may see of a folder: whether git knows it, its commit, and changes that no commit holds. */
export interface FolderDescription {
  is_git: boolean
  branch: string | null
  commit_sha: string | null
  commit_message: string | null
  commit_author: string | null
  is_dirty: boolean
}

export async function describeFolder(path: string, { environment: host, clock }: GitHost, signal: AbortSignal): Promise<FolderDescription> {
  const nothing: FolderDescription = { is_git: false, branch: null, commit_sha: null, commit_message: null, commit_author: null, is_dirty: false }
  const environment = gitEnvironment(host, path)
  const git = (...args: string[]) => runGit([...safeSettings, ...args], { cwd: path, environment, signal, clock })
  const inside = await git('rev-parse', '--is-inside-work-tree').catch((error: unknown) => {
    signal.throwIfAborted()
    if (isMissingProgram(error)) return null
    throw error
  })
  if (inside?.stdout.trim() !== 'true') return nothing
  const [head, branch, status] = await Promise.all([
    git('log', '-1', '--format=%H%x00%s%x00%an'),
    git('symbolic-ref', '--short', '-q', 'HEAD'),
    git('status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=all', '--', '.'),
  ])
  const [sha = '', message = '', author = ''] = head.code === 0 ? head.stdout.trimEnd().split('\0') : []
  return {
    is_git: true,
    branch: branch.code === 0 ? branch.stdout.trim() || null : null,
    commit_sha: sha || null,
    commit_message: sha ? message : null,
    commit_author: sha ? author : null,
    is_dirty: status.stdout.length > 0,
  }
}

/** The files that git would show of a folder: known ones and new ones, without what is ignored; null when git does not know it. */
export async function listFiles(path: string, { environment: host, clock }: GitHost, signal: AbortSignal): Promise<string[] | null> {
  const run = await runGit([...safeSettings, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
    cwd: path,
    environment: gitEnvironment(host, path),
    signal,
    clock,
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    if (isMissingProgram(error)) return null
    throw error
  })
  if (run?.code !== 0 || run.stdout.length === 0) return null
  return run.stdout.split('\0').filter(Boolean)
}
