import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readlink, realpath, stat, symlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { filesOf } from '../lib/folder-files.ts'
import { describeFolder, listFiles } from './git.ts'
import type { GitHost } from './git-fetch.ts'
import { staysInside } from './links.ts'
import { SourceFailure, type FetchOptions, type Source } from './source.ts'

const copiedAtOnce = 16
/**
 * Copies the working tree of a folder into `into/source`: what git would show of it, else all that no .gitignore names.
 * Files with variables of this machine (.env) are left out unless git keeps them: their place is in the project's variables.
 */
export async function fetchFolder(path: string, options: FetchOptions, host: GitHost): Promise<Source> {
  const { into, log, signal } = options
  const note = (line: string) => log.note('clone', line)
  const from = await realFolder(path)
  const target = join(into, 'source')
  await mkdir(target, { recursive: true })
  const description = await describeFolder(from, host, signal)
  const listed = description.is_git ? await listFiles(from, host, signal) : null
  note(`Copying the folder ${path}${listed ? ', without what git ignores' : ', without node_modules and what .gitignore names'}.`)
  const copied = await copyAll(listed ? withSubmodules(listed, from, note, (path) => listFiles(path, host, signal)) : filesOf(from, note), {
    from,
    target,
    note,
    signal,
  })
  note(
    `${copied} files copied${description.commit_sha ? `; commit ${description.commit_sha.slice(0, 12)}${description.is_dirty ? ' with changes that no commit holds' : ''}` : ''}.`,
  )
  const { branch, commit_sha, commit_message, commit_author, is_dirty } = description
  return { folder: target, branch, commit_sha, commit_message, commit_author, is_dirty }
}

/** Files of submodules as they are in the folder. git names only their own folders; with a slash at the end it is a repository that git does not know. */
async function* withSubmodules(
  names: Iterable<string>,
  from: string,
  note: (line: string) => void,
  list: (path: string) => Promise<string[] | null>,
): AsyncGenerator<string> {
  for (const name of names) {
    const path = join(from, name)
    const info = name.endsWith('/') ? null : await lstat(path).catch(() => null)
    if (!info?.isDirectory()) {
      yield name
      continue
    }
    const inside = await lstat(join(path, '.git')).then(
      () => list(path),
      () => null,
    )
    if (inside)
      yield* withSubmodules(
        inside.map((one) => `${name}/${one}`),
        from,
        note,
        list,
      )
    else note(`Warning: the submodule ${name} is empty. Run git submodule update --init in the folder, then deploy again.`)
  }
}

async function realFolder(path: string): Promise<string> {
  const hint = 'Check the path; the platform must be able to read it.'
  if (!isAbsolute(path)) throw new SourceFailure('The path of the folder is not absolute.', 'Give the whole path, such as /home/me/app.')
  const real = await realpath(path).catch((cause: unknown) => {
    throw new SourceFailure(`The folder ${path} is not there, or may not be read.`, hint, 'clone_failed', cause)
  })
  if (!(await stat(real)).isDirectory()) throw new SourceFailure(`${path} is not a folder.`, hint)
  return real
}

interface Copy {
  from: string
  target: string
  note(line: string): void
  signal: AbortSignal
}

/** Copies files by relative name, a few at once, each in the thread pool: the event loop only hands out names. */
async function copyAll(names: AsyncIterable<string> | Iterable<string>, copy: Copy): Promise<number> {
  const source = Symbol.asyncIterator in names ? names[Symbol.asyncIterator]() : names[Symbol.iterator]()
  const made = new Map<string, Promise<unknown>>()
  let count = 0
  const worker = async (): Promise<void> => {
    for (;;) {
      copy.signal.throwIfAborted()
      const next = await source.next()
      if (next.done) return
      if (await copyOne(next.value, copy, made)) count++
    }
  }
  // Every worker has ended before this returns: nobody writes into a folder that is being emptied.
  const ends = await Promise.allSettled(Array.from({ length: copiedAtOnce }, worker))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return count
}

async function copyOne(name: string, copy: Copy, made: Map<string, Promise<unknown>>): Promise<boolean> {
  const path = join(copy.from, name)
  const info = await lstat(path).catch(() => null)
  if (!info) return false // deleted, but not yet for git
  if (info.isDirectory()) {
    copy.note(`Left out ${name.replace(/\/$/, '')}: a repository of its own.`)
    return false
  }
  const destination = join(copy.target, name)
  const folder = dirname(destination)
  if (!made.has(folder)) made.set(folder, mkdir(folder, { recursive: true }))
  await made.get(folder)
  if (info.isSymbolicLink()) return copyLink(name, path, destination, copy)
  if (!info.isFile()) return false // sockets and pipes
  await copyFile(path, destination, constants.COPYFILE_FICLONE)
  return true
}

/** A link is copied when it stays inside; one that names the folder by its whole path is made relative. */
async function copyLink(name: string, path: string, destination: string, copy: Copy): Promise<boolean> {
  const target = await readlink(path)
  if (!(await staysInside(copy.from, path, target))) {
    copy.note(`Left out the link ${name}: it leads out of the folder.`)
    return false
  }
  await symlink(isAbsolute(target) ? relative(dirname(path), target) || '.' : target, destination)
  return true
}
