import { lstat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../lib/clock.ts'
import type { Environment } from '../lib/environment.ts'
import type { RepositoryAddress } from './address.ts'
import { connectUrl, fetchEnvironment, fetchSettings, safeSettings } from './environment.ts'
import { classify, maskText } from './failure.ts'
import { runGit, type GitRun } from './process.ts'
import { SourceFailure, type FetchOptions } from './source.ts'

/** Where git runs. */
export interface GitHost {
  environment: Environment
  /** Measures for how long git prints nothing. */
  clock: Clock
}

/** One repository that is fetched into a folder. */
export interface Connection {
  git(args: string[], isLogged?: boolean): Promise<GitRun>
  /** Its working tree, which becomes a repository by `init`. */
  folder: string
  address: RepositoryAddress
  url: string
  /** null: the one that its host names. */
  branch: string | null
  mask(text: string): string
}

export interface ConnectOptions extends Pick<FetchOptions, 'log' | 'signal'> {
  host: GitHost
  /** An empty home folder for git. */
  home: string
}

export type Credentials = { username: string; password: string } | null

export function connect(
  address: RepositoryAddress,
  { branch, folder, credentials }: { branch: string | null; folder: string; credentials: Credentials },
  { host, home, log, signal }: ConnectOptions,
): Connection {
  const environment = fetchEnvironment(host.environment, home, address, credentials)
  const settings = [...safeSettings, ...fetchSettings(address, credentials !== null && address.scheme !== 'ssh' && address.scheme !== 'file')]
  const secrets = credentials ? [credentials.password, encodeURIComponent(credentials.password)] : []
  const mask = (text: string) => maskText(text, secrets)
  const progress = createProgress((line) => log.line('clone', 'stderr', mask(line)))
  return {
    git: (args, isLogged = false) =>
      runGit([...settings, ...args], { cwd: folder, environment, signal, clock: host.clock, ...(isLogged ? { onStderr: progress } : {}) }).catch(
        missingGit,
      ),
    folder,
    address,
    url: connectUrl(address),
    branch,
    mask,
  }
}

/** Makes the working tree of a commit, or of the head of the branch when it is null; its name for git. */
export async function checkOut(connection: Connection, sha: string | null): Promise<string> {
  await mustWork(await connection.git(['init', '--quiet', '--template=', '--initial-branch=homeport']))
  const commit = sha === null ? await fetchBranch(connection) : await fetchCommit(connection, sha)
  await mustWork(await connection.git(['checkout', '--quiet', '--force', '--detach', commit, '--'], true))
  return commit
}

/** The head of a branch. */
async function fetchBranch(fetch: Connection): Promise<string> {
  const run = await fetchRef(fetch, refOf(fetch))
  if (run.code === 0) return 'FETCH_HEAD'
  if (!/couldn't find remote ref|Remote branch .* not found/i.test(run.stderr)) throw await explainLocal(run, fetch.address)
  const heads = await fetch.git(['ls-remote', '--heads', '--', fetch.url])
  const names = heads.stdout.split('\n').flatMap((line) => line.match(/\trefs\/heads\/(.+)$/)?.[1] ?? [])
  if (names.length === 0) throw new SourceFailure('The repository is empty: it has no branch yet.', 'Push a first commit, then deploy again.')
  const shown = names.slice(0, 10).join(', ')
  const more = names.length > 10 ? ` and ${names.length - 10} more` : ''
  throw new SourceFailure(
    `The repository has no branch “${fetch.branch}”.`,
    `It has: ${shown}${more}. Set the project’s branch to one of them, or push this one.`,
  )
}

/** An exact commit: by itself where the server allows it, else out of the branch, ever deeper. */
async function fetchCommit(fetch: Connection, sha: string): Promise<string> {
  const has = async () => (await fetch.git(['cat-file', '-e', `${sha}^{commit}`])).code === 0
  const run = await fetchRef(fetch, sha)
  if (run.code === 0 && (await has())) return sha
  const isGone = /not our ref/i.test(run.stderr)
  if (!isGone && !/unadvertised object|couldn't find remote ref|no such remote ref|did not (send|receive)/i.test(run.stderr))
    throw classify(run, fetch.address.host)
  for (const depth of isGone ? [] : [50, 1000, null]) {
    const branch = await fetchRef(fetch, refOf(fetch), depth)
    if (branch.code === 0 && (await has())) return sha
    if (branch.code !== 0 && !/couldn't find remote ref/i.test(branch.stderr)) throw classify(branch, fetch.address.host)
    if (branch.code !== 0) break
  }
  throw new SourceFailure(
    `Commit ${sha.slice(0, 12)} is not in the repository any more.`,
    'The branch was probably rewritten (a forced push) or deleted. Deploy the head of the branch instead.',
  )
}

const refOf = ({ branch }: Connection): string => (branch === null ? 'HEAD' : `refs/heads/${branch}`)

/** `depth` null: the whole history. A server without shallow fetches (plain files over http) gives the whole history as well. */
async function fetchRef(fetch: Connection, ref: string, depth: number | null = 1): Promise<GitRun> {
  const args = (shallow: string[]) => [
    'fetch',
    '--progress',
    '--no-tags',
    '--no-recurse-submodules',
    '--no-write-commit-graph',
    ...shallow,
    '--',
    fetch.url,
    ref,
  ]
  if (depth === null) return fetch.git(args(['--depth=2147483647']), true)
  const run = await fetch.git(args([`--depth=${depth}`]), true)
  if (run.code !== 0 && /does not support shallow|dumb http transport/i.test(run.stderr)) return fetch.git(args([]), true)
  return run
}

/** A file:// address that leads nowhere is told apart from one that is no repository. */
export async function explainLocal(run: GitRun, address: RepositoryAddress): Promise<SourceFailure> {
  if (address.scheme !== 'file') return classify(run, address.host)
  const there = await lstat(fileURLToPath(address.url)).then(
    () => true,
    () => false,
  )
  if (!there) return new SourceFailure('The folder of the repository is not on this machine.', 'Check the file:// address.')
  return classify(run, address.host)
}

export async function mustWork(run: GitRun): Promise<GitRun> {
  if (run.code !== 0) throw classify(run, '')
  return run
}

export function usable(credentials: { username: string; password: string } | null): typeof credentials {
  // oxlint-disable-next-line no-control-regex -- a line break would forge a field of git's credential protocol
  if (credentials && /[\u0000-\u001f]/.test(credentials.username + credentials.password)) {
    throw new SourceFailure('The credentials of the repository hold a line break.', 'Enter them again.')
  }
  return credentials
}

export function missingGit(error: unknown): never {
  if (isMissingProgram(error))
    throw new SourceFailure('git is not installed on this machine.', 'Install git, then deploy again.', 'clone_failed', error)
  throw error
}

export const isMissingProgram = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT' && 'syscall' in error && String(error.syscall).startsWith('spawn')

/** Lines out of git's progress: of a count that overwrites itself only each quarter and the end are kept. */
function createProgress(onLine: (line: string) => void): (text: string) => void {
  let rest = ''
  let last = ''
  return (text) => {
    const parts = (rest + text).split(/\r\n|\r|\n/)
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const line = part.trimEnd()
      const percent = line.match(/^(.*?):\s+(\d+)%/)
      const isUnderWay = percent !== null && !line.endsWith('done.')
      const mark = isUnderWay ? `${percent[1]} ${Math.floor(Number(percent[2]) / 25)}` : line
      if (line === '' || mark === last || (isUnderWay && !/^(Receiving|Resolving|Updating)/.test(line))) continue
      last = mark
      onLine(line)
    }
  }
}
