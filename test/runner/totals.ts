import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { requirements, requires } from '../support/requirements.ts'
import { root } from './command.ts'
import type { PlatformLogs } from './platform-logs.ts'

/** The result file of a vitest or Playwright run. */
export interface RunResult {
  passed: number
  failed: number
  /** Per failure `file: name of the test`, and on a second line what went wrong. */
  failures: string[]
  /** Skipped tests by file. */
  skipped: Record<string, number>
}

/** Counts over all parts of a run. A skipped test counts as failed unless an unmet requirement explains it. */
export interface Totals {
  add(result: RunResult): void
  fail(reason: string): void
  /** Prints the failures and unmet requirements, then the closing line. Returns whether the run succeeded. */
  close(): boolean
}

/** `lacks_file`: JSON lines `{requirement, reason, file}`, one per `requires()` that was not met (test/support/requirements.ts). */
export function createTotals(lacks_file: string, platformLogs: PlatformLogs): Totals {
  let passed = 0
  let failed = 0
  const failures: string[] = []
  const skipped = new Map<string, number>()
  return {
    add(result) {
      passed += result.passed
      failed += result.failed
      failures.push(...result.failures)
      for (const [file, count] of Object.entries(result.skipped)) skipped.set(file, (skipped.get(file) ?? 0) + count)
    },
    fail(reason) {
      failed += 1
      failures.push(reason)
    },
    close() {
      const causes = causesByFile(lacks_file)
      const skippedFor = new Map<string, number>()
      const unexplained: string[] = []
      let skips = 0
      for (const [file, count] of skipped) {
        const cause = causes.get(file)
        if (cause === undefined) unexplained.push(`${file}: ${count} tests were skipped although this machine lacks nothing that they require`)
        else {
          skips += count
          skippedFor.set(cause, (skippedFor.get(cause) ?? 0) + count)
        }
      }
      failed += unexplained.length
      const missing = requirements.map((name) => ({ name, ...requires(name) })).filter(({ ok }) => !ok)
      if (failures.length + unexplained.length > 0) console.log(`\nFailed:\n${[...failures, ...unexplained].map((line) => `  ${line}`).join('\n')}`)
      if (missing.length > 0) console.log('\nNot on this machine:')
      for (const { name, reason } of missing) console.log(`  ${name}: ${reason} (${skippedFor.get(name) ?? 0} tests skipped)`)
      if (failed > 0) platformLogs.keep()
      console.log(`\n${passed} passed, ${failed} failed, ${skips} skipped`)
      return failed === 0
    },
  }
}

/** The first unmet requirement of each test file. */
function causesByFile(lacks_file: string): Map<string, string> {
  const causes = new Map<string, string>()
  if (!existsSync(lacks_file)) return causes
  for (const line of readFileSync(lacks_file, 'utf8').split('\n').filter(Boolean)) {
    const { requirement, file } = JSON.parse(line) as { requirement: string; file: string }
    const name = file.startsWith('/') ? relative(root, file) : file
    if (!causes.has(name)) causes.set(name, requirement)
  }
  return causes
}
