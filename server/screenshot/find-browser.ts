import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Environment, pickVariables } from '../lib/environment.ts'

export interface BrowserPlace {
  /** A path, `auto` for one that is found, `off` for none. */
  chromium: string
  home: string
  environment: Environment
}

const commands = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'microsoft-edge-stable', 'microsoft-edge']
const apps = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser']
const windowsPrograms = ['Google\\Chrome\\Application\\chrome.exe', 'Chromium\\Application\\chrome.exe', 'Microsoft\\Edge\\Application\\msedge.exe']

/** A browser of the Chromium family, by the usual names and places of the system; undefined when there is none. */
export function findBrowser(place: BrowserPlace, system: NodeJS.Platform = process.platform): string | undefined {
  if (place.chromium === 'off') return undefined
  if (place.chromium !== 'auto') return isProgram(place.chromium) ? place.chromium : undefined
  return candidates(place, system).find(isProgram)
}

function candidates({ home, environment }: BrowserPlace, system: NodeJS.Platform): string[] {
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

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
