/** Updates on Linux: only the feed's own signature proves their origin. */
import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readPackageMetadata } from '../../main/package-metadata.ts'
import { createDesktopLog } from '../../main/log-file.ts'
import { verifyUpdateSignature, signatureField } from '../../main/update-signature.ts'
import { createUpdateService, type UpdateService } from '../../main/updates.ts'
import { readUpdateKey } from '../../resources/package/build-environment.ts'
import { root } from '../support/instance-process.ts'
import { flushPromises } from '../support/test-desktop.ts'
import { fixedClock } from '../support/test-clock.ts'
import { createFakeUpdater } from '../support/fake-updater.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-proof-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tool = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'resources/package/sign-updates.ts'), ...args], { cwd: folder, encoding: 'utf8' })
const feed = join(folder, 'latest-linux.yml')
const file = 'Homeport-2.0.0-linux-amd64.deb'
interface Entry {
  version: string
  files: { url: string; sha512: string; size: number; sha2?: string }[]
}
const signed = () => parse(readFileSync(feed, 'utf8')) as Entry
let key: string
let otherKey: string

beforeAll(() => {
  key = tool('new-key', 'release.pem').stdout.trim()
  otherKey = tool('new-key', 'other.pem').stdout.trim()
  writeFileSync(join(folder, file), 'the package')
  const sum = createHash('sha512').update('the package').digest('base64')
  // In electron-builder's format.
  writeFileSync(
    feed,
    `version: 2.0.0\nfiles:\n  - url: ${file}\n    sha512: ${sum}\n    size: 11\npath: ${file}\nsha512: ${sum}\nreleaseDate: '2026-11-21T12:00:00.000Z'\n`,
  )
})

describe('signing', () => {
  test('a key is private, is created once, and is built in', () => {
    expect(statSync(join(folder, 'release.pem')).mode & 0o777).toBe(0o600)
    expect(tool('new-key', 'release.pem')).toMatchObject({ status: 1, stdout: '' })
    expect(readUpdateKey({ HOMEPORT_UPDATE_KEY: key })).toBe(key)
    expect(readUpdateKey({})).toBeUndefined()
    expect(() => readUpdateKey({ HOMEPORT_UPDATE_KEY: key.slice(4) })).toThrow('HOMEPORT_UPDATE_KEY must be the public key')
  })

  test('a feed is signed, and signed again, without changing its files', () => {
    for (const name of ['other.pem', 'release.pem']) expect(tool(name, '.')).toMatchObject({ status: 0, stderr: '' })
    expect(readFileSync(feed, 'utf8').match(new RegExp(signatureField, 'g'))).toHaveLength(1)
    expect(verifyUpdateSignature(signed(), key)).toBe(true)
    expect(verifyUpdateSignature(signed(), otherKey)).toBe(false)
  })

  test('a file that differs from the announced one is not signed', () => {
    const before = readFileSync(feed)
    writeFileSync(join(folder, file), 'another')
    const { status, stderr } = tool('release.pem', '.')
    expect([status, stderr.trim()]).toEqual([1, `${file} does not match its sha512 in latest-linux.yml. Nothing was signed.`])
    expect(readFileSync(feed)).toEqual(before)
  })
})

test.each<[string, (entry: Entry) => object]>([
  ['another sum', ({ version, files }) => ({ version, files: files.map((one) => ({ ...one, sha512: one.sha512.replace(/^./, '0') })) })],
  ['an old file as a new version', ({ files }) => ({ version: '3.0.0', files })],
  ['an extra file', ({ version, files }) => ({ version, files: [...files, { ...files[0]!, url: 'evil.deb' }] })],
  ['an added weaker checksum', ({ version, files }) => ({ version, files: files.map((one) => ({ ...one, sha2: 'ff' })) })],
  ['no files', ({ version }) => ({ version, files: [] })],
  ['no signature', () => ({ [signatureField]: undefined })],
  ['a signature that is not a string', () => ({ [signatureField]: 7 })],
  ['half a signature', (entry) => ({ [signatureField]: String(Reflect.get(entry, signatureField)).slice(0, 20) })],
])('a feed with %s is rejected', (_, change) => {
  const entry = signed()
  expect(verifyUpdateSignature({ ...entry, ...change(entry) }, key)).toBe(false)
})

test.each([undefined, null, 'text', []])('%j is not a valid entry', (entry) => expect(verifyUpdateSignature(entry, key)).toBe(false))

test('the built-in key is read from the package, and invalid values are ignored', () => {
  const built = (metadata: object) => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(metadata))
    return readPackageMetadata(folder)
  }
  expect(built({ homepage: 'https://homeport.example/new', update_key: key })).toEqual({
    download_page: 'https://homeport.example/new',
    public_key: key,
  })
  expect(built({ homepage: 'https://homeport.invalid', update_key: null })).toEqual({ download_page: null, public_key: null })
  expect(built({})).toEqual({ download_page: null, public_key: null })
  expect(built({ homepage: 'javascript:alert(1)' })).toEqual({ download_page: null, public_key: null })
})

describe('a desktop that requires a signature', () => {
  const log = createDesktopLog(join(folder, 'logs'))
  let updater: ReturnType<typeof createFakeUpdater>
  let updates: UpdateService
  let downloads: boolean
  beforeEach(() => {
    updater = createFakeUpdater()
    downloads = true
    updates = createUpdateService({
      disabled_reason: null,
      download_page: null,
      public_key: key,
      installs_on_quit: true,
      loadUpdater: async () => updater,
      shouldAutoDownload: () => downloads,
      shutDown: async () => {},
      exit: () => {},
      onChange: () => {},
      log,
      clock: fixedClock('2026-01-31T12:00:00.000Z'),
    })
  })
  afterEach(() => updates.close())

  test('downloads what is signed with its key, automatically where allowed', async () => {
    updater.onCheck = () => updater.emitCheckResult('2.0.0', signed())
    await updates.runAction('check')
    await flushPromises()
    // On its own, electron-updater would download before the signature is checked.
    expect(updater.autoDownload).toBe(false)
    expect(updater.acts).toEqual(['check', 'download'])
    expect(updates.state()).toEqual({ name: 'downloading', version: '2.0.0', percent: 0 })
  })

  test('and waits for confirmation where not', async () => {
    downloads = false
    updater.onCheck = () => updater.emitCheckResult('2.0.0', signed())
    await updates.runAction('check')
    expect(updates.state()).toEqual({ name: 'available', version: '2.0.0' })
    expect(updater.acts).toEqual(['check'])
  })

  test.each([
    ['unsigned', () => ({ [signatureField]: undefined })],
    ['of another version', () => ({ version: '2.0.1' })],
    ['with another checksum', () => ({ files: [{ ...signed().files[0], sha512: 'x' }] })],
  ])('downloads nothing from a feed that is %s', async (_, change) => {
    updater.onCheck = () => updater.emitCheckResult('2.0.0', { ...signed(), ...change() })
    await updates.runAction('check')
    await updates.runAction('download')
    updates.applySettings()
    await flushPromises()
    expect(updater.acts).toEqual(['check'])
    expect(updater.autoDownload).toBe(false)
    expect(updates.state()).toEqual({ name: 'failed', message: expect.stringContaining('does not have the same signature') as string })
  })
})

test('without a key nothing is downloaded, and the release page is linked', () => {
  const off = createUpdateService({
    disabled_reason: 'This copy was built without a key.',
    download_page: 'https://homeport.example/new',
    public_key: null,
    installs_on_quit: true,
    loadUpdater: async () => Promise.reject(new Error('loaded')),
    shouldAutoDownload: () => true,
    shutDown: async () => {},
    exit: () => {},
    onChange: () => {},
    log: createDesktopLog(join(folder, 'logs')),
    clock: fixedClock('2026-01-31T12:00:00.000Z'),
  })
  expect(off.state()).toEqual({ name: 'off', reason: 'This copy was built without a key.', page: 'https://homeport.example/new' })
  off.close()
})
