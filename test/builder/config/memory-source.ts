import type { SourceFolder } from '../../../server/builder/source-folder.ts'

/** A source that is only in memory. */
export function memorySource(files: Record<string, string>): SourceFolder {
  const names = Object.keys(files)
  const inFolder = (path: string) =>
    path === '.' ? names : names.filter((name) => name.startsWith(`${path}/`)).map((name) => name.slice(path.length + 1))
  return {
    read: async (path) => (Object.hasOwn(files, path) ? (files[path] ?? null) : null),
    has: async (path) => Object.hasOwn(files, path),
    isFolder: async (path) => path === '.' || inFolder(path).length > 0,
    list: async (path) => [...new Set(inFolder(path).map((name) => name.replace(/\/.*$/, '/')))].sort(),
  }
}
