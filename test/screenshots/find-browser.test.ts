import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findBrowser } from '../../server/screenshots/find-browser.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'homeport-programs-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function make(name: string, mode = 0o755): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '#!/bin/sh\n')
  chmodSync(path, mode)
  return path
}
const machine = (more: object = {}) => ({ chromium: 'auto', home: folder, environment: { PATH: folder }, ...more })

test('by its usual names on the PATH, Chromium before Chrome', () => {
  const chrome = make('google-chrome')
  expect(findBrowser(machine(), 'linux')).toBe(chrome)
  expect(findBrowser(machine(), 'linux')).toBe(chrome)
  const chromium = make('chromium')
  expect(findBrowser(machine(), 'linux')).toBe(chromium)
})

test('among the user’s apps on macOS', () => {
  const chrome = make('Applications/Google Chrome.app/Contents/MacOS/Google Chrome')
  // A browser for all users, if this machine has one, comes first.
  expect(findBrowser(machine({ environment: {} }), 'darwin')).toMatch(/Google Chrome$/)
  expect(chrome).toContain(folder)
})

test('in the program folders on Windows, whatever the case of their variables', () => {
  const edge = make('Microsoft\\Edge\\Application\\msedge.exe')
  expect(findBrowser(machine({ environment: { PROGRAMFILES: '', 'PROGRAMFILES(X86)': folder } }), 'win32')).toBe(edge)
})

test('the configured one, and no other', () => {
  make('chromium')
  const mine = make('my-browser')
  expect(findBrowser(machine({ chromium: mine }), 'linux')).toBe(mine)
  expect(findBrowser(machine({ chromium: join(folder, 'none') }), 'linux')).toBeUndefined()
  expect(findBrowser(machine({ chromium: 'off' }), 'linux')).toBeUndefined()
})

test.skipIf(process.platform === 'win32')('never a file that is not executable, a folder, or a relative path', () => {
  const plain = make('plain', 0o644)
  mkdirSync(join(folder, 'directory'))
  for (const chromium of [plain, join(folder, 'directory')]) expect(findBrowser(machine({ chromium }), 'linux')).toBeUndefined()
  make('chromium')
  expect(findBrowser(machine({ environment: { PATH: '.' } }), 'linux')).not.toBe('chromium')
})
