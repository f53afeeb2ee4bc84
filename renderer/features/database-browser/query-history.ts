const maxEntries = 50
const maxEntry_characters = 20_000

export interface HistoryEntry {
  sql: string
  at: string
}

const storageKey = (slug: string) => `homeport.sql.${slug}`

/** The last statements of a project, newest first. They are kept in this browser only. */
export function readHistory(slug: string): HistoryEntry[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey(slug)) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isEntry).slice(0, maxEntries) : []
  } catch {
    return []
  }
}

export function addToHistory(slug: string, sql: string): HistoryEntry[] {
  const text = sql.trim()
  if (text === '' || text.length > maxEntry_characters) return readHistory(slug)
  const entries = [{ sql: text, at: new Date().toISOString() }, ...readHistory(slug).filter((entry) => entry.sql !== text)].slice(0, maxEntries)
  try {
    localStorage.setItem(storageKey(slug), JSON.stringify(entries))
  } catch {
    // The storage is full or off.
  }
  return entries
}

export function clearHistory(slug: string): void {
  localStorage.removeItem(storageKey(slug))
}

const isEntry = (value: unknown): value is HistoryEntry =>
  typeof value === 'object' && value !== null && 'sql' in value && typeof value.sql === 'string' && 'at' in value && typeof value.at === 'string'
