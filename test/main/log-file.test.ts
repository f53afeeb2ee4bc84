import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startCrashReporter, installCrashHandlers } from '../../main/crash-reporting.ts'
import { createDesktopLog } from '../../main/log-file.ts'
import { maskSecrets } from '../../server/lib/log-file.ts'
import { newSecret, newToken } from '../../server/lib/token.ts'
import { app, resetFakeElectron, fakeElectron } from '../support/fake-electron.ts'

let folder: string
beforeEach(() => {
  resetFakeElectron()
  folder = mkdtempSync(join(tmpdir(), 'homeport-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const written = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('')

test('is a private file, one line of JSON per entry, newest last', () => {
  const journal = createDesktopLog(folder)
  journal.info('began', { port: 4600 })
  journal.error('failed', { error: new Error('It is broken.', { cause: new Error('by hand') }) })
  expect(journal.tail(1).map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ level: 'error', event: 'failed', error: expect.objectContaining({ message: 'It is broken.' }) as object }),
  ])
  expect(journal.tail(10)).toHaveLength(2)
  if (process.platform !== 'win32') expect(statSync(join(folder, 'main.log')).mode & 0o777).toBe(0o600)
})

test('is bounded: three files of limited size, rotated; a restart continues the current one', () => {
  const limits = { file_bytes: 2_000, files: 3 }
  for (let run = 0; run < 4; run++) {
    const journal = createDesktopLog(folder, { limits })
    for (let line = 0; line < 40; line++) journal.info('line', { run, line, filler: 'x'.repeat(60) })
  }
  expect(readdirSync(folder).sort()).toEqual(['main.1.log', 'main.2.log', 'main.log'])
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(limits.file_bytes)
  expect(createDesktopLog(folder, { limits }).tail(1)[0]).toContain('"run":3,"line":39')
})

test('a line that is far too long is truncated', () => {
  const journal = createDesktopLog(folder)
  journal.warn('long', { text: 'y'.repeat(100_000) })
  expect(written().length).toBeLessThan(9_000)
})

test('a full disk stops nothing', () => {
  const journal = createDesktopLog(folder)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'not a folder')
  journal.error('lost')
  expect(journal.tail(5)).toEqual([])
})

describe('contains no secret', () => {
  const token = newToken()
  const purge = newToken('hpp')
  const code = newSecret()
  const other = 'pa$$ w0rd/with+signs='

  test('in any form', () => {
    const journal = createDesktopLog(folder)
    journal.redact(other)
    const fields = {
      token,
      purge,
      url: `http://127.0.0.1:4600/sign-in?code=${code}&x=1`,
      git: `fatal: https://me:${code}@example.com/app.git not found`,
      header: `Authorization: Bearer ${code}`,
      other,
      encoded: encodeURIComponent(other),
      base64: Buffer.from(`user:${other}`).toString('base64'),
      error: new Error(`refused ${token}`, { cause: new Error(`at ?token=${code}`) }),
    }
    journal.error('everything', fields)
    const text = written()
    for (const secret of [token, purge, code, other, encodeURIComponent(other)]) expect(text).not.toContain(secret)
    expect(text).toContain('http://127.0.0.1:4600/sign-in?code=••••••&x=1')
    expect(text).toContain('https://••••••@example.com/app.git')
    for (const line of text.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow()
  })

  test('and leaves other text unchanged', () => {
    const text = 'GET http://shop.localhost:4680/?page=2 of me@example.com took 3 ms; bearer of news; svc is up'
    expect(maskSecrets(text)).toBe(text)
  })
})

describe('uncaught errors', () => {
  let off: () => void
  let ends: number
  beforeEach(() => {
    ends = 0
    off = installCrashHandlers(createDesktopLog(folder), () => void (ends += 1))
  })
  afterEach(() => off())

  /** Emits like the process itself, bypassing the listeners of the test runner. */
  const raise = (event: 'uncaughtException' | 'unhandledRejection', error: Error) => {
    const own = process.listeners(event as 'uncaughtException').at(-1)
    own?.(error, 'uncaughtException')
  }

  test('an unhandled rejection is logged, and Homeport continues', () => {
    raise('unhandledRejection', new Error('Nobody waited.'))
    expect(written()).toContain('Nobody waited.')
    expect([ends, fakeElectron.errors]).toEqual([0, []])
  })

  test('an uncaught exception is logged and reported once, and Homeport exits in order', () => {
    raise('uncaughtException', new Error('It broke.'))
    raise('uncaughtException', new Error('And while it ended.'))
    expect(ends).toBe(1)
    expect(fakeElectron.errors).toEqual([`Homeport must quit: It broke.\n\nYour projects and their data are safe. Details are in the log: ${folder}`])
    expect(written()).toContain('And while it ended.')
  })

  test('a crashed Chromium process is logged, a clean exit is not', () => {
    app.emit('child-process-gone', {}, { type: 'GPU', reason: 'crashed', exitCode: 5 })
    app.emit('child-process-gone', {}, { type: 'Utility', reason: 'clean-exit', exitCode: 0, name: 'Network Service' })
    expect(written().trim().split('\n')).toEqual([expect.stringContaining('"type":"GPU","reason":"crashed"')])
  })

  test('close removes the listeners', () => {
    const before = process.listenerCount('uncaughtException')
    off()
    expect(process.listenerCount('uncaughtException')).toBe(before - 1)
  })
})

test('crash reports are stored next to it and sent nowhere', () => {
  const journal = createDesktopLog(join(folder, 'logs'))
  startCrashReporter(journal)
  expect(fakeElectron.paths.get('crashDumps')).toBe(join(folder, 'logs', 'crashes'))
  expect(fakeElectron.crash_reports).toEqual({ uploadToServer: false })
  expect(existsSync(journal.folder)).toBe(true)
})
