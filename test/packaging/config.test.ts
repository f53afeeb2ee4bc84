/** The configuration for other systems than this one, and the effect of the builder's environment. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { beforePack, detectMachine, archNames } from '../../resources/package/before-pack.ts'
import config from '../../resources/package/electron-builder.ts'
import { selectEntitlements, readUpdateFeed, hasNotaryCredentials } from '../../resources/package/build-environment.ts'
import { createTempFolder, root } from '../support/instance-process.ts'
import { icnsTypes, readIcns, readIco, readPng } from './icon-files.ts'

const resources = join(root, 'resources')
const read = (path: string) => readFileSync(join(resources, path))

test('every target, for both processors', () => {
  const targets = (system: 'mac' | 'win' | 'linux') => config[system].target.map(({ target, arch }) => `${target} ${[...arch].sort().join(' ')}`)
  expect(targets('mac')).toEqual(['dmg arm64 x64', 'zip arm64 x64'])
  expect(targets('win')).toEqual(['nsis arm64 x64'])
  expect(targets('linux')).toEqual(['AppImage arm64 x64', 'deb arm64 x64'])
})

test('homeport:// is registered on every system, and no file type', () => {
  expect(config.protocols).toEqual({ name: 'Homeport', schemes: ['homeport'] })
  expect(JSON.stringify(config)).not.toMatch(/fileAssociations|mimeTypes|\.zip"/)
})

test('macOS: a hardened runtime with only the entitlements that Node needs', () => {
  expect(config.mac).toMatchObject({ hardenedRuntime: true, category: 'public.app-category.developer-tools', notarize: false })
  const rights = (name: string) => [...readFileSync(join(root, name), 'utf8').matchAll(/<key>([^<]+)<\/key>/g)].map(([, key]) => key)
  expect(rights(selectEntitlements({ APPLE_KEYCHAIN_PROFILE: 'notary' }))).toEqual(['com.apple.security.cs.allow-jit'])
  // An ad-hoc signed package has parts without a common team.
  expect(config.mac.entitlements).toBe(config.mac.entitlementsInherit)
  expect(rights(config.mac.entitlementsInherit)).toEqual(['com.apple.security.cs.allow-jit', 'com.apple.security.cs.disable-library-validation'])
})

test('the fuses: no Node in the desktop, code only from the archive, every file verified by its hash', () => {
  expect(config.electronFuses).toEqual({
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    onlyLoadAppFromAsar: true,
    enableEmbeddedAsarIntegrityValidation: true,
    enableCookieEncryption: true,
    loadBrowserProcessSpecificV8Snapshot: false,
    grantFileProtocolExtraPrivileges: false,
  })
})

test('Linux: the command homeport, and the system packages that the desktop needs', () => {
  expect(config.linux).toMatchObject({ executableName: 'homeport-desktop', syncDesktopName: true })
  expect(config.deb).toMatchObject({ packageName: 'homeport', fpm: ['resources/package/linux/homeport=/usr/bin/homeport'] })
  expect(config.deb.depends).toEqual(expect.arrayContaining(['libgtk-3-0 | libgtk-3-0t64', 'libnss3', 'libsecret-1-0', 'xdg-utils']))
  expect(read('package/linux/homeport').toString()).toContain('exec /opt/Homeport/resources/bin/homeport "$@"')
})

test('Linux: the AppImage needs no libfuse2, and runs in Chromium’s sandbox where it can', () => {
  expect(config.toolsets.appimage).toBe('1.0.3')
  expect(JSON.stringify(config.linux)).not.toContain('no-sandbox')
})

test.each([true, false])('Linux: the .deb sets up Chromium’s sandbox; AppArmor has the profile: %s', (is_known) => {
  const { path: folder, remove } = createTempFolder('after-install')
  const write = (path: string, text: string, mode = 0o755) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, { mode })
  }
  write('opt/Homeport/homeport-desktop', '')
  write('opt/Homeport/chrome-sandbox', '')
  write('opt/Homeport/resources/apparmor-profile', 'profile')
  for (const name of ['update-alternatives', 'update-mime-database', 'update-desktop-database', 'ischroot', 'apparmor_status'])
    write(`usr/bin/${name}`, `#!/bin/sh\n[ ${name} != ischroot ]\n`)
  write('usr/bin/apparmor_parser', `#!/bin/sh\necho "$1" >> ${folder}/parsed\nexit ${is_known ? 0 : 1}\n`)
  write('etc/apparmor.d/README', '')
  const script = readFileSync(join(root, config.deb.afterInstall), 'utf8')
    .replaceAll('${executable}', 'homeport-desktop')
    .replaceAll('${sanitizedProductName}', 'Homeport')
    .replaceAll(/(?<=[ '])\/(?=opt|usr|etc)/g, `${folder}/`)
  const { stderr, status } = spawnSync('/bin/sh', ['-c', script], { env: { PATH: `${folder}/usr/bin:/usr/bin:/bin`, LC_ALL: 'C' }, encoding: 'utf8' })
  try {
    expect([status, stderr]).toEqual([0, ''])
    expect((statSync(join(folder, 'opt/Homeport/chrome-sandbox')).mode & 0o7777).toString(8)).toBe('4755')
    expect(existsSync(join(folder, 'etc/apparmor.d/homeport-desktop'))).toBe(is_known)
    expect(readFileSync(join(folder, 'parsed'), 'utf8').trim().split('\n')).toEqual(['--skip-kernel-load', ...(is_known ? ['--replace'] : [])])
  } finally {
    remove()
  }
})

test('Windows: per user, without an administrator', () => {
  expect(config.nsis).toMatchObject({ perMachine: false })
  expect(read('bin/homeport.cmd').toString()).toMatch(/^@echo off\r\n.*node\.exe".*homeport\.js" %\*\r\n$/s)
})

test('the workflow for other systems runs existing scripts, in valid shell syntax', () => {
  const text = readFileSync(join(root, '.github/workflows/desktop.yml'), 'utf8')
  const { jobs } = parse(text) as { jobs: { desktop: { steps: { run?: string }[] } } }
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  const runs = jobs.desktop.steps.flatMap(({ run }) => run?.replaceAll(/\$\{\{.*?\}\}/g, 'word') ?? [])
  for (const run of runs) expect(spawnSync('bash', ['-n', '-c', run], { encoding: 'utf8' }).stderr).toBe('')
  const named = runs.flatMap((run) => [...run.matchAll(/npm run ([\w:]+)|node ((?:test|node_modules)\/\S+)/g)])
  expect(named.map(([, script, file]) => (script ? scripts[script] !== undefined : existsSync(join(root, file!))))).toEqual(named.map(() => true))
  expect(named.length).toBeGreaterThan(4)
})

describe('updates', () => {
  test('without a feed nothing is published, and with one signing is required', () => {
    const published = (env: Record<string, string>) => {
      const ask = `import config from './resources/package/electron-builder.ts'; console.log(JSON.stringify([config.publish, config.forceCodeSigning]))`
      const { HOMEPORT_UPDATE_URL: _, ...rest } = process.env
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', ask], {
        cwd: root,
        env: { ...rest, ...env },
        encoding: 'utf8',
      })
      return stdout === '' ? stderr : (JSON.parse(stdout) as unknown)
    }
    expect(published({})).toEqual([null, false])
    expect(published({ HOMEPORT_UPDATE_URL: 'https://updates.example/' })).toEqual([{ provider: 'generic', url: 'https://updates.example/' }, true])
    expect(published({ HOMEPORT_UPDATE_URL: 'http://updates.example/' })).toMatch(/HOMEPORT_UPDATE_URL must be an https address/)
  })

  test.each(['http://updates.example/', 'https://me:secret@updates.example/', 'file:///tmp/feed'])('%s is not a valid feed', (url) => {
    expect(() => readUpdateFeed({ HOMEPORT_UPDATE_URL: url })).toThrow(
      'HOMEPORT_UPDATE_URL must be an https address without a user name or password.',
    )
  })

  test('a feed on this machine, for trying it out', () => {
    expect(readUpdateFeed({ HOMEPORT_UPDATE_URL: 'http://127.0.0.1:8000/' })).toBe('http://127.0.0.1:8000/')
    expect(readUpdateFeed({ HOMEPORT_UPDATE_URL: '' })).toBeUndefined()
  })
})

test.each([
  [{}, false],
  [{ APPLE_ID: 'me@example.com' }, false],
  [{ APPLE_ID: 'me@example.com', APPLE_APP_SPECIFIC_PASSWORD: 'x', APPLE_TEAM_ID: 'T' }, true],
  [{ APPLE_API_KEY: 'k', APPLE_API_KEY_ID: 'i', APPLE_API_ISSUER: 's' }, true],
  [{ APPLE_KEYCHAIN_PROFILE: 'notary' }, true],
])('notarizes only with complete credentials: %j', (env, expected) => {
  expect(hasNotaryCredentials(env)).toBe(expected)
})

describe('binaries of another platform', () => {
  const { path: folder, remove } = createTempFolder('programs')
  afterAll(remove)

  test('detects the system and processor of a binary', () => {
    expect(detectMachine(process.execPath)).toBe(`${process.platform}-${process.arch}`)
    const program = (...parts: [at: number, bytes: number[]][]) => {
      const bytes = Buffer.alloc(512)
      for (const [at, some] of parts) bytes.set(some, at)
      writeFileSync(join(folder, 'program'), bytes)
      return detectMachine(join(folder, 'program'))
    }
    const elf: [number, number[]] = [0, [0x7f, 0x45, 0x4c, 0x46]]
    expect(program(elf, [18, [0xb7]])).toBe('linux-arm64')
    expect(program(elf, [18, [0x28]])).toBe('linux-another processor')
    const mach: [number, number[]] = [0, [0xcf, 0xfa, 0xed, 0xfe]]
    expect(program(mach, [4, [0x0c, 0, 0, 1]])).toBe('darwin-arm64')
    expect(program(mach, [4, [7, 0, 0, 1]])).toBe('darwin-x64')
    const exe: [number, number[]][] = [
      [0, [0x4d, 0x5a]],
      [0x3c, [0x80]],
    ]
    expect(program(...exe, [0x84, [0x64, 0x86]])).toBe('win32-x64')
    expect(program(...exe, [0x84, [0x64, 0xaa]])).toBe('win32-arm64')
    expect(program([0, [0x23, 0x21]])).toBe('an unknown system')
  })

  test('refuses to build a package that would not run', async () => {
    const target = (electronPlatformName: string, arch: string) => ({
      electronPlatformName,
      arch: archNames.indexOf(arch),
      packager: { projectDir: root },
    })
    await expect(beforePack(target(process.platform, process.arch))).resolves.toBeUndefined()
    await expect(beforePack(target(process.platform, process.arch === 'x64' ? 'arm64' : 'x64'))).rejects.toThrow('Build on a machine of that kind')
    await expect(beforePack(target('aix', 'x64'))).rejects.toThrow(`is for ${process.platform}-${process.arch}, but the package is for aix-x64`)
  })
})

describe('icons', () => {
  test('Linux has a file for each size', () => {
    const sizes = readdirSync(join(resources, 'package/icons')).map((name) => {
      const { width, height, has_alpha } = readPng(read(`package/icons/${name}`))
      expect([name, has_alpha]).toEqual([`${width}x${height}.png`, true])
      return width
    })
    expect(sizes.sort((a, b) => a - b)).toEqual([16, 24, 32, 48, 64, 128, 256, 512, 1024])
  })

  test('macOS and Windows have all sizes in one file', () => {
    const icns = readIcns(read('package/icon.icns'))
    expect(Object.fromEntries(icns.map(({ type, png }) => [type, readPng(png).width]))).toEqual(icnsTypes)
    const ico = readIco(read('package/icon.ico'))
    expect(ico.map(({ size }) => size)).toEqual([16, 20, 24, 32, 40, 48, 64, 128, 256])
    for (const { size, png } of ico) expect(readPng(png)).toEqual({ width: size, height: size, has_alpha: true })
  })

  test('the tray has its own, in 1x and 2x', () => {
    const width = (name: string) => readPng(read(`tray/${name}`)).width
    expect(['trayTemplate.png', 'trayTemplate@2x.png', 'tray.png', 'tray@2x.png'].map(width)).toEqual([16, 32, 32, 64])
    expect(readIco(read('tray/tray.ico')).map(({ size }) => size)).toEqual([16, 20, 24, 32, 48])
  })
})
