import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { FullConfig, Reporter, Suite, TestCase, TestError } from '@playwright/test/reporter'
import { root } from './command.ts'
import type { RunResult } from './totals.ts'

/** Writes the counts of a run to the file `HOMEPORT_TEST_RESULT`, for the runner. */
export default class CountReporter implements Reporter {
  #suite: Suite | undefined
  readonly #result: RunResult = { passed: 0, failed: 0, failures: [], skipped: {} }
  /** Of the run as a whole, such as that it stopped early. They come after the tests that failed. */
  readonly #errors: string[] = []

  onBegin(_config: FullConfig, suite: Suite): void {
    this.#suite = suite
  }

  onError({ message }: TestError): void {
    this.#result.failed += 1
    this.#errors.push(`browser: ${String(message).split('\n')[0]}`)
  }

  onEnd(): void {
    for (const test of this.#suite?.allTests() ?? []) {
      const outcome = test.outcome()
      if (outcome === 'skipped') {
        const file = relative(root, test.location.file)
        this.#result.skipped[file] = (this.#result.skipped[file] ?? 0) + 1
      } else if (outcome === 'expected') this.#result.passed += 1
      else {
        this.#result.failed += 1
        const message = test.results.at(-1)?.error?.message?.split('\n', 1)[0]
        this.#result.failures.push(message === undefined ? nameOf(test) : `${nameOf(test)}\n    ${message}`)
      }
    }
    this.#result.failures.push(...this.#errors)
    const path = process.env['HOMEPORT_TEST_RESULT']
    if (path !== undefined) writeFileSync(path, JSON.stringify(this.#result))
  }
}

const nameOf = (test: TestCase) => `${relative(root, test.location.file)}: ${test.titlePath().slice(3).join(' › ')}`
