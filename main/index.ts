import { app } from 'electron'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../server/lib/clock.ts'
import { dataFolder, type PlatformOptions, readOptions } from '../server/options.ts'
import { sandboxNote } from './chromium-sandbox.mjs'
import { openCity } from './city.ts'
import { runDesktop } from './desktop.ts'
import { hasTrayHost } from './tray-host.ts'
import { builtWith } from './built-with.ts'
import { adviceFor, whyNotUpdated } from './updates.ts'

// A checkout has no archive; without this, packages of npm too would take files that end in .asar for folders.
if (!app.isPackaged) process.noAsar = true

/** The desktop: Electron's main process. It takes the options of `homeport serve`, Chromium's own pass by. */
const flag = { type: 'string' } as const
const { values } = parseArgs({
  args: process.argv.slice(1),
  options: { data: flag, host: flag, port: flag, 'edge-port': flag, 'edge-https-port': flag, runtime: flag, hidden: { type: 'boolean' } },
  strict: false,
})
const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined)

function optionsOrExit(): PlatformOptions {
  try {
    return readOptions({
      data: text('data'),
      host: text('host'),
      port: text('port'),
      'edge-port': text('edge-port'),
      'edge-https-port': text('edge-https-port'),
      runtime: text('runtime'),
    })
  } catch (error) {
    // Thrown on, Electron would show it as a crash in a dialog.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return process.exit(2)
  }
}
const options: PlatformOptions = {
  ...optionsOrExit(),
  window_note: app.commandLine.hasSwitch('no-sandbox') ? sandboxNote(process.execPath) : null,
}

const { APPIMAGE: app_image = null, XDG_CONFIG_HOME: config_dir = join(homedir(), '.config') } = process.env
const packageType = join(process.resourcesPath, 'package-type')
const package_type = existsSync(packageType) ? readFileSync(packageType, 'utf8').trim() : null
const { page, key } = app.isPackaged ? builtWith(app.getAppPath()) : { page: null, key: null }

// Not awaited: Electron gets ready only after this module has run to its end.
runDesktop({
  data_dir: options.data_dir,
  preload: join(import.meta.dirname, '../preload/index.cjs'),
  resources: join(import.meta.dirname, '../../resources'),
  argv: process.argv.slice(1),
  login: { args: options.data_dir === dataFolder(undefined, {}) ? [] : ['--data', options.data_dir], config_dir, app_image },
  updates: {
    off: whyNotUpdated({
      is_packaged: app.isPackaged,
      has_feed: existsSync(join(process.resourcesPath, 'app-update.yml')),
      platform: process.platform,
      exec_path: process.execPath,
      app_image,
      package_type,
      has_key: key !== null,
    }),
    page,
    // macOS and Windows check a signature of their own.
    key: process.platform === 'linux' ? key : null,
    // A .deb asks for a password, and not when somebody is on the way out.
    installs_at_end: package_type !== 'deb',
    // It looks for its feed as soon as it is loaded.
    load: async () => (await import('electron-updater')).default.autoUpdater,
  },
  hasTrayHost,
  platform: process.platform,
  advice: adviceFor(process.execPath),
  parent: process,
  clock: systemClock,
  openCity: (journal) => openCity(options, journal),
  echo: (line) => void process.stderr.write(line),
}).catch((error: unknown) => {
  console.error(error)
  app.exit(1)
})
