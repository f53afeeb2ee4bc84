import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { dirname, join, posix, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack as createPack, type Pack } from 'tar-stream'
import { BuildFailure } from './runtime.ts'

export interface ContextOptions {
  folder: string
  /** Where the files lie in the archive, such as `app`. */
  prefix: string
  /** Paths relative to `folder`, with slashes; a folder that is refused is not entered. */
  accepts(path: string, isFolder: boolean): boolean
  /** Only these files instead of all. */
  only?: string[]
  /** An empty folder elsewhere that belongs to the owner, such as `opt/homeport`. */
  own_folder?: string
  /** Files that are not in the folder: path and text. */
  more?: Record<string, string>
  /** Owner of everything in the archive. */
  owner: number
  signal: AbortSignal
}

/** Files up to this size are read at once; more would only cost calls. */
const smallBytes = 64 * 1024

/**
 * A source folder as a tar stream, never held in memory as a whole. Links that would leave the folder are refused; devices
 * and sockets are left out. Modes keep their x bit and lose set-uid.
 */
export function packFolder(options: ContextOptions): Readable {
  const pack = createPack()
  fill(pack, options).then(
    () => pack.finalize(),
    (error: unknown) => pack.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  return Readable.from(pack, { objectMode: false })
}

async function fill(pack: Pack, options: ContextOptions): Promise<void> {
  const made = new Set<string>()
  const folder = (path: string) => {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.')
    for (let n = 1; n <= parts.length; n++) {
      const name = parts.slice(0, n).join('/')
      if (made.has(name)) continue
      made.add(name)
      pack.entry({ name: `${name}/`, type: 'directory', mode: 0o755, uid: options.owner, gid: options.owner, mtime: epoch })
    }
  }
  folder(options.prefix)
  if (options.own_folder)
    pack.entry({ name: `${options.own_folder}/`, type: 'directory', mode: 0o755, uid: options.owner, gid: options.owner, mtime: epoch })
  for (const [path, text] of Object.entries(options.more ?? {})) {
    const name = posix.join(options.prefix, path)
    folder(posix.dirname(name))
    pack.entry({ name, mode: 0o644, uid: options.owner, gid: options.owner, mtime: epoch }, text)
  }
  if (options.only) {
    for (const path of options.only.toSorted()) {
      folder(posix.dirname(posix.join(options.prefix, path)))
      await add(pack, options, path)
    }
    return
  }
  const visit = async (relative: string): Promise<void> => {
    const entries = await readdir(join(options.folder, relative), { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      options.signal.throwIfAborted()
      const path = relative ? `${relative}/${entry.name}` : entry.name
      if (!options.accepts(path, entry.isDirectory())) continue
      if (entry.isDirectory()) {
        folder(posix.join(options.prefix, path))
        await visit(path)
      } else {
        await add(pack, options, path)
      }
    }
  }
  await visit('')
}

/** Times are left out: an unchanged file then is an unchanged entry, whenever it was fetched. */
const epoch = new Date(0)

async function add(pack: Pack, options: ContextOptions, path: string): Promise<void> {
  options.signal.throwIfAborted()
  const full = join(options.folder, path)
  const found = await lstat(full)
  const entry = {
    name: posix.join(options.prefix, path),
    mode: found.mode & 0o111 ? 0o755 : 0o644,
    uid: options.owner,
    gid: options.owner,
    mtime: epoch,
  }
  if (found.isSymbolicLink()) {
    const target = (await readlink(full)).split(sep).join('/')
    if (leaves(path, target))
      throw new BuildFailure(
        'build_failed',
        `The link ${path} leaves the source folder.`,
        'Replace it by a copy, or by a relative link within the project.',
      )
    pack.entry({ ...entry, type: 'symlink', linkname: target })
  } else if (found.isFile() && found.size <= smallBytes) {
    const data = await readFile(full)
    // Waits until the reader has taken it, else a large tree would pile up in memory.
    await new Promise<void>((done, fail) => {
      pack.entry({ ...entry, type: 'file', size: data.length }, data, (error) => (error ? fail(error) : done()))
    })
  } else if (found.isFile()) {
    const file = pack.entry({ ...entry, type: 'file', size: found.size })
    // A file that grows while it is read must not break the archive.
    await pipeline(createReadStream(full, { end: found.size - 1 }), file, { signal: options.signal })
  }
}

export function leaves(path: string, target: string): boolean {
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target)) return true
  const resolved = posix.normalize(posix.join(dirname(path).split(sep).join('/'), target))
  return resolved === '..' || resolved.startsWith('../')
}
