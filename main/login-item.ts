import { app } from 'electron'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The argument of a start without a window. */
const hiddenFlag = '--hidden'

export interface LoginItemOptions {
  /** Arguments that this Homeport must be started with, such as its data folder. */
  args: string[]
  /** `$XDG_CONFIG_HOME` or its default; Linux only. */
  config_dir: string
  /** The AppImage file, which must be started instead of its unpacked content; null if there is none. */
  app_image: string | null
}

/** Whether Homeport starts when the user signs in to the machine. */
export interface LoginItem {
  /** null if it cannot be changed here. */
  isEnabled(): boolean | null
  setEnabled(isEnabled: boolean): void
  /** Whether this run was started at login. */
  wasStartedAtLogin(argv: readonly string[]): boolean
}

export function createLoginItem(options: LoginItemOptions, platform: NodeJS.Platform): LoginItem {
  if (platform === 'linux') return createAutostartEntry(options)
  // macOS starts a bundle without arguments, which in a checkout would be Electron without an app.
  if (platform === 'darwin' && !app.isPackaged)
    return { isEnabled: () => null, setEnabled() {}, wasStartedAtLogin: (argv) => argv.includes(hiddenFlag) }
  return createSystemLoginItem(options, platform)
}

function createSystemLoginItem({ args }: LoginItemOptions, platform: NodeJS.Platform): LoginItem {
  // Electron quotes each argument (electron#50016).
  const item = platform === 'win32' ? { args: [...appPathArgs(), ...args, hiddenFlag] } : {}
  return {
    isEnabled: () => app.getLoginItemSettings(item).openAtLogin,
    setEnabled: (openAtLogin) => app.setLoginItemSettings({ ...item, openAtLogin }),
    wasStartedAtLogin: (argv) => argv.includes(hiddenFlag) || (platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin),
  }
}

/** Linux uses an autostart folder (freedesktop.org, Desktop Application Autostart). */
function createAutostartEntry({ args, config_dir, app_image }: LoginItemOptions): LoginItem {
  const folder = join(config_dir, 'autostart')
  const path = join(folder, 'homeport.desktop')
  const command = app_image === null ? [process.execPath, ...appPathArgs()] : [app_image]
  return {
    // Desktop environments disable an entry by adding one of these lines.
    isEnabled: () => existsSync(path) && !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/m.test(readFileSync(path, 'utf8')),
    setEnabled(isEnabled) {
      if (!isEnabled) return rmSync(path, { force: true })
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(path, formatDesktopEntry([...command, ...args, hiddenFlag]))
    },
    wasStartedAtLogin: (argv) => argv.includes(hiddenFlag),
  }
}

/** In a checkout, Electron needs the path of the app. */
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

/** Quoting of the Desktop Entry Specification: quoted as an argument, then escaped as a value, with `%` doubled. */
export function quoteForExec(argument: string): string {
  // oxlint-disable-next-line no-control-regex -- a value is one line
  if (/[\u0000-\u001f]/.test(argument)) throw new Error('Homeport cannot open at login, because its folder name contains control characters.')
  return `"${argument
    .replace(/["`$\\]/g, '\\$&')
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')}"`
}
