import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRepository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

let home: SharedPlatform
beforeAll(async () => {
  home = await sharedPlatform()
})
afterAll(() => home.remove())

test.runIf(process.platform === 'linux').for([
  ['the address in HOST', 'narrow', 'process.env.HOST', false],
  ['every address', 'wide', "'0.0.0.0'", true],
  ['every address, without a word', 'silent', 'undefined', true],
] as const)('an app that listens on %s', async ([, slug, host, isWide]) => {
  const repository = makeRepository({
    'package.json': JSON.stringify({ name: slug, private: true, scripts: { start: 'node server.js' } }),
    'server.js': `require('node:http').createServer((request, response) => response.end(process.env.HOST)).listen(process.env.PORT, ${host})`,
  })
  await home.createProject({ slug, repo_url: repository.url })
  const { error, build_log } = await home.ended(slug, (await home.deploy(slug)).id)
  expect(error).toBeNull()
  expect((await home.edge(`${slug}.localhost`)).body).toBe('127.0.0.1')
  expect(/Warning: the app listens on all addresses of this machine \(port \d+\)/.test(build_log)).toBe(isWide)
  repository.remove()
})
