import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GitSource } from '../contract/deployment-source.ts'
import { connectRepository, type GitHost, validateCredentials } from './git-repository.ts'
import { parseRepositoryAddress, requirePublicAddress } from './repository-address.ts'
import type { GitCredentials } from './source.ts'

export interface ChangedFilesRequest extends Pick<GitSource, 'url' | 'allow_local' | 'branch'> {
  credentials: GitCredentials
  /** The commits to compare. `to` is on the branch; `from` may be on none after a force push. */
  from: string
  to: string
}

export interface ChangedFiles {
  /** Added, changed and deleted files, with both names of a renamed file. */
  files: string[]
  /** The first line of the message of `to`. */
  commit_message: string
}

const noLog = { line: () => undefined, note: () => undefined }

/**
 * The files that differ between two commits. Only trees are fetched if the server can omit the contents of files. Undefined when the commits
 * cannot be compared, such as after a force push that removed one of them.
 */
export async function listChangedFiles(request: ChangedFilesRequest, host: GitHost, signal: AbortSignal): Promise<ChangedFiles | undefined> {
  const { from, to, branch } = request
  if (![from, to].every((sha) => /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha))) return undefined
  const temporary = await realpath(await mkdtemp(join(tmpdir(), 'homeport-compare-')))
  try {
    const parsed = parseRepositoryAddress(request.url)
    const address = request.allow_local ? parsed : await requirePublicAddress(parsed, signal)
    const credentials = validateCredentials(request.credentials ?? parsed.credentials)
    const { git, url } = connectRepository(address, { branch, folder: temporary, credentials }, { host, home: temporary, log: noLog, signal })
    const run = async (...args: string[]) => (await git(args)).code === 0
    const fetch = (depth: number, ...refs: string[]) =>
      run(
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-recurse-submodules',
        '--no-write-commit-graph',
        '--filter=blob:none',
        `--depth=${depth}`,
        '--',
        url,
        ...refs,
      )
    if (!(await run('init', '--quiet', '--bare', '--template=', '--initial-branch=homeport'))) return undefined
    // A server that serves only the heads of branches may still have both commits among the last ones of this branch.
    if (!(await fetch(1, from, to)) && !(await fetch(100, `refs/heads/${branch}`))) return undefined
    const differences = await git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to, '--'])
    const description = await git(['log', '-1', '--format=%s', to, '--'])
    if (differences.code !== 0 || description.code !== 0) return undefined
    return { files: differences.stdout.split('\0').filter(Boolean), commit_message: description.stdout.trim() }
  } finally {
    await rm(temporary, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
  }
}
