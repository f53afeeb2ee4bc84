import { expect, test } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { serverPlan, startApp } from '../support/runtime.ts'
import { manifest, type SuiteContext } from './suite-context.ts'
import { expectLines } from './suite.ts'

/** Requirements for every driver that take long to test. */
export function enduranceSuite(suite: SuiteContext): void {
  test('100 000 lines and an exit: all arrive in order, and memory stays flat', async () => {
    const before = process.memoryUsage().rss
    let most = before
    await expectLines(suite, 100_000, () => (most = Math.max(most, process.memoryUsage().rss)))
    expect(most - before).toBeLessThan(80 * 1024 * 1024)
  })

  test('an app whose heap grows exits out of memory', async () => {
    const { exit } = await suite.run(`const all = []; for (;;) all.push({ a: [1, 2, 3], b: 'x'.repeat(10) + all.length })`, { memory_mb: 64 })
    expect(await exit).toMatchObject({ out_of_memory: true })
  })

  test('packages of the registry are installed once per key, by four concurrent builds and one after them', async () => {
    const project_id = newId('prj')
    const files = { 'package.json': manifest({ dependencies: { ms: '2.1.3' } }), 'server.js': `console.log(require('ms')('2 days'))` }
    const plan = serverPlan({ install_command: `npm install && node -e "console.log('really installed')"`, install_key: 'with-ms' })
    const build = () => suite.build({ files, plan, project_id })
    const builds = [...(await Promise.all([build(), build(), build(), build()])), await build()]
    expect(builds.filter(({ log }) => log.lines.includes('really installed'))).toHaveLength(1)
    for (const built of builds) {
      const { lines, exit } = await startApp(suite.runtime, built)
      expect(await exit).toMatchObject({ code: 0 })
      expect(lines).toEqual(['172800000'])
    }
  })
}
