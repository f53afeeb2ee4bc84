/** The real main/index.ts, over a real platform: only Electron is fake. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { InstanceFile } from '../../server/lib/instance-file.ts'
import { app, resetFakeElectron, fakeElectron } from '../support/fake-electron.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-whole-'))
const argv = process.argv
const instance = () => JSON.parse(readFileSync(join(folder, 'instance.json'), 'utf8')) as InstanceFile

beforeAll(async () => {
  resetFakeElectron()
  process.argv = [
    argv[0]!,
    '/checkout',
    '--data',
    folder,
    '--port',
    '0',
    '--edge-port',
    '0',
    '--runtime',
    'process',
    '--',
    'homeport://instance/disk',
  ]
  Object.defineProperty(process, 'resourcesPath', { value: folder, configurable: true })
  process.env.XDG_CONFIG_HOME = join(folder, 'config')
  await import('../../main/index.ts')
  await until(() => fakeElectron.windows[0]?.webContents.sent[0], { what: 'a window that was sent somewhere' })
})

afterAll(async () => {
  app.quit()
  await until(() => (fakeElectron.quits > 0 ? true : undefined), { what: 'an orderly end' })
  expect(existsSync(join(folder, 'instance.json'))).toBe(false)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.removeAllListeners(signal)
  process.argv = argv
  rmSync(folder, { recursive: true, force: true })
})

const call = async (path: string, init: RequestInit = {}) => {
  const { api_url, token } = instance()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return fetch(`${api_url}${path}`, { ...init, headers })
}

test('in a checkout a file that ends in .asar is an ordinary file', () => {
  expect(process.noAsar).toBe(true)
})

test('its window signs in with a single-use link, and opens the page of the deep link', async () => {
  const [window] = fakeElectron.windows
  const [address = ''] = window?.loaded ?? []
  expect(new URL(address).origin).toBe(instance().api_url)
  const answer = await fetch(address, { redirect: 'manual' })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/app/'])
  expect((await fetch(address, { redirect: 'manual' })).headers.get('location')).not.toBe('/app/')
  expect(window?.webContents.sent).toEqual([['homeport:navigate', '/instance/disk', null]])
})

test('the key of a new folder is in the keychain, and in no usable file', () => {
  expect(existsSync(join(folder, 'master.key.sealed'))).toBe(true)
  expect(existsSync(join(folder, 'master.key'))).toBe(false)
  expect(readFileSync(join(folder, 'desktop', 'logs', 'main.log'), 'utf8')).not.toContain(instance().token)
  if (process.platform !== 'win32') expect(statSync(join(folder, 'desktop', 'logs')).mode & 0o777).toBe(0o700)
})

test('a created project appears in the tray by itself', async () => {
  // A machine without a tray has none to check.
  const made = await call('/v1/projects', { method: 'POST', body: JSON.stringify({ name: 'Shop', slug: 'shop' }) })
  expect(made.status).toBe(201)
  if (fakeElectron.trays.length > 0)
    await until(() => fakeElectron.trays[0]?.menu.find(({ label }) => label === 'shop: not deployed yet'), { what: 'the project in the tray' })
})

test('a checkout does not update itself, and says so', async () => {
  const [window] = fakeElectron.windows
  const state = await fakeElectron.handlers.get('homeport:read-desktop')?.(
    { senderFrame: { url: `${instance().api_url}/app/`, parent: null }, sender: window?.webContents } as never,
    undefined,
  )
  expect(state).toMatchObject({ opens_at_login: false, update: { name: 'off', reason: 'This is a checkout. Update it with git.' } })
})
