import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { basename, dirname, join, posix, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack as createPack, type Pack } from 'tar-stream'
import { BuildFailure } from '../runtime.ts'

export interface BuildContextOptions {
  folder: string
  /** Folder of the files in the archive, such as `app`. */
  prefix: string
  /** Paths are relative to `folder`, with slashes; a rejected folder is not entered. */
  accepts(path: string, isFolder: boolean): boolean
  /** Only these files instead of all files. */
  only_files?: string[]
  /** An additional empty folder that belongs to the owner, such as `opt/homeport`. */
  extra_folder?: string
  /** Additional files: path and text. */
  extra_files?: Record<string, string>
  /** Additional files and folders from elsewhere: absolute path, and the target folder in the archive. */
  added_files?: { path: string; folder: string }[]
  /** Owner of all entries in the archive. */
  owner: number
  signal: AbortSignal
}

/** Files up to this size are read with a single call. */
const smallFile_bytes = 64 * 1024

/**
 * A source folder as a tar stream, never buffered as a whole. Links that leave the folder are rejected; devices and sockets are omitted. Modes keep
 * the executable bit and lose set-uid.
 */
export function packBuildContext(options: BuildContextOptions): Readable {
  const pack = createPack()
  writeAll(pack, options).then(
    () => pack.finalize(),
    (error: unknown) => pack.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  return Readable.from(pack, { objectMode: false })
}

async function writeAll(pack: Pack, options: BuildContextOptions): Promise<void> {
  await writeEntries(pack, options)
  for (const { path, folder } of options.added_files ?? []) {
    const { owner, signal } = options
    const accepts = (one: string) => one !== '.git'
    if ((await lstat(path)).isDirectory())
      await writeEntries(pack, { folder: path, prefix: posix.join(options.prefix, folder, basename(path)), accepts, owner, signal })
    else
      await writeEntries(pack, {
        folder: dirname(path),
        prefix: posix.join(options.prefix, folder),
        only_files: [basename(path)],
        accepts,
        owner,
        signal,
      })
  }
}

async function writeEntries(pack: Pack, options: BuildContextOptions): Promise<void> {
  const madeFolders = new Set<string>()
  const addFolder = (path: string) => {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.')
    for (let n = 1; n <= parts.length; n++) {
      const name = parts.slice(0, n).join('/')
      if (madeFolders.has(name)) continue
      madeFolders.add(name)
      pack.entry({ name: `${name}/`, type: 'directory', mode: 0o755, uid: options.owner, gid: options.owner, mtime: epoch })
    }
  }
  addFolder(options.prefix)
  if (options.extra_folder)
    pack.entry({ name: `${options.extra_folder}/`, type: 'directory', mode: 0o755, uid: options.owner, gid: options.owner, mtime: epoch })
  for (const [path, text] of Object.entries(options.extra_files ?? {})) {
    const name = posix.join(options.prefix, path)
    addFolder(posix.dirname(name))
    pack.entry({ name, mode: 0o644, uid: options.owner, gid: options.owner, mtime: epoch }, text)
  }
  if (options.only_files) {
    for (const path of options.only_files.toSorted()) {
      addFolder(posix.dirname(posix.join(options.prefix, path)))
      await addEntry(pack, options, path)
    }
    return
  }
  const walk = async (relative: string): Promise<void> => {
    const entries = await readdir(join(options.folder, relative), { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      options.signal.throwIfAborted()
      const path = relative ? `${relative}/${entry.name}` : entry.name
      if (!options.accepts(path, entry.isDirectory())) continue
      if (entry.isDirectory()) {
        addFolder(posix.join(options.prefix, path))
        await walk(path)
      } else {
        await addEntry(pack, options, path)
      }
    }
  }
  await walk('')
}

/** Times are omitted, so that an unchanged file is an unchanged entry. */
const epoch = new Date(0)

async function addEntry(pack: Pack, options: BuildContextOptions, path: string): Promise<void> {
  options.signal.throwIfAborted()
  const absolute = join(options.folder, path)
  const stats = await lstat(absolute)
  const entry = {
    name: posix.join(options.prefix, path),
    mode: stats.mode & 0o111 ? 0o755 : 0o644,
    uid: options.owner,
    gid: options.owner,
    mtime: epoch,
  }
  if (stats.isSymbolicLink()) {
    const target = (await readlink(absolute)).split(sep).join('/')
    if (isOutsideLink(path, target))
      throw new BuildFailure(
        'build_failed',
        `The link ${path} leaves the source folder.`,
        'Replace it with a copy, or with a relative link inside the project.',
      )
    pack.entry({ ...entry, type: 'symlink', linkname: target })
  } else if (stats.isFile() && stats.size <= smallFile_bytes) {
    const data = await readFile(absolute)
    // Waits until the reader has consumed the entry, so that a large tree is not buffered in memory.
    await new Promise<void>((done, fail) => {
      pack.entry({ ...entry, type: 'file', size: data.length }, data, (error) => (error ? fail(error) : done()))
    })
  } else if (stats.isFile()) {
    const file = pack.entry({ ...entry, type: 'file', size: stats.size })
    // The read ends at the recorded size, because a file that grows would break the archive.
    await pipeline(createReadStream(absolute, { end: stats.size - 1 }), file, { signal: options.signal })
  }
}

export function isOutsideLink(path: string, target: string): boolean {
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target)) return true
  const resolved = posix.normalize(posix.join(dirname(path).split(sep).join('/'), target))
  return resolved === '..' || resolved.startsWith('../')
}
