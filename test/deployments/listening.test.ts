import { afterAll, beforeAll, expect, test } from 'vitest'
import { followRuntimeLog } from '../support/event-stream.ts'
import { makeRepository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'

let platform: SharedPlatform
beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.remove())

const listeners = [
  ['the address in HOST', 'narrow', 'process.env.HOST', false],
  ['every address', 'wide', "'0.0.0.0'", true],
  ['every address, without output', 'silent', 'undefined', true],
] as const
test.runIf(process.platform === 'linux').for(listeners.slice(0, isFullTier ? 3 : 2))('an app that listens on %s', async ([, slug, host, isWide]) => {
  const repository = makeRepository({
    'package.json': JSON.stringify({ name: slug, private: true, scripts: { start: 'node server.js' } }),
    'server.js': `require('node:http').createServer((request, response) => request.url === '/end' ? process.exit() : response.end(process.env.HOST)).listen(process.env.PORT, ${host})`,
  })
  await platform.createProject({ slug, repo_url: repository.url })
  const { error, build_log } = await platform.waitForEnd(slug, (await platform.deploy(slug)).id)
  expect(error).toBeNull()
  expect((await platform.fetchEdge(`${slug}.localhost`)).body).toBe('127.0.0.1')
  expect(/Warning: the app listens on all addresses of this machine \(port \d+\)/.test(build_log)).toBe(isWide)
  const { checks } = (await platform.api<{ checks: { name: string; status: string; message: string }[] }>('GET', '/instance/doctor?quick=true')).body
  expect(checks.find(({ name }) => name === 'apps')).toMatchObject(
    isWide ? { status: 'warning', message: expect.stringMatching(new RegExp(`${slug} \\(port \\d+\\)`)) } : { status: 'ok' },
  )

  // Its ports are detected again when it is back.
  void platform.fetchEdge(`${slug}.localhost`, '/end').catch(() => {})
  const log = followRuntimeLog({ api_url: platform.handle.api_url, token: platform.owner.token }, slug)
  await until(() => log.states.includes('exited') || undefined, { what: 'its end' })
  await platform.advance(1_000)
  await until(() => log.states.filter((state) => state === 'running').length === 2 || undefined, { what: 'its return' })
  expect(log.lines.some((line) => line.startsWith('Warning: the app listens on all addresses'))).toBe(isWide)
  log.close()
  repository.remove()
})
