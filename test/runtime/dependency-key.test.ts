import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDependencyKey, type NodePlan } from '../../server/runtime/dependency-key.ts'
import { serverPlan } from '../support/runtime.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-dependencies-'))
  writeFileSync(join(folder, 'package.json'), '{"dependencies":{"a":"1.0.0"}}')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const lock = (more: object = {}) =>
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages: { '': {}, 'node_modules/a': { version: '1.0.0', ...more } } }),
  )
const keyOf = (variables: Record<string, string>, install_command = 'npm ci --include=dev') =>
  createDependencyKey(
    folder,
    serverPlan({ install_command, install_inputs: ['package.json', 'package-lock.json'] }).work as NodePlan,
    'prj_1',
    variables,
  )

test('an app variable does not cause a new install, one that npm reads does', async () => {
  lock()
  const plain = await keyOf({})
  expect(await keyOf({ GREETING: 'hello', DATABASE_URL: 'postgresql://..' })).toBe(plain)
  for (const name of ['npm_config_registry', 'NPM_TOKEN', 'NODE_OPTIONS', 'https_proxy', 'GIT_SSH_COMMAND'])
    expect(await keyOf({ [name]: 'x' })).not.toBe(plain)
})

test('so does one that .npmrc refers to', async () => {
  lock()
  const before = await keyOf({ REGISTRY_KEY: 'one' })
  writeFileSync(join(folder, '.npmrc'), '//registry.example.com/:_authToken=${REGISTRY_KEY}\n')
  expect(await keyOf({ REGISTRY_KEY: 'two' })).not.toBe(await keyOf({ REGISTRY_KEY: 'one' }))
  expect(before).toBe(await keyOf({}))
})

test('any variable does with install scripts, with a custom command, and without a lock file', async () => {
  lock({ hasInstallScript: true })
  expect(await keyOf({ GREETING: 'one' })).not.toBe(await keyOf({ GREETING: 'two' }))
  lock({ resolved: 'git+ssh://git@git.example.com/a.git#0123' })
  expect(await keyOf({ GREETING: 'one' })).not.toBe(await keyOf({ GREETING: 'two' }))
  lock()
  expect(await keyOf({ GREETING: 'one' }, 'npm ci && ./set-up')).not.toBe(await keyOf({ GREETING: 'two' }, 'npm ci && ./set-up'))
  writeFileSync(join(folder, 'package-lock.json'), 'not json')
  expect(await keyOf({ GREETING: 'one' })).not.toBe(await keyOf({ GREETING: 'two' }))
})

test('an install that may read the whole source is reused for nothing else', async () => {
  lock()
  const plan = serverPlan({ install_command: 'npm ci --include=dev', install_inputs: ['.'] }).work as NodePlan
  expect(await createDependencyKey(folder, plan, 'prj_1', {})).toBe(null)
})
