import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runtimeNames } from '../../server/contract/runtimes.ts'
import { createRuntimes } from '../../server/runtime/index.ts'
import { processDriver } from './process-driver.ts'
import { runtimeSuite } from './suite.ts'

/* A runtime passes the shared suite from its first day. Tests of its specific behavior go to its own test file, which then calls the suite. */

const ownTests = (name: string) => join(import.meta.dirname, `${name}.test.ts`)

test.each(runtimeNames.filter((name) => existsSync(ownTests(name))))('the tests of %s run the shared suite', (name) => {
  expect(readFileSync(ownTests(name), 'utf8')).toContain(`runtimeSuite(${name}Driver`)
})

for (const name of runtimeNames.filter((one) => !existsSync(ownTests(one))))
  describe(`${name} runtime`, () => void runtimeSuite({ ...processDriver, create: (options) => createRuntimes(options)[name] }))
