import { lstat, mkdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBranchName } from '../contract/shared.ts'
import type { Clock } from '../lib/clock.ts'
import { parseAddress, restrictToPublic, type RepositoryAddress } from './address.ts'
import type { Environment } from '../lib/environment.ts'
import { connectUrl, fetchEnvironment, fetchSettings, gitEnvironment, safeSettings } from './environment.ts'
import { classify, maskText } from './failure.ts'
import { runGit, type GitRun } from './process.ts'
import { SourceFailure, type FetchOptions, type Source, type SourceRequest } from './source.ts'

type GitRequest = Extract<SourceRequest, { kind: 'git' }>
interface Fetch {
  git(args: string[], log?: boolean): Promise<GitRun>
  url: string
  host: string
  branch: string
}

/** Where git runs. */
export interface GitHost {
  environment: Environment
  /** Measures for how long git prints nothing. */
  clock: Clock
}

/**
 * Fetches one commit of one branch into `into/source`, without history, and leaves no `.git` behind.
 * Nothing of the repository runs: no hook, no filter, no submodule; links that lead out of it are left out.
 */
export async function fetchGit(request: GitRequest, options: FetchOptions, { environment: host, clock }: GitHost): Promise<Source> {
  const { into, log, signal } = options
  if (!isBranchName(request.branch))
    throw new SourceFailure(`“${request.branch}” is not a name that git allows for a branch.`, 'Check the branch in the project’s settings.')
  if (request.commit_sha !== null && !/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(request.commit_sha)) {
    throw new SourceFailure('The commit of this deployment is not a full commit id.', 'Deploy the branch instead.')
  }
  const parsed = parseAddress(request.url)
  const address = request.allow_local ? parsed : await restrictToPublic(parsed, signal)
  const credentials = usable(request.credentials ?? parsed.credentials)
  const home = join(into, 'home')
  const folder = join(into, 'source')
  await mkdir(home, { recursive: true, mode: 0o700 })
  await mkdir(folder, { recursive: true })

  const environment = fetchEnvironment(host, home, address, credentials)
  const settings = [...safeSettings, ...fetchSettings(address, credentials !== null && address.scheme !== 'ssh' && address.scheme !== 'file')]
  const secrets = credentials ? [credentials.password, encodeURIComponent(credentials.password)] : []
  const progress = createProgress((line) => log.line('clone', 'stderr', maskText(line, secrets)))
  const git = (args: string[], isLogged = false) =>
    runGit([...settings, ...args], { cwd: folder, environment, signal, clock, ...(isLogged ? { onStderr: progress } : {}) }).catch(missingGit)

  log.note(
    'clone',
    `Fetching ${maskText(address.url, secrets)}, ${request.commit_sha === null ? `branch ${request.branch}` : `commit ${request.commit_sha.slice(0, 12)}`}.`,
  )
  await mustWork(await git(['init', '--quiet', '--template=', '--initial-branch=homeport']))
  const fetch: Fetch = { git, url: connectUrl(address), host: address.host, branch: request.branch }
  const commit = request.commit_sha === null ? await fetchBranch(fetch, address) : await fetchCommit(fetch, request.commit_sha)

  await mustWork(await git(['checkout', '--quiet', '--force', '--detach', commit, '--'], true))
  const description = await mustWork(await git(['log', '-1', '--format=%H%x00%s%x00%an', commit, '--']))
  const [commit_sha = commit, commit_message = '', commit_author = ''] = description.stdout.trimEnd().split('\0')
  await removeLinksThatLeave(folder, (await mustWork(await git(['ls-files', '-s', '-z']))).stdout, (line) => log.note('clone', line))
  await noteWhatIsMissing(folder, (line) => log.note('clone', line))
  await rm(join(folder, '.git'), { recursive: true, force: true })
  await rm(home, { recursive: true, force: true })
  log.note('clone', `Commit ${commit_sha.slice(0, 12)} by ${commit_author}: ${commit_message}`)
  return { folder, branch: request.branch, commit_sha, commit_message, commit_author, is_dirty: false }
}

async function fetchBranch(fetch: Fetch, address: RepositoryAddress): Promise<string> {
  const run = await fetchRef(fetch, `refs/heads/${fetch.branch}`)
  if (run.code === 0) return 'FETCH_HEAD'
  if (!/couldn't find remote ref|Remote branch .* not found/i.test(run.stderr)) throw await explainLocal(run, address)
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
async function fetchCommit(fetch: Fetch, sha: string): Promise<string> {
  const has = async () => (await fetch.git(['cat-file', '-e', `${sha}^{commit}`])).code === 0
  const run = await fetchRef(fetch, sha)
  if (run.code === 0 && (await has())) return sha
  const isGone = /not our ref/i.test(run.stderr)
  if (!isGone && !/unadvertised object|couldn't find remote ref|no such remote ref|did not (send|receive)/i.test(run.stderr))
    throw classify(run, fetch.host)
  for (const depth of isGone ? [] : [50, 1000, null]) {
    const branch = await fetchRef(fetch, `refs/heads/${fetch.branch}`, depth)
    if (branch.code === 0 && (await has())) return sha
    if (branch.code !== 0 && !/couldn't find remote ref/i.test(branch.stderr)) throw classify(branch, fetch.host)
    if (branch.code !== 0) break
  }
  throw new SourceFailure(
    `Commit ${sha.slice(0, 12)} is not in the repository any more.`,
    'The branch was probably rewritten (a forced push) or deleted. Deploy the head of the branch instead.',
  )
}

/** `depth` null: the whole history. A server without shallow fetches (plain files over http) gives the whole history as well. */
async function fetchRef(fetch: Fetch, ref: string, depth: number | null = 1): Promise<GitRun> {
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

/** Whether a link's target, followed to its end, stays below `root` (a real path). A link to nothing is judged by its words. */
export async function staysInside(root: string, link: string, target: string): Promise<boolean> {
  const wanted = resolve(dirname(link), target)
  const real = await realpath(wanted).catch(() => wanted)
  return real === root || real.startsWith(root + sep)
}

async function removeLinksThatLeave(folder: string, listing: string, note: (line: string) => void): Promise<void> {
  const root = await realpath(folder)
  for (const entry of listing.split('\0')) {
    const [meta = '', name = ''] = entry.split('\t')
    if (!meta.startsWith('120000') || name === '') continue
    const path = join(root, name)
    const target = await readlink(path).catch(() => null)
    if (target === null || (await staysInside(root, path, target))) continue
    await rm(path)
    note(`Left out the link ${name}: it leads out of the repository.`)
  }
}

async function noteWhatIsMissing(folder: string, note: (line: string) => void): Promise<void> {
  const text = (name: string) => readFile(join(folder, name), 'utf8').catch(() => '')
  if (await text('.gitmodules')) note('The repository has submodules: they are not fetched, their folders stay empty.')
  if ((await text('.gitattributes')).includes('filter=lfs'))
    note('The repository keeps large files in Git LFS: they are not fetched, pointers stand in their place.')
}

async function mustWork(run: GitRun): Promise<GitRun> {
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

const isMissingProgram = (error: unknown): boolean =>
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
