import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createKeychain } from '../../main/keychain.ts'
import { flushPromises } from '../support/test-desktop.ts'
import { resetFakeElectron, fakeElectron } from '../support/fake-electron.ts'
import { createTestClock } from '../support/test-clock.ts'

let folder: string
let path: string

beforeEach(() => {
  resetFakeElectron()
  folder = mkdtempSync(join(tmpdir(), 'homeport-keychain-'))
  path = join(folder, 'data', 'master-key.sealed')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('creates a key of 32 bytes once and returns it ever after', async () => {
  const keychain = await createKeychain(path)
  expect(keychain?.kind).toBe('keychain')
  const key = await keychain!.read()
  expect(key).toHaveLength(32)
  expect(await (await createKeychain(path))!.read()).toEqual(key)
})

test('the key is stored encrypted, and only its owner can read the file', async () => {
  const key = await (await createKeychain(path))!.read()
  const file = readFileSync(path)
  expect(file.includes(Buffer.from(key))).toBe(false)
  expect(file.includes(Buffer.from(key).toString('hex'))).toBe(false)
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('Linux without a keyring, where the encryption key is public, is not used', async () => {
  fakeElectron.keychain.version_prefix = 'v10'
  expect(await createKeychain(path, { platform: 'linux' })).toBeUndefined()
  // On macOS the prefix is that of the keychain's own key.
  expect((await createKeychain(path, { platform: 'darwin' }))?.kind).toBe('keychain')
  expect(existsSync(path)).toBe(false)
})

test('on Linux nothing stays encrypted with the public key', async () => {
  const linux = { platform: 'linux' as const }
  fakeElectron.keychain.version_prefix = 'v10'
  const key = await (await createKeychain(path, { platform: 'darwin' }))!.read()
  const before = readFileSync(path)
  await expect(createKeychain(path, linux)).rejects.toThrow('currently not available')
  fakeElectron.keychain.version_prefix = 'v11'
  const keychain = await createKeychain(path, linux)
  // The keyring is locked during startup.
  fakeElectron.keychain.version_prefix = 'v10'
  await expect(keychain!.read()).rejects.toThrow('currently not available')
  expect(readFileSync(path)).toEqual(before)
  fakeElectron.keychain.version_prefix = 'v11'
  expect(await keychain!.read()).toEqual(key)
  expect(readFileSync(path).toString()).toMatch(/^v11/)
})

test('a briefly unavailable keychain is retried; one that stays unavailable is reported', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  const key = await (await createKeychain(path))!.read()
  const keychain = await createKeychain(path, { clock })
  fakeElectron.keychain.unavailable_attempts = 4
  const read = keychain!.read()
  await flushPromises()
  await clock.advance(8_000)
  expect(await read).toEqual(key)
  fakeElectron.keychain.unavailable_attempts = 5
  const refused = expect(keychain!.read()).rejects.toThrow('currently not available')
  await flushPromises()
  await clock.advance(8_000)
  await refused
})

test('a locked keychain is not mistaken for a missing one', async () => {
  await (await createKeychain(path))!.read()
  const before = readFileSync(path)
  fakeElectron.keychain.is_available = false
  await expect(createKeychain(path)).rejects.toThrow('currently not available')
  expect(readFileSync(path)).toEqual(before)
})

test('another keychain cannot decrypt it: a clear error, and nothing is changed', async () => {
  await (await createKeychain(path))!.read()
  const before = readFileSync(path)
  fakeElectron.keychain.secret = 'k2'
  const keychain = await createKeychain(path)
  await expect(keychain!.read()).rejects.toThrow('can no longer decrypt')
  expect(readFileSync(path)).toEqual(before)
})

test('re-encrypts when the system asks for it, and keeps the key', async () => {
  const key = await (await createKeychain(path))!.read()
  fakeElectron.keychain.is_old = true
  expect(await (await createKeychain(path))!.read()).toEqual(key)
  fakeElectron.keychain.is_old = false
  expect(await (await createKeychain(path))!.read()).toEqual(key)
})
