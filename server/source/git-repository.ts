import { lstat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../lib/clock.ts'
import type { Environment } from '../lib/environment.ts'
import { listPullRequestRefs, parsePullRequestLabel } from '../lib/pull-request.ts'
import type { RepositoryAddress } from './repository-address.ts'
import { connectUrl, gitFetchEnvironment, fetchGitSettings, safeGitSettings } from './git-environment.ts'
import { classifyGitFailure, maskCredentials } from './git-failure.ts'
import { runGit, type GitResult } from './run-git.ts'
import { SourceError, type GitCredentials, type SourceFetchOptions } from './source.ts'

/** The machine's configuration for running git. */
export interface GitHost {
  environment: Environment
  /** Measures how long git prints no output. */
  clock: Clock
}

/** A repository that is fetched into a folder. */
export interface GitRepositoryConnection {
  git(args: string[], isLogged?: boolean): Promise<GitResult>
  /** The working tree; `init` makes it a repository. */
  folder: string
  address: RepositoryAddress
  url: string
  /** null: the default branch of the host. */
  branch: string | null
  mask(text: string): string
}

export interface GitConnectOptions extends Pick<SourceFetchOptions, 'log' | 'signal'> {
  host: GitHost
  /** An empty home folder for git. */
  home: string
}

export function connectRepository(
  address: RepositoryAddress,
  { branch, folder, credentials }: { branch: string | null; folder: string; credentials: GitCredentials },
  { host, home, log, signal }: GitConnectOptions,
): GitRepositoryConnection {
  const environment = gitFetchEnvironment(host.environment, home, address, credentials)
  const settings = [...safeGitSettings, ...fetchGitSettings(address, credentials !== null && address.scheme !== 'ssh' && address.scheme !== 'file')]
  const secrets = credentials ? [credentials.password, encodeURIComponent(credentials.password)] : []
  const mask = (text: string) => maskCredentials(text, secrets)
  const progress = createProgressFilter((line) => log.line('stderr', mask(line)))
  return {
    git: (args, isLogged = false) =>
      runGit([...settings, ...args], { cwd: folder, environment, signal, clock: host.clock, ...(isLogged ? { onStderr: progress } : {}) }).catch(
        throwMissingGit,
      ),
    folder,
    address,
    url: connectUrl(address),
    branch,
    mask,
  }
}

/** Checks out a commit, or the head of the branch when `sha` is null. Returns the commit. */
export async function checkOutCommit(connection: GitRepositoryConnection, sha: string | null): Promise<string> {
  await requireSuccess(await connection.git(['init', '--quiet', '--template=', '--initial-branch=homeport']))
  const commit = sha === null ? await fetchBranch(connection) : await fetchCommit(connection, sha)
  await requireSuccess(await connection.git(['checkout', '--quiet', '--force', '--detach', commit, '--'], true))
  return commit
}

/** Fetches the head of a branch. */
async function fetchBranch(connection: GitRepositoryConnection): Promise<string> {
  let run = await fetchRef(connection, branchRef(connection))
  for (const ref of otherRefs(connection)) if (run.code !== 0 && isMissingRef(run)) run = await fetchRef(connection, ref)
  if (run.code === 0) return 'FETCH_HEAD'
  if (!isMissingRef(run)) throw await classifyFetchFailure(run, connection.address)
  const heads = await connection.git(['ls-remote', '--heads', '--', connection.url])
  const names = heads.stdout.split('\n').flatMap((line) => line.match(/\trefs\/heads\/(.+)$/)?.[1] ?? [])
  if (names.length === 0) throw new SourceError('The repository is empty.', 'Push a commit, then deploy again.')
  const shown = names.slice(0, 10).join(', ')
  const more = names.length > 10 ? ` and ${names.length - 10} more` : ''
  throw new SourceError(
    `The repository has no branch “${connection.branch}”.`,
    `Available branches: ${shown}${more}. Change the branch in the project settings, or push this branch.`,
  )
}

/** Fetches an exact commit: directly where the server allows it, else through the branch with increasing depth. */
async function fetchCommit(connection: GitRepositoryConnection, sha: string): Promise<string> {
  const has = async () => (await connection.git(['cat-file', '-e', `${sha}^{commit}`])).code === 0
  const run = await fetchRef(connection, sha)
  if (run.code === 0 && (await has())) return sha
  const isGone = /not our ref/i.test(run.stderr)
  if (!isGone && !/unadvertised object|couldn't find remote ref|no such remote ref|did not (send|receive)/i.test(run.stderr))
    throw classifyGitFailure(run, connection.address.host)
  for (const ref of isGone ? [] : [branchRef(connection), ...otherRefs(connection)])
    for (const depth of [50, 1000, null]) {
      const branch = await fetchRef(connection, ref, depth)
      if (branch.code === 0 && (await has())) return sha
      if (branch.code !== 0 && !/couldn't find remote ref/i.test(branch.stderr)) throw classifyGitFailure(branch, connection.address.host)
      if (branch.code !== 0) break
    }
  throw new SourceError(
    `Commit ${sha.slice(0, 12)} no longer exists in the repository.`,
    'The branch was probably force-pushed or deleted. Deploy the head of the branch instead.',
  )
}

const isMissingRef = (run: GitResult): boolean => /couldn't find remote ref|Remote branch .* not found/i.test(run.stderr)

/** For a pull request, whose label replaces the branch. */
function otherRefs({ branch }: GitRepositoryConnection): string[] {
  const number = parsePullRequestLabel(branch)
  return number === undefined ? [] : listPullRequestRefs(number)
}

const branchRef = ({ branch }: GitRepositoryConnection): string => (branch === null ? 'HEAD' : `refs/heads/${branch}`)

/** `depth` null: the whole history. A server without shallow fetches (plain files over http) also sends the whole history. */
async function fetchRef(connection: GitRepositoryConnection, ref: string, depth: number | null = 1): Promise<GitResult> {
  const args = (shallow: string[]) => [
    'fetch',
    '--progress',
    '--no-tags',
    '--no-recurse-submodules',
    '--no-write-commit-graph',
    ...shallow,
    '--',
    connection.url,
    ref,
  ]
  if (depth === null) return connection.git(args(['--depth=2147483647']), true)
  const run = await connection.git(args([`--depth=${depth}`]), true)
  if (run.code !== 0 && /does not support shallow|dumb http transport/i.test(run.stderr)) return connection.git(args([]), true)
  return run
}

/** Distinguishes a file:// address without a folder from a folder that is not a repository. */
export async function classifyFetchFailure(run: GitResult, address: RepositoryAddress): Promise<SourceError> {
  if (address.scheme !== 'file') return classifyGitFailure(run, address.host)
  const exists = await lstat(fileURLToPath(address.url)).then(
    () => true,
    () => false,
  )
  if (!exists) return new SourceError('The folder of the repository does not exist on this machine.', 'Check the file:// address.')
  return classifyGitFailure(run, address.host)
}

export async function requireSuccess(run: GitResult): Promise<GitResult> {
  if (run.code !== 0) throw classifyGitFailure(run, '')
  return run
}

export function validateCredentials(credentials: { username: string; password: string } | null): typeof credentials {
  // oxlint-disable-next-line no-control-regex -- a line break would forge a field of git's credential protocol
  if (credentials && /[\u0000-\u001f]/.test(credentials.username + credentials.password)) {
    throw new SourceError('The credentials of the repository contain a line break.', 'Enter the credentials again.')
  }
  return credentials
}

export function throwMissingGit(error: unknown): never {
  if (isMissingExecutable(error))
    throw new SourceError('git is not installed on this machine.', 'Install git, then deploy again.', 'clone_failed', error)
  throw error
}

export const isMissingExecutable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT' && 'syscall' in error && String(error.syscall).startsWith('spawn')

/** Extracts lines from git's progress output. Of a counter that overwrites itself, only each quarter and the end are kept. */
function createProgressFilter(onLine: (line: string) => void): (text: string) => void {
  let rest = ''
  let last = ''
  return (text) => {
    const parts = (rest + text).split(/\r\n|\r|\n/)
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const line = part.trimEnd()
      const percent = line.match(/^(.*?):\s+(\d+)%/)
      const isUnderWay = percent !== null && !line.endsWith('done.')
      const lineKey = isUnderWay ? `${percent[1]} ${Math.floor(Number(percent[2]) / 25)}` : line
      if (line === '' || lineKey === last || (isUnderWay && !/^(Receiving|Resolving|Updating)/.test(line))) continue
      last = lineKey
      onLine(line)
    }
  }
}
