import fc from 'fast-check'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogin, desktopEntry, type LoginOptions, quoteForExec, quoteForWindows } from '../../main/login.ts'
import { app, reset, world } from '../support/electron-double.ts'
import { onSeeds } from '../support/seeds.ts'

const corpus = new URL('corpus/seeds.json', import.meta.url)

const platform = process.platform
let folder: string
let options: LoginOptions
const on = (name: NodeJS.Platform) => Object.defineProperty(process, 'platform', { value: name })

beforeEach(() => {
  reset()
  app.isPackaged = true
  folder = mkdtempSync(join(tmpdir(), 'homeport-login-'))
  options = { args: [], config_dir: folder, app_image: null }
})
afterEach(() => {
  on(platform)
  rmSync(folder, { recursive: true, force: true })
})

describe('Linux', () => {
  const file = () => join(folder, 'autostart', 'homeport.desktop')
  beforeEach(() => on('linux'))

  test('a file in the folder of autostart, and none again', () => {
    const login = createLogin(options)
    expect(login.isOn()).toBe(false)
    login.set(true)
    expect(login.isOn()).toBe(true)
    expect(readFileSync(file(), 'utf8')).toContain(`Exec="${process.execPath}" "--hidden"`)
    login.set(false)
    expect([login.isOn(), existsSync(file())]).toEqual([false, false])
    login.set(false)
  })

  test.each(['Hidden=true', 'X-GNOME-Autostart-enabled=false'])('off when the desktop wrote %s', (line) => {
    const login = createLogin(options)
    login.set(true)
    writeFileSync(file(), `${readFileSync(file(), 'utf8').replace('X-GNOME-Autostart-enabled=true\n', '')}${line}\n`)
    expect(login.isOn()).toBe(false)
  })

  test('an AppImage is started by its file, with its data folder', () => {
    createLogin({ ...options, app_image: '/home/me/My Apps/Homeport.AppImage', args: ['--data', '/mnt/100% mine'] }).set(true)
    expect(readFileSync(file(), 'utf8')).toContain('Exec="/home/me/My Apps/Homeport.AppImage" "--data" "/mnt/100%% mine" "--hidden"')
  })

  test('from a checkout Electron is told what to run', () => {
    app.isPackaged = false
    createLogin(options).set(true)
    expect(readFileSync(file(), 'utf8')).toContain(`Exec="${process.execPath}" "/checkout" "--hidden"`)
  })

  test('a start is its own when it has the flag', () => {
    expect(createLogin(options).wasStartedBy(['--data', '/x', '--hidden'])).toBe(true)
    expect(createLogin(options).wasStartedBy([])).toBe(false)
  })

  test('any argument survives the two escapes of the specification', async () => {
    await onSeeds(corpus, async (seed) =>
      fc.assert(
        fc.property(
          fc.array(
            fc.string({ unit: 'grapheme' }).filter((text) => !text.split('').some((sign) => sign < ' ')),
            { minLength: 1 },
          ),
          (command) => {
            const entry = desktopEntry(command)
            const exec = entry.split('\n').find((line) => line.startsWith('Exec='))
            expect(readExec(exec?.slice('Exec='.length) ?? '')).toEqual(command)
          },
        ),
        { seed, numRuns: 500 },
      ),
    )
  })

  test('what would end the line is refused', () => {
    expect(() => quoteForExec('/home/me\nExec=rm')).toThrow('control characters')
  })
})

describe('macOS', () => {
  beforeEach(() => on('darwin'))

  test('an item of the system', () => {
    const login = createLogin(options)
    login.set(true)
    expect(login.isOn()).toBe(true)
    login.set(false)
    expect(login.isOn()).toBe(false)
  })

  test('the system says whether it was it', () => {
    expect(createLogin(options).wasStartedBy([])).toBe(false)
    world.login_item.wasOpenedAtLogin = true
    expect(createLogin(options).wasStartedBy([])).toBe(true)
  })
})

describe('Windows', () => {
  beforeEach(() => on('win32'))

  test('an item with its arguments, in quotes where it needs them', () => {
    const login = createLogin({ ...options, args: ['--data', 'D:\\My Data\\'] })
    login.set(true)
    expect(world.login_item).toMatchObject({ openAtLogin: true, args: ['--data', '"D:\\My Data\\\\"', '--hidden'] })
    expect(login.isOn()).toBe(true)
    expect(createLogin(options).isOn()).toBe(false)
  })

  test('any argument survives', async () => {
    await onSeeds(corpus, async (seed) =>
      fc.assert(
        fc.property(fc.array(fc.string({ minLength: 1 })), (args) => {
          expect(readLine(args.map(quoteForWindows).join(' '))).toEqual(args)
        }),
        { seed, numRuns: 500 },
      ),
    )
  })
})

/** As a desktop reads it: the escapes of a value, then the words, then the field codes. */
function readExec(value: string): string[] {
  const plain = value.replace(/\\(.)/g, (_, sign: string) => ({ s: ' ', n: '\n', t: '\t', r: '\r' })[sign] ?? sign)
  return [...plain.matchAll(/"((?:[^"\\]|\\.)*)"(?: |$)/gsu)].map(([, word = '']) => word.replace(/\\(["`$\\])/g, '$1').replaceAll('%%', '%'))
}

/** As the C library of Windows reads it. */
function readLine(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    const [slashes = ''] = /^\\*/.exec(line.slice(at)) ?? []
    const next = line[at + slashes.length]
    if (slashes !== '') {
      word = (word ?? '') + (next === '"' ? '\\'.repeat(Math.floor(slashes.length / 2)) : slashes)
      at += slashes.length - 1
      if (next === '"' && slashes.length % 2 === 1) {
        word += '"'
        at++
      }
    } else if (line[at] === '"') {
      isQuoted = !isQuoted
      word ??= ''
    } else if (/\s/.test(line[at] ?? '') && !isQuoted) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + line[at]
  }
  return word === undefined ? words : [...words, word]
}
