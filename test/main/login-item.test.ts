import fc from 'fast-check'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLoginItem, formatDesktopEntry, type LoginItemOptions, quoteForExec } from '../../main/login-item.ts'
import { app, resetFakeElectron, fakeElectron } from '../support/fake-electron.ts'
import { forEachSeed } from '../support/seeds.ts'

const corpus = new URL('corpus/seeds.json', import.meta.url)

let platform: NodeJS.Platform
let folder: string
let options: LoginItemOptions
const on = (name: NodeJS.Platform) => (platform = name)

beforeEach(() => {
  resetFakeElectron()
  app.isPackaged = true
  folder = mkdtempSync(join(tmpdir(), 'homeport-login-'))
  options = { args: [], config_dir: folder, app_image: null }
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('Linux', () => {
  const file = () => join(folder, 'autostart', 'homeport.desktop')
  beforeEach(() => on('linux'))

  test('adds a file to the autostart folder, and removes it', () => {
    const login = createLoginItem(options, platform)
    expect(login.isEnabled()).toBe(false)
    login.setEnabled(true)
    expect(login.isEnabled()).toBe(true)
    expect(readFileSync(file(), 'utf8')).toContain(`Exec="${process.execPath}" "--hidden"`)
    login.setEnabled(false)
    expect([login.isEnabled(), existsSync(file())]).toEqual([false, false])
    login.setEnabled(false)
  })

  test.each(['Hidden=true', 'X-GNOME-Autostart-enabled=false'])('is off when the desktop wrote %s', (line) => {
    const login = createLoginItem(options, platform)
    login.setEnabled(true)
    writeFileSync(file(), `${readFileSync(file(), 'utf8').replace('X-GNOME-Autostart-enabled=true\n', '')}${line}\n`)
    expect(login.isEnabled()).toBe(false)
  })

  test('an AppImage is started by its file, with its data folder', () => {
    createLoginItem({ ...options, app_image: '/home/me/My Apps/Homeport.AppImage', args: ['--data', '/mnt/100% mine'] }, platform).setEnabled(true)
    expect(readFileSync(file(), 'utf8')).toContain('Exec="/home/me/My Apps/Homeport.AppImage" "--data" "/mnt/100%% mine" "--hidden"')
  })

  test('in a checkout Electron gets the app as an argument', () => {
    app.isPackaged = false
    createLoginItem(options, platform).setEnabled(true)
    expect(readFileSync(file(), 'utf8')).toContain(`Exec="${process.execPath}" "/checkout" "--hidden"`)
  })

  test('a start with the flag counts as a login start', () => {
    expect(createLoginItem(options, platform).wasStartedAtLogin(['--data', '/x', '--hidden'])).toBe(true)
    expect(createLoginItem(options, platform).wasStartedAtLogin([])).toBe(false)
  })

  test('any argument survives both escapings of the specification', async () => {
    await forEachSeed(corpus, async (seed) =>
      fc.assert(
        fc.property(
          fc.array(
            fc.string({ unit: 'grapheme' }).filter((text) => !text.split('').some((sign) => sign < ' ')),
            { minLength: 1 },
          ),
          (command) => {
            const entry = formatDesktopEntry(command)
            const exec = entry.split('\n').find((line) => line.startsWith('Exec='))
            expect(readExec(exec?.slice('Exec='.length) ?? '')).toEqual(command)
          },
        ),
        { seed, numRuns: 500 },
      ),
    )
  })

  test('refuses an argument that would end the line', () => {
    expect(() => quoteForExec('/home/me\nExec=rm')).toThrow('control characters')
  })
})

describe('macOS', () => {
  beforeEach(() => on('darwin'))

  test('uses the login items of the system', () => {
    const login = createLoginItem(options, platform)
    login.setEnabled(true)
    expect(login.isEnabled()).toBe(true)
    login.setEnabled(false)
    expect(login.isEnabled()).toBe(false)
  })

  test('a checkout has none, because Electron would start without an app', () => {
    app.isPackaged = false
    const login = createLoginItem(options, platform)
    login.setEnabled(true)
    expect([login.isEnabled(), fakeElectron.login_item.openAtLogin]).toEqual([null, false])
  })

  test('the system says whether this was a login start', () => {
    expect(createLoginItem(options, platform).wasStartedAtLogin([])).toBe(false)
    fakeElectron.login_item.wasOpenedAtLogin = true
    expect(createLoginItem(options, platform).wasStartedAtLogin([])).toBe(true)
  })
})

describe('Windows', () => {
  beforeEach(() => on('win32'))

  test('adds an item with its arguments, which Electron quotes', () => {
    const login = createLoginItem({ ...options, args: ['--data', 'D:\\My Data\\'] }, platform)
    login.setEnabled(true)
    expect(fakeElectron.login_item).toMatchObject({ openAtLogin: true, args: ['--data', 'D:\\My Data\\', '--hidden'] })
    expect(login.isEnabled()).toBe(true)
    expect(createLoginItem(options, platform).isEnabled()).toBe(false)
  })
})

/** Parses like a desktop: the escapes of a value, then the words, then the field codes. */
function readExec(value: string): string[] {
  const plain = value.replace(/\\(.)/g, (_, sign: string) => ({ s: ' ', n: '\n', t: '\t', r: '\r' })[sign] ?? sign)
  return [...plain.matchAll(/"((?:[^"\\]|\\.)*)"(?: |$)/gsu)].map(([, word = '']) => word.replace(/\\(["`$\\])/g, '$1').replaceAll('%%', '%'))
}
