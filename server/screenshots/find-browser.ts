import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Environment, pickVariables } from '../lib/environment.ts'

export interface BrowserLocation {
  /** A path, `auto` to search for a browser, or `off`. */
  chromium: string
  home: string
  environment: Environment
}

const commands = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'microsoft-edge-stable', 'microsoft-edge']
const apps = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser']
const windowsPrograms = ['Google\\Chrome\\Application\\chrome.exe', 'Chromium\\Application\\chrome.exe', 'Microsoft\\Edge\\Application\\msedge.exe']

/** Finds a Chromium-based browser by the common names and paths of the system; undefined when there is none. */
export function findBrowser(location: BrowserLocation, system: NodeJS.Platform = process.platform): string | undefined {
  if (location.chromium === 'off') return undefined
  if (location.chromium !== 'auto') return isExecutable(location.chromium) ? location.chromium : undefined
  return listCandidates(location, system).find(isExecutable)
}

function listCandidates({ home, environment }: BrowserLocation, system: NodeJS.Platform): string[] {
  if (system === 'win32')
    return Object.values(pickVariables(environment, ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA'], system)).flatMap((folder) =>
      windowsPrograms.map((program) => join(folder, program)),
    )
  const onPath = (environment.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .flatMap((folder) => commands.map((command) => join(folder, command)))
  if (system !== 'darwin') return [...onPath, ...['/usr/bin', '/snap/bin'].flatMap((folder) => commands.map((command) => join(folder, command)))]
  const inApps = ['/Applications', join(home, 'Applications')].flatMap((folder) =>
    apps.map((app) => join(folder, `${app}.app`, 'Contents', 'MacOS', app)),
  )
  return [...inApps, ...onPath]
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
