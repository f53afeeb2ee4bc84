/** Whether a path is an SQLite database, by its name. Only the file is kept, because its folder may contain files of the version. */
export const isDatabasePath = (path: string): boolean => /\.(?:db|db3|sqlite|sqlite3)$/i.test(path)

/** A valid path for a volume: without the colon that separates the parts of a mount in configuration files, and without control characters. */
export const mountPathPattern = /^[^\p{Cc}\\:]+$/u

/** The folder of an app in a container. */
export const appFolder = '/app'

/** A name for the volume at a path that no other volume of the project has. */
export function chooseVolumeName(path: string, taken: readonly string[]): string {
  const last = path.slice(path.lastIndexOf('/') + 1)
  const base =
    last
      .replace(/[^A-Za-z0-9_.-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 50) || 'files'
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`
    if (!taken.includes(name)) return name
  }
}
