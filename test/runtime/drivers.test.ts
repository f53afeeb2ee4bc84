import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runtimeNames } from '../../server/contract/runtimes.ts'
import { createRuntimes } from '../../server/runtime/index.ts'
import { processDriver } from './process-driver.ts'
import { runtimeSuite } from './suite.ts'

/* A runtime passes the shared suite from its first day. Tests of its specific behavior go to its own test file, which then calls the suite. */

const findOwnTests = (name: string) =>
  [`${name}.test.ts`, `${name}-suite.full.test.ts`].map((file) => join(import.meta.dirname, file)).find((file) => existsSync(file))

test.each(runtimeNames.filter(findOwnTests))('the tests of %s run the shared suite', (name) => {
  expect(readFileSync(findOwnTests(name)!, 'utf8')).toContain(`runtimeSuite(${name}Driver`)
})

for (const name of runtimeNames.filter((one) => findOwnTests(one) === undefined))
  describe(`${name} runtime`, () => void runtimeSuite({ ...processDriver, create: (options) => createRuntimes(options)[name] }))
