import { tmpdir } from 'node:os'
import type { GitSource } from '../contract/deployment-source.ts'
import { limits } from '../contract/limits.ts'
import { isBranchName } from '../contract/shared.ts'
import { parseRepositoryAddress, requirePublicAddress } from './repository-address.ts'
import { connectUrl, gitFetchEnvironment, fetchGitSettings, safeGitSettings } from './git-environment.ts'
import { classifyFetchFailure, type GitHost, throwMissingGit, validateCredentials } from './git-repository.ts'
import { type GitResult, runGit } from './run-git.ts'
import { SourceError, type GitCredentials } from './source.ts'

export type ListBranchesRequest = Pick<GitSource, 'url' | 'allow_local'> & { credentials: GitCredentials }

/**
 * The branches of a repository, each with its commit. A result is returned only when git succeeded: a repository without branches returns an empty
 * map, an unreachable repository throws.
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
      `${address.host} responded, but not with the git protocol.`,
      'Check the address and that this machine is online. On some networks you have to sign in first.',
    )
  return branches
}

/** git treats any page of a web server as a repository without branches, so the result counts only if the server used the git protocol. */
const usedGitProtocol = (run: GitResult): boolean => run.code === 0 && /packet: +\S+< (version 2|# service=git-upload-pack)/.test(run.stderr)
