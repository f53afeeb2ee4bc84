import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { excludedNames } from './archive-tree.ts'

/**
 * The source in a folder as a .tar.gz stream. All entries are below one top folder, because an upload strips a single top folder and would otherwise
 * strip a source's only folder. The same source produces the same bytes.
 */
export async function* packSource(
  folder: string,
  { top, mtime, signal }: { top: string; mtime: Date; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const tar = pack()
  const compressed = createGzip({ level: 5 })
  const finished = new AbortController()
  const stop = AbortSignal.any([signal, finished.signal])
  const write = async (): Promise<void> => {
    tar.entry({ name: `${top}/`, type: 'directory', mode: 0o755, mtime })
    for await (const { name, path } of listEntries(folder, '')) {
      stop.throwIfAborted()
      const info = await lstat(path)
      const header = { name: `${top}/${name}`, mtime, mode: info.isDirectory() || (info.mode & 0o111) !== 0 ? 0o755 : 0o644 }
      if (info.isDirectory()) tar.entry({ ...header, name: `${header.name}/`, type: 'directory' })
      else if (info.isSymbolicLink()) tar.entry({ ...header, type: 'symlink', linkname: (await readlink(path)).replaceAll(sep, '/') })
      else if (info.isFile()) {
        const entry = tar.entry({ ...header, size: info.size })
        if (info.size === 0) entry.end(null)
        else await pipeline(createReadStream(path, { end: info.size - 1 }), entry, { signal: stop })
      }
    }
    tar.finalize()
  }
  const piping = pipeline(tar as AsyncIterable<Buffer>, compressed, { signal: stop })
  const writing = write().catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))))
  piping.catch(() => {})
  try {
    yield* compressed as AsyncIterable<Buffer>
    await piping
  } finally {
    finished.abort()
    tar.destroy()
    await writing
  }
}

/** All entries below a folder except generated ones, in a stable order, each folder before its content. */
async function* listEntries(folder: string, base: string): AsyncGenerator<{ name: string; path: string }> {
  const entries = (await readdir(join(folder, base), { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    if (excludedNames.has(entry.name.toLowerCase())) continue
    const name = base + entry.name
    yield { name, path: join(folder, name) }
    if (entry.isDirectory()) yield* listEntries(folder, `${name}/`)
  }
}
