import { describe, expect, test } from 'vitest'
import { requires } from '../support/requirements.ts'
import { serverPlan, startApp } from '../support/runtime.ts'
import { dockerDriver } from './docker-driver.ts'
import { createContext } from './suite-context.ts'
import { enduranceSuite } from './suite-endurance.ts'

describe.skipIf(!requires('docker').ok)('docker runtime', () => {
  const suite = createContext(dockerDriver)
  enduranceSuite(suite)

  test('pnpm, which the base image lacks, is available to install, build and start', async () => {
    const built = await suite.build({
      files: {
        'package.json': '{"name":"app","dependencies":{"ms":"2.1.3"},"scripts":{"start":"node server.js"}}',
        'server.js': `console.log(require('ms')('1h'))`,
      },
      plan: serverPlan({
        package_manager: { name: 'pnpm', version: '9.15.0' },
        install_command: 'pnpm install',
        build_command: 'pnpm --version',
        start_command: ['pnpm', 'start'],
      }),
    })
    expect(built.log.lines).toContain('9.15.0')
    const { lines, exit } = await startApp(suite.runtime, built)
    expect(await exit).toMatchObject({ code: 0 })
    expect(lines.at(-1)).toBe('3600000')
  })
})
