import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits } from '../contract/limits.ts'
import { listPullRequestRefs, mergeRefPattern } from '../lib/pull-request.ts'
import type { ListBranchesRequest } from './branches.ts'
import { connectUrl, fetchGitSettings, gitFetchEnvironment, safeGitSettings } from './git-environment.ts'
import { classifyFetchFailure, connectRepository, type GitHost, requireSuccess, throwMissingGit, validateCredentials } from './git-repository.ts'
import { parseRepositoryAddress, requirePublicAddress } from './repository-address.ts'
import { runGit } from './run-git.ts'

export interface PullRequestHead {
  number: number
  commit_sha: string
  has_merge_ref: boolean
}

export interface ContainedCommitsRequest extends ListBranchesRequest {
  branch: string
  commits: readonly string[]
}

/** The pull requests that the forge publishes as refs, the newest first; closed ones too, because forges keep their refs. */
export async function listPullRequests(request: ListBranchesRequest, host: GitHost, signal: AbortSignal): Promise<PullRequestHead[]> {
  const { address, credentials } = await openAddress(request, signal)
  const settings = [...safeGitSettings, ...fetchGitSettings(address, credentials !== null && address.scheme !== 'ssh' && address.scheme !== 'file')]
  const run = await runGit([...settings, 'ls-remote', '--', connectUrl(address), ...listPullRequestRefs('*'), mergeRefPattern], {
    cwd: tmpdir(),
    environment: gitFetchEnvironment(host.environment, '/', address, credentials),
    signal,
    clock: host.clock,
  }).catch(throwMissingGit)
  if (run.code !== 0) throw await classifyFetchFailure(run, address)
  const heads = new Map<number, string>()
  const merges = new Set<number>()
  for (const line of run.stdout.split('\n')) {
    const [, sha = '', number = '', name] =
      /^([0-9a-f]{40}(?:[0-9a-f]{24})?)\trefs\/(?:pull|merge-requests|pull-requests)\/([1-9]\d{0,8})\/(head|from|merge)$/.exec(line) ?? []
    if (name === 'merge') merges.add(Number(number))
    else if (sha !== '' && !heads.has(Number(number))) heads.set(Number(number), sha)
  }
  return [...heads]
    .toSorted(([a], [b]) => b - a)
    .slice(0, limits.pull_requests.watched)
    .map(([number, commit_sha]) => ({ number, commit_sha, has_merge_ref: merges.has(number) }))
}

/** Those of the given commits that are among the last ones of a branch. */
export async function listContainedCommits(request: ContainedCommitsRequest, host: GitHost, signal: AbortSignal): Promise<Set<string>> {
  const temporary = await realpath(await mkdtemp(join(tmpdir(), 'homeport-contained-')))
  try {
    const { address, credentials } = await openAddress(request, signal)
    const noLog = { line: () => undefined, note: () => undefined }
    const repository = { branch: request.branch, folder: temporary, credentials }
    const { git, url } = connectRepository(address, repository, { host, home: temporary, log: noLog, signal })
    await requireSuccess(await git(['init', '--quiet', '--bare', '--template=', '--initial-branch=homeport']))
    const shallow = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-commit-graph', '--filter=tree:0']
    const fetched = await git(['fetch', ...shallow, `--depth=${limits.pull_requests.history}`, '--', url, `refs/heads/${request.branch}`])
    if (fetched.code !== 0) throw await classifyFetchFailure(fetched, address)
    const history = new Set((await requireSuccess(await git(['rev-list', 'FETCH_HEAD']))).stdout.split('\n'))
    return new Set(request.commits.filter((sha) => history.has(sha)))
  } finally {
    await rm(temporary, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
  }
}

async function openAddress({ url, allow_local, credentials }: ListBranchesRequest, signal: AbortSignal) {
  const parsed = parseRepositoryAddress(url)
  const address = allow_local ? parsed : await requirePublicAddress(parsed, signal)
  return { address, credentials: validateCredentials(credentials ?? parsed.credentials) }
}
