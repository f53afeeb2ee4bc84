import { app } from 'electron'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../server/lib/clock.ts'
import { resolveDataFolder, type PlatformOptions, readOptions } from '../server/options.ts'
import { sandboxNote } from './chromium-sandbox.mjs'
import { startEmbeddedPlatform } from './platform.ts'
import { runDesktop } from './desktop.ts'
import { hasTrayHost } from './tray-host.ts'
import { readPackageMetadata } from './package-metadata.ts'
import { translocationWarning, updatesDisabledReason } from './updates.ts'

// A checkout has no archive. Without this setting, npm packages would treat files that end in .asar as folders.
if (!app.isPackaged) process.noAsar = true

/** The entry of Electron's main process. It accepts the options of `homeport serve` and ignores Chromium's own. */
const flag = { type: 'string' } as const
const { values } = parseArgs({
  args: process.argv.slice(1),
  options: {
    data: flag,
    host: flag,
    port: flag,
    'edge-port': flag,
    'edge-https-port': flag,
    'edge-workers': flag,
    runtime: flag,
    hidden: { type: 'boolean' },
  },
  strict: false,
})
const stringFlag = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined)

function readOptionsOrExit(): PlatformOptions {
  try {
    return readOptions({
      data: stringFlag('data'),
      host: stringFlag('host'),
      port: stringFlag('port'),
      'edge-port': stringFlag('edge-port'),
      'edge-https-port': stringFlag('edge-https-port'),
      'edge-workers': stringFlag('edge-workers'),
      runtime: stringFlag('runtime'),
    })
  } catch (error) {
    // If the error were rethrown, Electron would show a crash dialog.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return process.exit(2)
  }
}
const options: PlatformOptions = {
  ...readOptionsOrExit(),
  window_note: app.commandLine.hasSwitch('no-sandbox') ? sandboxNote(process.execPath) : null,
}

const { APPIMAGE: app_image = null, XDG_CONFIG_HOME: config_dir = join(homedir(), '.config') } = process.env
const packageTypeFile = join(process.resourcesPath, 'package-type')
const package_type = existsSync(packageTypeFile) ? readFileSync(packageTypeFile, 'utf8').trim() : null
const { download_page, public_key } = app.isPackaged ? readPackageMetadata(app.getAppPath()) : { download_page: null, public_key: null }

// Not awaited, because Electron becomes ready only after this module has finished.
runDesktop({
  data_dir: options.data_dir,
  preload: join(import.meta.dirname, '../preload/index.cjs'),
  resources: join(import.meta.dirname, '../../resources'),
  argv: process.argv.slice(1),
  login: { args: options.data_dir === resolveDataFolder(undefined, {}) ? [] : ['--data', options.data_dir], config_dir, app_image },
  updates: {
    disabled_reason: updatesDisabledReason({
      is_packaged: app.isPackaged,
      has_feed: existsSync(join(process.resourcesPath, 'app-update.yml')),
      platform: process.platform,
      exec_path: process.execPath,
      app_image,
      package_type,
      public_key,
    }),
    download_page,
    public_key,
    // Installing a .deb asks for a password, which must not happen while quitting.
    installs_on_quit: package_type !== 'deb',
    // Loaded lazily, because electron-updater searches for its feed as soon as it is loaded.
    loadUpdater: async () => (await import('electron-updater')).default.autoUpdater,
  },
  hasTrayHost,
  platform: process.platform,
  startup_warning: translocationWarning(process.execPath),
  parentProcess: process,
  clock: systemClock,
  startPlatform: (log) => startEmbeddedPlatform(options, log),
  echo: (line) => void process.stderr.write(line),
}).catch((error: unknown) => {
  console.error(error)
  app.exit(1)
})
