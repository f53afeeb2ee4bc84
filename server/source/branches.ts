import { tmpdir } from 'node:os'
import { limits } from '../contract/limits.ts'
import { isBranchName } from '../contract/shared.ts'
import { parseRepositoryAddress, requirePublicAddress } from './repository-address.ts'
import { connectUrl, gitFetchEnvironment, fetchGitSettings, safeGitSettings } from './git-environment.ts'
import { classifyFetchFailure, type GitHost, throwMissingGit, validateCredentials } from './git-repository.ts'
import { type GitResult, runGit } from './run-git.ts'
import { SourceError, type SourceRequest } from './source.ts'

export type ListBranchesRequest = Pick<Extract<SourceRequest, { kind: 'git' }>, 'url' | 'credentials' | 'allow_local'>

/**
 * The branches of a repository, each with its commit. An answer is believed only when git ended well: a repository that has
 * lost all its branches answers with none, one that cannot be reached throws.
 */
export async function listBranches(request: ListBranchesRequest, host: GitHost, signal: AbortSignal): Promise<Map<string, string>> {
  const parsed = parseRepositoryAddress(request.url)
  const address = request.allow_local ? parsed : await requirePublicAddress(parsed, signal)
  const credentials = validateCredentials(request.credentials ?? parsed.credentials)
  const settings = [...safeGitSettings, ...fetchGitSettings(address, credentials !== null && address.scheme !== 'ssh' && address.scheme !== 'file')]
  const listHeads = (more: Record<string, string>) =>
    runGit([...settings, 'ls-remote', '--heads', '--', connectUrl(address)], {
      cwd: tmpdir(),
      environment: { ...gitFetchEnvironment(host.environment, '/', address, credentials), ...more },
      signal,
      clock: host.clock,
    }).catch(throwMissingGit)
  const run = await listHeads({})
  if (run.code !== 0) throw await classifyFetchFailure(run, address)
  const branches = new Map<string, string>()
  for (const line of run.stdout.split('\n')) {
    const [, sha = '', branch = ''] = /^([0-9a-f]{40}(?:[0-9a-f]{24})?)\trefs\/heads\/(.+)$/.exec(line) ?? []
    if (branch.length <= limits.branch.max && branch !== '' && isBranchName(branch)) branches.set(branch, sha)
  }
  if (branches.size === 0 && address.scheme.startsWith('http') && !usedGitProtocol(await listHeads({ GIT_TRACE_PACKET: '1' })))
    throw new SourceError(
      `${address.host} answers, but not as a host of git repositories does.`,
      'Check the address, and whether this machine is online: some networks answer in place of others until one has signed in.',
    )
  return branches
}

/** Of any page that a web server may send git makes a repository without branches: only its own protocol is believed. */
const usedGitProtocol = (run: GitResult): boolean => run.code === 0 && /packet: +\S+< (version 2|# service=git-upload-pack)/.test(run.stderr)
