import { readPreference, writePreference } from '../../stores/ui.ts'

const key = 'homeport.palette.recent'
const maxRecent = 6

/** What this browser ran last, newest first: names of commands, and projects as `project/slug`. */
export function readRecentCommands(): string[] {
  try {
    const stored: unknown = JSON.parse(readPreference(key) ?? '[]')
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string').slice(0, maxRecent) : []
  } catch {
    return []
  }
}

export function rememberCommand(name: string): void {
  writePreference(key, JSON.stringify([name, ...readRecentCommands().filter((one) => one !== name)].slice(0, maxRecent)))
}
