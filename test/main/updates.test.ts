import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDesktopLog, type DesktopLog } from '../../main/log-file.ts'
import { translocationWarning, createUpdateService, type UpdateService, updatesDisabledReason } from '../../main/updates.ts'
import type { UpdateState } from '../../preload/bridge.ts'
import { flushPromises } from '../support/test-desktop.ts'
import { fixedClock, type TestClock } from '../support/test-clock.ts'
import { createFakeUpdater } from '../support/fake-updater.ts'

let folder: string
let journal: DesktopLog
let updater: ReturnType<typeof createFakeUpdater>
let updates: UpdateService
let states: UpdateState[]
let downloads: boolean
let ends: string[]
let clock: TestClock

const open = (more: Partial<Parameters<typeof createUpdateService>[0]> = {}) => {
  updates = createUpdateService({
    disabled_reason: null,
    download_page: null,
    public_key: null,
    installs_on_quit: true,
    loadUpdater: async () => updater,
    shouldAutoDownload: () => downloads,
    shutDown: async () => void updater.acts.push('ended in order'),
    exit: () => void ends.push('left'),
    onChange: (state) => void states.push(state),
    log: journal,
    clock,
    ...more,
  })
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-updates-'))
  journal = createDesktopLog(folder)
  updater = createFakeUpdater()
  states = []
  ends = []
  clock = fixedClock('2026-01-31T12:00:00.000Z')
  downloads = false
})
afterEach(() => {
  updates.close()
  rmSync(folder, { recursive: true, force: true })
})

test('never installs an older version over a newer one, nor a prerelease over it', async () => {
  open()
  await updates.runAction('check')
  expect(updater).toMatchObject({
    allowDowngrade: false,
    allowPrerelease: false,
    disableWebInstaller: true,
    autoDownload: false,
    autoInstallOnAppQuit: false,
  })
})

test('downloads nothing without confirmation; then the restart waits for an orderly shutdown', async () => {
  updater.onCheck = () => updater.emitCheckResult('2.0.0')
  open()
  await updates.runAction('restart')
  await updates.runAction('download')
  await updates.runAction('check')
  expect(updates.state()).toEqual({ name: 'available', version: '2.0.0' })
  expect(updater.acts).toEqual(['check'])
  updater.onDownload = async () => {
    updater.emit('download-progress', { percent: 41.7 })
    expect(updates.state()).toEqual({ name: 'downloading', version: '2.0.0', percent: 41 })
    updater.emit('update-downloaded', { version: '2.0.0' })
  }
  await updates.runAction('download')
  expect(updates.state()).toEqual({ name: 'ready', version: '2.0.0' })
  // A daily check must not discard the found update.
  await updates.runAction('check')
  await updates.runAction('restart')
  expect(updater.acts).toEqual(['check', 'download', 'ended in order', 'install true true'])
  expect(states.map(({ name }) => name)).toEqual(['checking', 'available', 'downloading', 'downloading', 'ready'])
})

test('with the user’s consent it downloads automatically, and installs on quit', async () => {
  downloads = true
  updater.onCheck = () => updater.emitCheckResult('2.0.0')
  open()
  await updates.runAction('check')
  expect(updates.state()).toEqual({ name: 'downloading', version: '2.0.0', percent: 0 })
  expect(updater).toMatchObject({ autoDownload: true, autoInstallOnAppQuit: true })
})

test('a .deb requires a password, so it is not installed on quit', async () => {
  downloads = true
  open({ installs_on_quit: false })
  await updates.runAction('check')
  expect(updater.autoInstallOnAppQuit).toBe(false)
})

test('consent can be given after an update was found, and withdrawn', async () => {
  updater.onCheck = () => updater.emitCheckResult('2.0.0')
  open()
  await updates.runAction('check')
  downloads = true
  updates.applySettings()
  await flushPromises()
  expect(updater.acts).toEqual(['check', 'download'])
  downloads = false
  updates.applySettings()
  await flushPromises()
  expect(updater.autoDownload).toBe(false)
})

test('checks half a minute after the start and then daily, until closed', async () => {
  open()
  await clock.advance(29_999)
  expect(updater.acts).toEqual([])
  await clock.advance(1)
  expect(updater.acts).toEqual(['check'])
  await clock.advance(2 * 24 * 3_600_000)
  expect(updater.acts).toEqual(['check', 'check', 'check'])
  expect(updates.state()).toEqual({ name: 'idle', checked_at: '2026-02-02T12:00:00.000Z' })
  updates.close()
  await clock.advance(24 * 3_600_000)
  expect(updater.acts).toHaveLength(3)
})

test('a copy that cannot update itself says so', async () => {
  updater.onCheck = async () => null
  open()
  await updates.runAction('check')
  expect(updates.state()).toMatchObject({ name: 'off' })
})

test('turned off it loads nothing and checks nothing', async () => {
  open({ disabled_reason: 'This is a checkout.', loadUpdater: async () => Promise.reject(new Error('loaded')) })
  await updates.runAction('check')
  await clock.advance(24 * 3_600_000)
  expect(updates.state()).toEqual({ name: 'off', reason: 'This is a checkout.' })
})

describe('failures are reported in plain words', () => {
  test.each([
    [
      Object.assign(new Error('New version 2.0.0 is not signed by the application owner'), { code: 'ERR_UPDATER_INVALID_SIGNATURE' }),
      /does not have the same signature/,
    ],
    [Object.assign(new Error('sha512 checksum mismatch'), { code: 'ERR_CHECKSUM_MISMATCH' }), /does not match its checksum/],
    [Object.assign(new Error('Cannot find channel "latest.yml"'), { code: 'ERR_UPDATER_CHANNEL_FILE_NOT_FOUND' }), /no version for this system/],
    [new Error('net::ERR_INTERNET_DISCONNECTED'), /does not respond/],
    [Object.assign(new Error('getaddrinfo ENOTFOUND updates.example'), { code: 'ENOTFOUND' }), /does not respond/],
    [Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }), /not enough disk space/],
    [Object.assign(new Error('permission denied'), { code: 'EACCES' }), /no permission to update itself/],
    [new Error('Unexpected token < in YAML of https://me:secret@updates.example/latest.yml'), /See the log/],
    ['a text', /See the log/],
  ])('%s', async (error, sentence) => {
    updater.onCheck = async () => {
      throw error
    }
    open()
    await updates.runAction('check')
    expect(updates.state()).toEqual({ name: 'failed', message: expect.stringMatching(sentence) as string })
    expect(journal.tail(5).join()).toContain('update_failed')
    expect(journal.tail(5).join()).not.toContain('secret')
  })

  test('once, although an event and a rejection both report it; the next check clears it', async () => {
    updater.onCheck = async () => {
      const error = new Error('net::ERR_TIMED_OUT')
      updater.emit('error', error)
      throw error
    }
    open()
    await updates.runAction('check')
    expect(states.map(({ name }) => name)).toEqual(['checking', 'failed'])
    updater.onCheck = () => updater.emitCheckResult(undefined)
    await updates.runAction('check')
    expect(updates.state()).toMatchObject({ name: 'idle' })
  })

  test('during the download', async () => {
    updater.onCheck = () => updater.emitCheckResult('2.0.0')
    updater.onDownload = async () => Promise.reject(new Error('net::ERR_CONNECTION_RESET'))
    open()
    await updates.runAction('check')
    await updates.runAction('download')
    expect(updates.state()).toMatchObject({ name: 'failed' })
  })

  test('when it cannot be installed the process exits, because it cannot continue', async () => {
    updater.onCheck = () => updater.emitCheckResult('2.0.0')
    updater.onDownload = async () => void updater.emit('update-downloaded', { version: '2.0.0' })
    updater.quitAndInstall = () => {
      throw new Error('pkexec was dismissed')
    }
    open()
    await updates.runAction('check')
    await updates.runAction('download')
    await updates.runAction('restart')
    expect(ends).toEqual(['left'])
  })

  test('electron-updater’s warnings and errors are logged, its info messages are not', async () => {
    open()
    await updates.runAction('check')
    updater.logger?.info('fine')
    updater.logger?.warn('strange')
    updater.logger?.error(new Error('bad'))
    expect(journal.tail(5).map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['strange', 'Error: bad'])
  })
})

test.each([
  [{ is_packaged: false }, /checkout/],
  [{ has_feed: false }, /without an update server/],
  [{ exec_path: '/private/var/folders/x/T/AppTranslocation/1A/d/Homeport.app/Contents/MacOS/Homeport' }, /temporary copy/],
  [{ platform: 'linux' as const, app_image: null }, /Only the AppImage/],
  [{ platform: 'linux' as const, app_image: null, package_type: 'rpm' }, /Only the AppImage/],
  [{ platform: 'linux' as const, app_image: null, package_type: 'deb' }, null],
  [{ platform: 'linux' as const }, null],
  [{ platform: 'linux' as const, public_key: null }, /without a key/],
  [{ public_key: null }, null],
  [{}, null],
])('the reason why a copy does not update: %j', (facts, expected) => {
  const exec_path = '/Applications/Homeport.app/Contents/MacOS/Homeport'
  const usual = {
    is_packaged: true,
    has_feed: true,
    platform: 'darwin' as const,
    exec_path,
    app_image: '/x.AppImage',
    package_type: null,
    public_key: 'key',
  }
  const why = updatesDisabledReason({ ...usual, ...facts })
  if (expected === null) expect(why).toBeNull()
  else expect(why).toMatch(expected)
})

test('only a copy that macOS runs from a temporary path says so', () => {
  const from = (folder: string) => translocationWarning(`${folder}/Homeport.app/Contents/MacOS/Homeport`)
  expect(from('/private/var/folders/x/T/AppTranslocation/1A/d')?.detail).toContain('move it to Applications')
  expect(from('/Applications')).toBeNull()
})
