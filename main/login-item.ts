import { app } from 'electron'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The argument of a start that nobody is looking at. */
const hiddenFlag = '--hidden'

export interface LoginItemOptions {
  /** Arguments that this very Homeport has to be started with, such as its data folder. */
  args: string[]
  /** `$XDG_CONFIG_HOME`, or where it is by custom; Linux only. */
  config_dir: string
  /** The file of an AppImage, which is what has to be started, and not what it unpacked; null: none. */
  app_image: string | null
}

/** Whether Homeport is started when its user signs in to the machine. */
export interface LoginItem {
  /** null: it cannot be chosen here. */
  isEnabled(): boolean | null
  setEnabled(isEnabled: boolean): void
  /** Whether the system started this run by itself. */
  wasStartedAtLogin(argv: readonly string[]): boolean
}

export function createLoginItem(options: LoginItemOptions, platform: NodeJS.Platform): LoginItem {
  if (platform === 'linux') return createAutostartEntry(options)
  // macOS starts a bundle without arguments: from a checkout that would be Electron with nothing to run.
  if (platform === 'darwin' && !app.isPackaged)
    return { isEnabled: () => null, setEnabled() {}, wasStartedAtLogin: (argv) => argv.includes(hiddenFlag) }
  return createSystemLoginItem(options, platform)
}

function createSystemLoginItem({ args }: LoginItemOptions, platform: NodeJS.Platform): LoginItem {
  // Electron quotes each of them (electron#50016).
  const item = platform === 'win32' ? { args: [...appPathArgs(), ...args, hiddenFlag] } : {}
  return {
    isEnabled: () => app.getLoginItemSettings(item).openAtLogin,
    setEnabled: (openAtLogin) => app.setLoginItemSettings({ ...item, openAtLogin }),
    wasStartedAtLogin: (argv) => argv.includes(hiddenFlag) || (platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin),
  }
}

/** Linux has a folder for it (freedesktop.org, Desktop Application Autostart). */
function createAutostartEntry({ args, config_dir, app_image }: LoginItemOptions): LoginItem {
  const folder = join(config_dir, 'autostart')
  const path = join(folder, 'homeport.desktop')
  const command = app_image === null ? [process.execPath, ...appPathArgs()] : [app_image]
  return {
    // Desktops put a line in to turn it off.
    isEnabled: () => existsSync(path) && !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/m.test(readFileSync(path, 'utf8')),
    setEnabled(isEnabled) {
      if (!isEnabled) return rmSync(path, { force: true })
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(path, formatDesktopEntry([...command, ...args, hiddenFlag]))
    },
    wasStartedAtLogin: (argv) => argv.includes(hiddenFlag),
  }
}

/** From a checkout Electron has to be told what to run. */
const appPathArgs = () => (app.isPackaged ? [] : [app.getAppPath()])

export function formatDesktopEntry(command: string[]): string {
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Homeport',
    'Comment=Deployments on your own machine',
    `Exec=${command.map(quoteForExec).join(' ')}`,
    'Icon=homeport',
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
    '',
  ].join('\n')
}

/** By the Desktop Entry Specification: quoted as an argument, then escaped as a value, and `%` is no field code. */
export function quoteForExec(argument: string): string {
  // oxlint-disable-next-line no-control-regex -- a value is one line
  if (/[\u0000-\u001f]/.test(argument)) throw new Error('Homeport cannot be opened at login from a folder with control characters in its name.')
  return `"${argument
    .replace(/["`$\\]/g, '\\$&')
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')}"`
}
