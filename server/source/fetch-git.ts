import { mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitSource } from '../contract/deployment-source.ts'
import { isBranchName } from '../contract/shared.ts'
import { parsePullRequestLabel } from '../lib/pull-request.ts'
import { parseRepositoryAddress, requirePublicAddress } from './repository-address.ts'
import { gitEnvironment, safeGitSettings } from './git-environment.ts'
import { checkOutCommit, connectRepository, isMissingExecutable, requireSuccess, validateCredentials, type GitHost } from './git-repository.ts'
import { fetchLfsFiles } from './git-lfs.ts'
import { removeEscapingLinks } from './links.ts'
import { runGit } from './run-git.ts'
import { SourceError, type SourceFetchOptions, type FetchedSource } from './source.ts'
import { fetchSubmodules } from './fetch-submodules.ts'

/**
 * Fetches one commit of one branch into `into/source`, without history, and removes `.git`. No code of the repository runs: no hooks and no filters
 * except that of Git LFS, which this module starts. Links that leave the repository are removed.
 */
export async function fetchGit(source: GitSource, options: SourceFetchOptions, host: GitHost): Promise<FetchedSource> {
  const { into, log, signal } = options
  const note = (line: string) => log.note(line)
  if (!isBranchName(source.branch))
    throw new SourceError(`“${source.branch}” is not a valid branch name.`, 'Check the branch in the project settings.')
  if (source.commit_sha !== null && !/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(source.commit_sha)) {
    throw new SourceError('The commit of this deployment is not a full commit id.', 'Deploy the branch instead.')
  }
  const parsed = parseRepositoryAddress(source.url)
  const address = source.allow_local ? parsed : await requirePublicAddress(parsed, signal)
  const credentials = validateCredentials(options.credentials ?? parsed.credentials)
  const home = join(into, 'home')
  await mkdir(home, { recursive: true, mode: 0o700 })
  await mkdir(join(into, 'source'), { recursive: true })
  const folder = await realpath(join(into, 'source'))

  const connectOptions = { host, home, log, signal }
  const main = connectRepository(address, { branch: source.branch, folder, credentials }, connectOptions)
  note(`Fetching ${main.mask(address.url)}, ${source.commit_sha === null ? `branch ${source.branch}` : `commit ${source.commit_sha.slice(0, 12)}`}.`)
  const commit = await checkOutCommit(main, source.commit_sha)
  const runs = [
    ['log', '-1', '--format=%H%x00%s%x00%an', commit, '--'],
    ['ls-files', '-s', '-z'],
  ].map((args) => main.git(args).then(requireSuccess))
  const [description = '', listing = ''] = (await Promise.all(runs)).map(({ stdout }) => stdout)
  const [commit_sha = commit, commit_message = '', commit_author = ''] = description.trimEnd().split('\0')
  await removeEscapingLinks(folder, folder, listing, note)
  await fetchLfsFiles(main, note)
  if (parsePullRequestLabel(source.branch) === undefined)
    await fetchSubmodules({ main, credentials, allow_local: source.allow_local, root: folder }, main, listing, connectOptions)
  else if (/^160000 /m.test(listing.replaceAll('\0', '\n')))
    note('Warning: submodules of a pull request are not fetched, because it could name other repositories that this project may read.')
  await rm(join(folder, '.git'), { recursive: true, force: true })
  await rm(home, { recursive: true, force: true })
  note(`Commit ${commit_sha.slice(0, 12)} by ${commit_author}: ${commit_message}`)
  return { folder, branch: source.branch, commit_sha, commit_message, commit_author, is_dirty: false }
}

/** What the instance's owner may see of a folder: whether it is a git repository, its commit, and whether it has uncommitted changes. */
export interface FolderDescription {
  is_git: boolean
  branch: string | null
  commit_sha: string | null
  commit_message: string | null
  commit_author: string | null
  is_dirty: boolean
}

export async function describeFolder(path: string, { environment: host, clock }: GitHost, signal: AbortSignal): Promise<FolderDescription> {
  const notARepository: FolderDescription = {
    is_git: false,
    branch: null,
    commit_sha: null,
    commit_message: null,
    commit_author: null,
    is_dirty: false,
  }
  const environment = gitEnvironment(host, path)
  const git = (...args: string[]) => runGit([...safeGitSettings, ...args], { cwd: path, environment, signal, clock })
  const inside = await git('rev-parse', '--is-inside-work-tree').catch((error: unknown) => {
    signal.throwIfAborted()
    if (isMissingExecutable(error)) return null
    throw error
  })
  if (inside?.stdout.trim() !== 'true') return notARepository
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

/** The tracked and untracked files of a folder, without ignored files; null when the folder is not a git repository. */
export async function listGitFiles(path: string, { environment: host, clock }: GitHost, signal: AbortSignal): Promise<string[] | null> {
  const run = await runGit([...safeGitSettings, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
    cwd: path,
    environment: gitEnvironment(host, path),
    signal,
    clock,
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    if (isMissingExecutable(error)) return null
    throw error
  })
  if (run?.code !== 0 || run.stdout.length === 0) return null
  return run.stdout.split('\0').filter(Boolean)
}
