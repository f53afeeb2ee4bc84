import { tmpdir } from 'node:os'
import { limits } from '../contract/limits.ts'
import { isBranchName } from '../contract/shared.ts'
import { parseAddress, restrictToPublic } from './address.ts'
import { connectUrl, fetchEnvironment, fetchSettings, safeSettings } from './environment.ts'
import { explainLocal, type GitHost, missingGit, usable } from './git-fetch.ts'
import { type GitRun, runGit } from './process.ts'
import { SourceFailure, type SourceRequest } from './source.ts'

export type BranchesRequest = Pick<Extract<SourceRequest, { kind: 'git' }>, 'url' | 'credentials' | 'allow_local'>

/**
 * The branches of a repository, each with its commit. An answer is believed only when git ended well: a repository that has
 * lost all its branches answers with none, one that cannot be reached throws.
 */
export async function listBranches(request: BranchesRequest, host: GitHost, signal: AbortSignal): Promise<Map<string, string>> {
  const parsed = parseAddress(request.url)
  const address = request.allow_local ? parsed : await restrictToPublic(parsed, signal)
  const credentials = usable(request.credentials ?? parsed.credentials)
  const settings = [...safeSettings, ...fetchSettings(address, credentials !== null && address.scheme !== 'ssh' && address.scheme !== 'file')]
  const ask = (more: Record<string, string>) =>
    runGit([...settings, 'ls-remote', '--heads', '--', connectUrl(address)], {
      cwd: tmpdir(),
      environment: { ...fetchEnvironment(host.environment, '/', address, credentials), ...more },
      signal,
      clock: host.clock,
    }).catch(missingGit)
  const run = await ask({})
  if (run.code !== 0) throw await explainLocal(run, address)
  const found = new Map<string, string>()
  for (const line of run.stdout.split('\n')) {
    const [, sha = '', branch = ''] = /^([0-9a-f]{40}(?:[0-9a-f]{24})?)\trefs\/heads\/(.+)$/.exec(line) ?? []
    if (branch.length <= limits.branch.max && branch !== '' && isBranchName(branch)) found.set(branch, sha)
  }
  if (found.size === 0 && address.scheme.startsWith('http') && !spokeGit(await ask({ GIT_TRACE_PACKET: '1' })))
    throw new SourceFailure(
      `${address.host} answers, but not as a host of git repositories does.`,
      'Check the address, and whether this machine is online: some networks answer in place of others until one has signed in.',
    )
  return found
}

/** Of any page that a web server may send git makes a repository without branches: only its own protocol is believed. */
const spokeGit = (run: GitRun): boolean => run.code === 0 && /packet: +\S+< (version 2|# service=git-upload-pack)/.test(run.stderr)
