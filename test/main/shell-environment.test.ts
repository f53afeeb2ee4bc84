import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resolveShellEnvironment } from '../../main/shell-environment.ts'
import { createTestClock } from '../support/test-clock.ts'

let folder: string
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'homeport-shell-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A login shell whose startup files print something and set the PATH. */
function shellThat(does: string, name = 'zsh'): string {
  const file = join(folder, name)
  writeFileSync(
    file,
    `#!/bin/sh\n${does}\nfor command; do :; done\necho welcome\nexport PATH=/home/me/.nvm/bin:/usr/bin:relative\n[ "$1" = ${name === 'tcsh' ? '-ic' : '-i'} ] && eval "$command"\n`,
  )
  chmodSync(file, 0o755)
  return file
}
const barePath = '/usr/bin:/bin:/usr/sbin:/sbin'
const homebrewPath = '/opt/homebrew/bin:/opt/homebrew/sbin:/usr/local/bin'
const clock = createTestClock({ frozen_at: 0 })
const open = (shell: string | null, PATH = barePath, platform: NodeJS.Platform = 'darwin') =>
  resolveShellEnvironment({ environment: { PATH, HOME: folder }, clock, platform, shell })

test.each(['zsh', 'tcsh'])('an app opened from Finder gets the PATH of the user’s %s', async (name) => {
  expect(await open(shellThat('', name))).toEqual({ PATH: `/home/me/.nvm/bin:/usr/bin:${homebrewPath}:/bin:/usr/sbin:/sbin`, HOME: folder })
})

test.each([
  ['none', null],
  ['one that does not exist', '/nowhere/fish'],
  ['one that fails', () => shellThat('exit 3')],
])('with the shell %s Homebrew is still found', async (_name, shell) => {
  expect((await open(typeof shell === 'function' ? shell() : shell)).PATH).toBe(`${homebrewPath}:${barePath}`)
})

test('a shell that never exits times out after three seconds', async () => {
  const opened = open(shellThat('exec sleep 1000'))
  await clock.advance(3_000)
  expect((await opened).PATH).toBe(`${homebrewPath}:${barePath}`)
})

test('a PATH from a terminal, or of another system, stays unchanged', async () => {
  const shell = shellThat('')
  expect((await open(shell, `/home/me/bin:${barePath}`)).PATH).toBe(`/home/me/bin:${barePath}`)
  expect((await open(shell, barePath, 'linux')).PATH).toBe(barePath)
})
