import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Settings of the desktop app only. Settings of the platform are stored by the platform. */
export interface DesktopSettings {
  /** Homeport keeps running when its window is closed, if there is a tray. */
  keeps_running: boolean
  notifies: boolean
  downloads_updates: boolean
  /** Whether the user was notified once that Homeport keeps running in the tray. */
  was_told: boolean
}

export interface SettingsFile {
  current(): DesktopSettings
  change(change: Partial<DesktopSettings>): void
}

const defaultSettings: DesktopSettings = { keeps_running: true, notifies: true, downloads_updates: false, was_told: false }

/** A missing, damaged or outdated file is used as far as it is readable. */
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
  return Object.fromEntries(Object.entries(value).filter(([key, setting]) => key in defaultSettings && typeof setting === 'boolean'))
}

function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
