import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findProcessesIn } from '../support/folder-processes.ts'
import { listEntries, eventually, serverPlan, startApp } from '../support/runtime.ts'
import { processDriver } from './process-driver.ts'
import { createContext } from './suite-context.ts'
import { enduranceSuite } from './suite-endurance.ts'

describe('process runtime', () => {
  const suite = createContext(processDriver)
  enduranceSuite(suite)

  test('a fork bomb in a build is killed, with the reason', async () => {
    const failed = suite.build({
      files: { 'a.sh': 'for i in $(seq 2000); do sleep 100 & done; wait' },
      plan: serverPlan({ build_command: 'sh a.sh' }),
    })
    await expect(failed).rejects.toMatchObject({ code: 'build_failed', message: expect.stringContaining('512 processes') })
    // That many take a moment to die; the remaining ones would count as leftovers of another run.
    await eventually(() => expect(findProcessesIn(suite.options.data_dir)).toEqual([]))
  })

  test.each([
    ['22', null, /^v22\./],
    ['24', { name: 'pnpm' as const, version: '9' }, /^9\./],
    ['24', { name: 'yarn' as const, version: '1.22.22' }, /^1\.22\./],
    ['24', { name: 'yarn' as const, version: '4' }, /^4\./],
    ['24', { name: 'npm' as const, version: '10' }, /^10\./],
  ])('Node %s with %j of the public registry is installed once, for builds and apps', async (node_version, package_manager, expected) => {
    const install_command = package_manager ? `${package_manager.name} --version` : 'node --version'
    const files = { 'package.json': '{"name":"app"}', 'server.js': 'console.log(process.version)' }
    const plan = serverPlan({ node_version, package_manager, install_command, install_inputs: [] })
    const [built] = await Promise.all([suite.build({ files, plan }), suite.build({ files, plan })])
    expect(built.log.lines.at(-1)).toMatch(expected)
    const { lines, exit } = await startApp(suite.runtime, built)
    await exit
    expect(lines[0]).toMatch(new RegExp(`^v${node_version}\\.`))
    expect((await listEntries(join(suite.options.data_dir, 'toolchains'))).filter((name) => name.startsWith('.half-'))).toEqual([])
  })
})
