import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../server/lib/clock.ts'
import { createSource, type Source, type SourceRequest } from '../../server/source/index.ts'

/** A build log that keeps what it is told, as text. */
export function createMemoryLog() {
  const lines: string[] = []
  return {
    lines,
    line: (_step: string, _stream: string, line: string) => void lines.push(line),
    note: (_step: string, line: string) => void lines.push(line),
    step: () => {},
    skip: () => {},
  }
}

export interface TestSource {
  into: string
  log: ReturnType<typeof createMemoryLog>
  fetch(request: SourceRequest, options?: { signal?: AbortSignal }): Promise<Source>
  describe: ReturnType<typeof createSource>['describeFolder']
  remove(): void
}

/** The source room with a folder to fill; `environment` is added to the host's. */
export function createTestSource(options: { environment?: Record<string, string>; clock?: Clock } = {}): TestSource {
  const into = mkdtempSync(join(tmpdir(), 'homeport-source-'))
  const room = createSource({ ...options, environment: { ...process.env, ...options.environment } })
  const log = createMemoryLog()
  return {
    into,
    log,
    fetch: (request, { signal } = {}) => room.fetchSource({ request, into, log, signal: signal ?? new AbortController().signal }),
    describe: room.describeFolder,
    remove: () => rmSync(into, { recursive: true, force: true }),
  }
}

/** A git request to a branch `main` of somebody who may use local addresses, with what a test changes. */
export const gitRequest = (url: string, change: Partial<Extract<SourceRequest, { kind: 'git' }>> = {}): SourceRequest => ({
  kind: 'git',
  url,
  credentials: null,
  branch: 'main',
  commit_sha: null,
  allow_local: true,
  ...change,
})
