/** Windows ignores the case of variable names, a copied environment does not. Child processes must still get their variables. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resolveDataFolder, resolveHostsPath, resolveNodePath } from '../../server/options.ts'
import { createWindowsVariables } from '../../server/runtime/process/toolchains.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { createProgramRunner } from '../../server/tls/run-program.ts'
import { isMacosGitStub } from '../../server/source/macos-git-stub.ts'
import { runGit } from '../../server/source/run-git.ts'
import { gitFetchEnvironment, gitEnvironment } from '../../server/source/git-environment.ts'
import { variableOf } from '../../server/lib/environment.ts'
import { systemPaths } from '../../server/bootstrap/start-runtimes.ts'
import { requires } from '../support/requirements.ts'

const windows = { Path: '/usr/bin:/bin', SystemRoot: 'C:\\Windows', Http_Proxy: 'http://proxy:3128', ssh_auth_sock: '/run/agent', SECRET: 'sk' }
const address = { url: 'ssh://git@example.com/app.git', scheme: 'ssh' as const, host: 'example.com', port: 22, credentials: null, pinned_ip: null }

test('a variable is found in any case on Windows, and only exactly elsewhere', () => {
  expect(variableOf(windows, 'PATH', 'win32')).toBe('/usr/bin:/bin')
  expect(variableOf({ Path: 'other', PATH: 'exact' }, 'PATH', 'win32')).toBe('exact')
  expect(variableOf({ PATH: undefined, Path: 'copied' }, 'PATH', 'win32')).toBe('copied')
  expect(variableOf(windows, 'PATH', 'linux')).toBeUndefined()
})

test('git on Windows gets its PATH, SystemRoot, the proxy and the SSH agent', () => {
  expect(gitEnvironment(windows, 'C:\\home', 'win32')).toMatchObject({ PATH: windows.Path, SYSTEMROOT: 'C:\\Windows', GIT_CONFIG_GLOBAL: 'NUL' })
  const fetching = gitFetchEnvironment(windows, 'C:\\home', address, null, 'win32')
  expect(fetching).toMatchObject({ HTTP_PROXY: windows.Http_Proxy, SSH_AUTH_SOCK: '/run/agent' })
  expect(Object.values(fetching)).not.toContain('sk')
  expect(gitEnvironment(windows, '/home', 'linux')).not.toHaveProperty('PATH')
})

test('builds and apps on Windows get PATH, and the real SystemRoot', () => {
  const copied = { Path: 'D:\\Windows\\System32', SYSTEMROOT: 'D:\\Windows' }
  const paths = systemPaths(copied, 'win32')
  expect(paths).toEqual({ path: copied.Path, system_root: 'D:\\Windows' })
  expect(systemPaths(copied, 'linux')).toEqual({})
  const folders = { home: 'C:\\home', temporary: 'C:\\tmp', system_root: paths.system_root }
  expect(createWindowsVariables(folders, 'win32')).toEqual({ USERPROFILE: 'C:\\home', TEMP: 'C:\\tmp', TMP: 'C:\\tmp', SystemRoot: 'D:\\Windows' })
  expect(createWindowsVariables(folders, 'linux')).toEqual({})
})

test('Windows folders are found in a copy of the environment', () => {
  expect(resolveDataFolder(undefined, { LocalAppData: 'D:\\me' }, 'win32')).toBe('D:\\me\\Homeport')
  expect(resolveHostsPath({ SYSTEMROOT: 'D:\\Windows' }, 'win32')).toBe('D:\\Windows\\System32\\drivers\\etc\\hosts')
})

test('the data folder is that of the flag, of the environment, of the desktop, or of the system', () => {
  const env = { HOMEPORT_DATA: '/srv/data', XDG_DATA_HOME: '/srv/xdg' }
  expect(resolveDataFolder('/srv/flag', env, 'linux')).toBe('/srv/flag')
  expect(resolveDataFolder(undefined, env, 'linux')).toBe('/srv/data')
  expect(resolveDataFolder('', env, 'linux')).toBe('/srv/xdg/homeport')
  expect(resolveDataFolder(undefined, {}, 'linux')).toBe(join(homedir(), '.local', 'share', 'homeport'))
  expect(resolveDataFolder(undefined, {}, 'darwin')).toBe(join(homedir(), 'Library', 'Application Support', 'Homeport'))
})

test('in Electron apps run on the bundled Node, or on the one that npm start uses', () => {
  const env = { HOMEPORT_NODE: '/usr/bin/node' }
  expect(resolveNodePath(process.execPath, env, true)).toBe(process.execPath)
  expect(resolveNodePath('/not/installed', env, true)).toBe('/usr/bin/node')
  expect(resolveNodePath('/not/installed', env, false)).toBe(process.execPath)
})

test('child processes on Windows get PATH and SystemRoot', async () => {
  const print = ['-e', 'process.stdout.write([process.env.PATH, process.env.SystemRoot, process.env.SECRET].join())']
  expect(await createProgramRunner(windows, 'win32')(process.execPath, print)).toMatchObject({ code: 0, out: '/usr/bin:/bin,C:\\Windows,' })
})

test.skipIf(!requires('git').ok)('Apple’s git stub, which opens a dialog, counts as no git until the developer tools are installed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-git-'))
  const tools = join(folder, 'tools/usr/bin')
  mkdirSync(tools, { recursive: true })
  writeFileSync(join(tools, 'git'), '', { mode: 0o755 })
  expect(await isMacosGitStub('/none:/usr/bin', 'darwin', async () => undefined)).toBe(true)
  expect(await isMacosGitStub('/none:/usr/bin/', 'darwin', async () => folder)).toBe(true)
  expect(await isMacosGitStub('/none:/usr/bin', 'darwin', async () => join(folder, 'tools'))).toBe(false)
  expect(await isMacosGitStub(`${tools}:/usr/bin`, 'darwin', async () => undefined)).toBe(false)
  expect(await isMacosGitStub('/usr/bin', 'linux', async () => undefined)).toBe(false)
  // This machine has no xcode-select, like a Mac without selected tools.
  const options = { environment: { PATH: '/usr/bin' }, signal: new AbortController().signal, clock: systemClock }
  await expect(runGit(['--version'], { ...options, platform: 'darwin' })).rejects.toMatchObject({ code: 'ENOENT' })
  expect((await runGit(['--version'], { ...options, platform: 'linux' })).code).toBe(0)
  rmSync(folder, { recursive: true })
})
