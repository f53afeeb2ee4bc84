import { createReadStream, existsSync } from 'node:fs'
import { lstat, readFile, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { createDockerIgnore } from '../lib/docker-ignore.ts'
import { listFolderFiles } from '../lib/folder-files.ts'

/** Docker reads these files even if .dockerignore excludes them. */
const alwaysIncluded = new Set(['Dockerfile', '.dockerignore'])

/** Streams a folder as a .tar.gz, without files in .gitignore and .dockerignore and without local .env files. */
export function packFolder(folder: string, note: (line: string) => void): AsyncIterable<Uint8Array> {
  const tar = pack()
  const compressed = createGzip({ level: 5 })
  const addEntry = async (name: string): Promise<void> => {
    const path = join(folder, name)
    const info = await lstat(path)
    const header = { name, mode: info.mode & 0o111 ? 0o755 : 0o644, mtime: info.mtime }
    if (info.isSymbolicLink()) {
      const linkname = await resolveLinkWithin(folder, path)
      if (linkname === null) note(`Skipped the link ${name}: it points outside of the folder.`)
      else tar.entry({ ...header, type: 'symlink', linkname })
    } else if (info.isFile()) {
      const entry = tar.entry({ ...header, size: info.size })
      if (info.size === 0) return void entry.end(null)
      // A file that grows while it is read is cut at the size in its header.
      for await (const chunk of createReadStream(path, { end: info.size - 1 }) as AsyncIterable<Buffer>)
        if (!entry.write(chunk)) await new Promise((drained) => entry.once('drain', () => drained(undefined)))
      await new Promise((ended) => {
        entry.once('close', () => ended(undefined))
        entry.end(null)
      })
    }
  }
  const addAllEntries = async (): Promise<void> => {
    const isIncluded = createDockerIgnore(existsSync(join(folder, '.dockerignore')) ? await readFile(join(folder, '.dockerignore'), 'utf8') : '')
    for await (const name of listFolderFiles(folder, note)) if (alwaysIncluded.has(name) || isIncluded(name, false)) await addEntry(name)
    tar.finalize()
  }
  addAllEntries().catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))))
  pipeline(tar as AsyncIterable<Buffer>, compressed).catch((error: unknown) => compressed.destroy(error instanceof Error ? error : undefined))
  return compressed
}

/** Streams generated files as a .tar.gz. */
export function packGeneratedFiles(files: Record<string, string>): AsyncIterable<Uint8Array> {
  const tar = pack()
  const compressed = createGzip()
  for (const [name, text] of Object.entries(files)) tar.entry({ name, mode: 0o644 }, text)
  tar.finalize()
  pipeline(tar as AsyncIterable<Buffer>, compressed).catch((error: unknown) => compressed.destroy(error instanceof Error ? error : undefined))
  return compressed
}

/** Whether this folder or a parent of it is a git repository. */
export function isInGitRepository(folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true
    if (at === dirname(at)) return false
  }
}

/** The target of a link, relative as the archive needs it; null if it is outside the folder. */
async function resolveLinkWithin(folder: string, path: string): Promise<string | null> {
  const target = await readlink(path)
  const root = await realpath(folder)
  const resolvedTarget = resolve(dirname(join(root, relative(folder, path))), target)
  const real = await realpath(resolvedTarget).catch(() => resolvedTarget)
  if (real !== root && !real.startsWith(root + sep)) return null
  return (isAbsolute(target) ? relative(dirname(path), target) || '.' : target).replaceAll(sep, '/')
}
