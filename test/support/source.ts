import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GitSource } from '../../server/contract/deployment-source.ts'
import type { Clock } from '../../server/lib/clock.ts'
import { createSourceFetcher, type FetchedSource, type SourceFetchOptions } from '../../server/source/index.ts'
import { createRecordedLog, type RecordedLog } from './runtime.ts'

type TestRequest = Pick<SourceFetchOptions, 'source' | 'credentials'>

export interface TestSource {
  into: string
  log: RecordedLog
  fetch(request: TestRequest, options?: { signal?: AbortSignal }): Promise<FetchedSource>
  remove(): void
}

/** A source fetcher with a folder to write to; `environment` is added to the host's. */
export function createTestSource(options: { environment?: Record<string, string>; clock?: Clock } = {}): TestSource {
  const into = mkdtempSync(join(tmpdir(), 'homeport-source-'))
  const sourceFetcher = createSourceFetcher({ ...options, environment: { ...process.env, ...options.environment } })
  const log = createRecordedLog()
  return {
    into,
    log,
    fetch: (request, { signal } = {}) => sourceFetcher.fetchSource({ ...request, into, log, signal: signal ?? new AbortController().signal }),
    remove: () => rmSync(into, { recursive: true, force: true }),
  }
}

/** A git request for the branch `main` by a user who may use local addresses, with changes by the test. */
export const gitRequest = (
  url: string,
  { credentials = null, ...change }: Partial<GitSource> & Pick<SourceFetchOptions, 'credentials'> = {},
): TestRequest => ({
  source: { kind: 'git', url, branch: 'main', commit_sha: null, allow_local: true, ...change },
  credentials,
})

/** Runs git in a test repository and returns its output. */
export const runGit = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Test Author', '-c', 'user.email=test@example.com', '-c', 'protocol.file.allow=always', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
