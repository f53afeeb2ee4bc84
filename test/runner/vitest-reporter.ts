import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'
import { root } from './command.ts'
import type { RunResult } from './totals.ts'

/** Writes the counts of a run to the file `HOMEPORT_TEST_RESULT`, for the runner. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const result: RunResult = { passed: 0, failed: 0, failures: [], skipped: {} }
    for (const module of modules) {
      const counts = countsOf(module)
      result.passed += counts.passed
      result.failed += counts.failed
      if (counts.skipped > 0) result.skipped[nameOf(module)] = counts.skipped
      for (const test of module.children.allTests('failed'))
        result.failures.push(`${nameOf(module)}: ${test.fullName}${describeError(test.result().errors?.[0])}`)
      // A file that cannot be loaded, or whose hooks fail, may have no failed test of its own.
      if (!module.ok() && counts.failed === 0) {
        result.failed += 1
        result.failures.push(`${nameOf(module)}: ${module.errors()[0]?.message ?? 'a hook failed (see above)'}`)
      }
    }
    for (const error of errors) {
      result.failed += 1
      result.failures.push(`outside of the tests: ${error.message}`)
    }
    writeFileSync(process.env['HOMEPORT_TEST_RESULT'] ?? '/dev/null', JSON.stringify(result))
  }
}

/** The first line of what went wrong, since the log of a long run may be cut. */
const describeError = (error: { message: string } | undefined) => (error ? `\n    ${error.message.split('\n', 1)[0]}` : '')

const nameOf = (module: TestModule) => relative(root, module.moduleId)

function countsOf(module: TestModule): { passed: number; failed: number; skipped: number } {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    counts[state === 'pending' ? 'skipped' : state] += 1
  }
  return counts
}
