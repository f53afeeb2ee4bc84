import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProjectEnvVar } from '../../server/contract/env-vars.ts'
import { commandLine, type CommandLine } from '../support/command.ts'
import { makeRepository } from '../support/repository.ts'
import { createApiContext, expectError, issuePaths, type ApiContext } from './api-context.ts'

let context: ApiContext
let run: CommandLine
const secret = 'HPSENT_write_only'
const repository = makeRepository({
  'package.json': '{"name":"x","private":true,"scripts":{"start":"node server.js"}}',
  'server.js': `require('node:http').createServer((request, response) => response.end(process.env.KEY + ' ' + process.env.OPEN)).listen(process.env.PORT)`,
})
const [v1, own] = ['/v1/projects/mute/env-vars', '/instance/projects/mute/env-vars']

beforeAll(async () => {
  context = await createApiContext()
  run = commandLine({ ...context.platform.handle.instance, token: context.platform.owner.token }, repository.folder)
  await context.platform.createProject({ slug: 'mute', repo_url: repository.url })
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

const list = async (path: string) => (await context.request('owner', 'GET', path)).body.env_vars as ProjectEnvVar[]
const find = async (key: string) => (await list(own)).find((one) => one.key === key)
const appSays = async () => {
  await context.platform.waitForEnd('mute', (await context.platform.deploy('mute')).id)
  return (await context.platform.fetchEdge('mute.localhost')).body
}

test('a write-only value reaches the app, and is in no response', async () => {
  const body = {
    vars: [
      { key: 'KEY', value: secret, is_write_only: true },
      { key: 'OPEN', value: 'shown' },
    ],
  }
  const created = await context.request('owner', 'POST', own, body, { 'idempotency-key': 'mute' })
  expect([created.status, created.text.includes(secret)]).toEqual([201, false])
  expect((await context.request('owner', 'POST', own, body, { 'idempotency-key': 'mute' })).text).not.toContain(secret)
  expect(await appSays()).toBe(`${secret} shown`)
  const shown = { key: 'KEY', value: '', environment: null, is_sensitive: true }
  expect(
    (await list(v1)).map(({ key, value, environment, is_sensitive, ...rest }) => [{ key, value, environment, is_sensitive }, Object.keys(rest)]),
  ).toEqual([
    [shown, ['id', 'created_at', 'updated_at']],
    [{ key: 'OPEN', value: 'shown', environment: null, is_sensitive: false }, ['id', 'created_at', 'updated_at']],
  ])
  expect(await list(own)).toMatchObject([
    { ...shown, is_write_only: true },
    { key: 'OPEN', value: 'shown', is_write_only: false },
  ])
})

test('cannot be made readable; sending the list back keeps the value, a new value replaces it', async () => {
  const { id = '' } = (await find('KEY')) ?? {}
  const change = (path: string, body: object) => context.request('owner', 'PATCH', `${path}/${id}`, body)
  expect(issuePaths(await change(own, { is_write_only: false }))).toEqual(['is_write_only'])
  expect((await change(v1, { value: '', is_sensitive: false })).status).toBe(200)
  expect(await find('KEY')).toMatchObject({ value: '', is_sensitive: true, is_write_only: true })
  expect(await appSays()).toBe(`${secret} shown`)
  expect((await change(v1, { value: `${secret}_2` })).status).toBe(200)
  expect(await find('KEY')).toMatchObject({ value: '', is_write_only: true })
  expect(await appSays()).toBe(`${secret}_2 shown`)
  expectError(await context.request('owner', 'POST', own, { key: 'KEY', value: 'x' }), 409, 'env_vars_exist')
})

test('a readable variable becomes write-only without a new value', async () => {
  const { id = '' } = (await find('OPEN')) ?? {}
  expect((await context.request('member', 'PATCH', `${own}/${id}`, { is_write_only: true })).status).toBe(200)
  expect(await find('OPEN')).toMatchObject({ value: '', is_write_only: true })
  expect(await appSays()).toBe(`${secret}_2 shown`)
})

test('a variable can be made a build secret and back', async () => {
  await context.request('owner', 'POST', own, { key: 'BUILD', value: 'x', environment: 'preview', is_build_secret: true })
  const { id = '', ...made } = (await find('BUILD')) ?? {}
  expect(made).toMatchObject({ value: 'x', is_sensitive: false, is_write_only: false, is_build_secret: true })
  expect((await context.request('owner', 'PATCH', `${own}/${id}`, { is_build_secret: false })).status).toBe(200)
  expect(await find('BUILD')).toMatchObject({ value: 'x', is_build_secret: false })
  expect((await run('env', 'set', 'mute', 'BUILD=y', '--environment', 'preview', '--build-secret')).code).toBe(0)
  expect(await find('BUILD')).toMatchObject({ value: 'y', is_build_secret: true })
  expect((await context.request('owner', 'DELETE', `${v1}/${id}`)).status).toBe(204)
})

test('the command line adds them, lists them without a value and leaves them out of a file', async () => {
  expect((await run('env', 'set', 'mute', 'READABLE=yes')).code).toBe(0)
  expect(await run('env', 'set', 'mute', `TOKEN=${secret}`, '--write-only')).toMatchObject({ code: 0, out: expect.stringContaining('Added TOKEN') })
  const listed = await run('env', 'list', 'mute', '--show')
  expect(listed.out).toMatch(/TOKEN +both +\(write-only\)/)
  expect(await run('env', 'set', 'mute', 'TOKEN=')).toMatchObject({ code: 2, err: expect.stringContaining('write-only') })
  expect(await run('env', 'pull', 'mute')).toMatchObject({ code: 0, out: 'READABLE=yes\n', err: expect.stringContaining('KEY, OPEN, TOKEN') })
  expect(`${listed.out}${JSON.stringify(await run.json('env', 'list', 'mute'))}`).not.toContain(secret)
})
