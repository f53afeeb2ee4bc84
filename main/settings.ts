import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What a person chose for the desktop alone; what holds for the platform is the platform's. */
export interface DesktopSettings {
  /** Homeport goes on when its window is closed, where there is a tray to find it again. */
  keeps_running: boolean
  notifies: boolean
  downloads_updates: boolean
  /** Somebody was told once that it goes on in the tray. */
  was_told: boolean
}

export interface SettingsFile {
  current(): DesktopSettings
  change(change: Partial<DesktopSettings>): void
}

const defaultSettings: DesktopSettings = { keeps_running: true, notifies: true, downloads_updates: false, was_told: false }

/** A file that is missing, torn or of another time counts as far as it can be read. */
export function openSettingsFile(path: string): SettingsFile {
  let settings = { ...defaultSettings, ...pickKnownSettings(readJsonFile(path)) }
  return {
    current: () => settings,
    change(change) {
      settings = { ...settings, ...pickKnownSettings(change) }
      mkdirSync(dirname(path), { recursive: true })
      const temporaryPath = `${path}.new`
      writeFileSync(temporaryPath, JSON.stringify(settings))
      renameSync(temporaryPath, path)
    },
  }
}

function pickKnownSettings(value: unknown): Partial<DesktopSettings> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value).filter(([key, one]) => key in defaultSettings && typeof one === 'boolean'))
}

function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
