import { tmpdir } from 'node:os'
import { limits } from '../contract/limits.ts'
import { isBranchName } from '../contract/shared.ts'
import { parseAddress, restrictToPublic } from './address.ts'
import { connectUrl, fetchEnvironment, fetchSettings, safeSettings } from './environment.ts'
import { explainLocal, type GitHost, missingGit, usable } from './git.ts'
import { runGit } from './process.ts'
import type { SourceRequest } from './source.ts'

export type BranchesRequest = Pick<Extract<SourceRequest, { kind: 'git' }>, 'url' | 'credentials' | 'allow_local'>

/**
 * The branches of a repository, each with its commit. An answer is believed only when git ended well: a repository that has
 * lost all its branches answers with none, one that cannot be reached throws.
 */
export async function listBranches(request: BranchesRequest, host: GitHost, signal: AbortSignal): Promise<Map<string, string>> {
  const parsed = parseAddress(request.url)
  const address = request.allow_local ? parsed : await restrictToPublic(parsed, signal)
  const credentials = usable(request.credentials ?? parsed.credentials)
  const run = await runGit(
    [
      ...safeSettings,
      ...fetchSettings(address, credentials !== null && address.scheme !== 'ssh' && address.scheme !== 'file'),
      'ls-remote',
      '--heads',
      '--',
      connectUrl(address),
    ],
    { cwd: tmpdir(), environment: fetchEnvironment(host.environment, '/', address, credentials), signal, idle_ms: host.idle_ms },
  ).catch(missingGit)
  if (run.code !== 0) throw await explainLocal(run, address)
  const found = new Map<string, string>()
  for (const line of run.stdout.split('\n')) {
    const [, sha = '', branch = ''] = /^([0-9a-f]{40}(?:[0-9a-f]{24})?)\trefs\/heads\/(.+)$/.exec(line) ?? []
    if (branch.length <= limits.branch.max && branch !== '' && isBranchName(branch)) found.set(branch, sha)
  }
  return found
}
