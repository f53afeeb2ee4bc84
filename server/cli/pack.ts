import { createReadStream, existsSync } from 'node:fs'
import { lstat, readFile, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { createIgnore } from '../lib/docker-ignore.ts'
import { filesOf } from '../lib/folder-files.ts'

/** Docker itself reads these whatever .dockerignore says. */
const alwaysPacked = new Set(['Dockerfile', '.dockerignore'])

/** A folder as a .tar.gz, made as it is read: without what .gitignore and .dockerignore name, and without variables of this machine. */
export function packFolder(folder: string, note: (line: string) => void): AsyncIterable<Uint8Array> {
  const tar = pack()
  const packed = createGzip({ level: 5 })
  const add = async (name: string): Promise<void> => {
    const path = join(folder, name)
    const info = await lstat(path)
    const header = { name, mode: info.mode & 0o111 ? 0o755 : 0o644, mtime: info.mtime }
    if (info.isSymbolicLink()) {
      const linkname = await linkWithin(folder, path)
      if (linkname === null) note(`Left out the link ${name}: it leads out of the folder.`)
      else tar.entry({ ...header, type: 'symlink', linkname })
    } else if (info.isFile()) {
      const entry = tar.entry({ ...header, size: info.size })
      if (info.size === 0) return void entry.end(null)
      // Of a file that grows meanwhile as much as was announced.
      for await (const chunk of createReadStream(path, { end: info.size - 1 }) as AsyncIterable<Buffer>)
        if (!entry.write(chunk)) await new Promise((drained) => entry.once('drain', () => drained(undefined)))
      await new Promise((ended) => {
        entry.once('close', () => ended(undefined))
        entry.end(null)
      })
    }
  }
  const all = async (): Promise<void> => {
    const wanted = createIgnore(existsSync(join(folder, '.dockerignore')) ? await readFile(join(folder, '.dockerignore'), 'utf8') : '')
    for await (const name of filesOf(folder, note)) if (alwaysPacked.has(name) || wanted(name, false)) await add(name)
    tar.finalize()
  }
  all().catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))))
  pipeline(tar as AsyncIterable<Buffer>, packed).catch((error: unknown) => packed.destroy(error instanceof Error ? error : undefined))
  return packed
}

/** Whether git keeps this folder, itself or one above it. */
export function isInGit(folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true
    if (at === dirname(at)) return false
  }
}

/** Where a link leads, as it may be written into the archive; null when that is outside. */
async function linkWithin(folder: string, path: string): Promise<string | null> {
  const target = await readlink(path)
  const root = await realpath(folder)
  const wanted = resolve(dirname(join(root, relative(folder, path))), target)
  const real = await realpath(wanted).catch(() => wanted)
  if (real !== root && !real.startsWith(root + sep)) return null
  return (isAbsolute(target) ? relative(dirname(path), target) || '.' : target).replaceAll(sep, '/')
}
