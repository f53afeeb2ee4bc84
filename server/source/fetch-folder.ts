import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readlink, realpath, stat, symlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { listFolderFiles } from '../lib/folder-files.ts'
import { describeFolder, listGitFiles } from './fetch-git.ts'
import type { GitHost } from './git-repository.ts'
import { isLinkInside } from './links.ts'
import { SourceError, type SourceFetchOptions, type FetchedSource } from './source.ts'

const maxConcurrentCopies = 16
/**
 * Copies the working tree of a folder into `into/source`: the files that git lists, or without git all files that no .gitignore excludes. Files with
 * variables of this machine (.env) are left out unless git tracks them, because variables belong in the project settings.
 */
export async function fetchFolder(path: string, options: SourceFetchOptions, host: GitHost): Promise<FetchedSource> {
  const { into, log, signal } = options
  const note = (line: string) => log.note(line)
  const from = await resolveFolder(path)
  const target = join(into, 'source')
  await mkdir(target, { recursive: true })
  const description = await describeFolder(from, host, signal)
  const listed = description.is_git ? await listGitFiles(from, host, signal) : null
  note(`Copying the folder ${path}${listed ? ', without files that git ignores' : ', without node_modules and files in .gitignore'}.`)
  const copied = await copyAll(
    listed ? listWithSubmodules(listed, from, note, (path) => listGitFiles(path, host, signal)) : listFolderFiles(from, note),
    {
      from,
      target,
      note,
      signal,
    },
  )
  note(
    `${copied} files copied${description.commit_sha ? `; commit ${description.commit_sha.slice(0, 12)}${description.is_dirty ? ' with uncommitted changes' : ''}` : ''}.`,
  )
  const { branch, commit_sha, commit_message, commit_author, is_dirty } = description
  return { folder: target, branch, commit_sha, commit_message, commit_author, is_dirty }
}

/**
 * Files of submodules as they are in the folder. git lists only the folder of a submodule; a listed folder with a trailing slash is a repository
 * that git does not track.
 */
async function* listWithSubmodules(
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
    const nestedFiles = await lstat(join(path, '.git')).then(
      () => list(path),
      () => null,
    )
    if (nestedFiles)
      yield* listWithSubmodules(
        nestedFiles.map((one) => `${name}/${one}`),
        from,
        note,
        list,
      )
    else note(`Warning: the submodule ${name} is empty. Run git submodule update --init in the folder, then deploy again.`)
  }
}

async function resolveFolder(path: string): Promise<string> {
  const hint = 'Check the path and that Homeport can read it.'
  if (!isAbsolute(path)) throw new SourceError('The path of the folder is not absolute.', 'Use an absolute path, such as /home/me/app.')
  const real = await realpath(path).catch((cause: unknown) => {
    throw new SourceError(`The folder ${path} does not exist or cannot be read.`, hint, 'clone_failed', cause)
  })
  if (!(await stat(real)).isDirectory()) throw new SourceError(`${path} is not a folder.`, hint)
  return real
}

interface CopyOptions {
  from: string
  target: string
  note(line: string): void
  signal: AbortSignal
}

/** Copies files by relative name, several at a time in the thread pool. */
async function copyAll(names: AsyncIterable<string> | Iterable<string>, copy: CopyOptions): Promise<number> {
  const source = Symbol.asyncIterator in names ? names[Symbol.asyncIterator]() : names[Symbol.iterator]()
  const createdFolders = new Map<string, Promise<unknown>>()
  let count = 0
  const worker = async (): Promise<void> => {
    for (;;) {
      copy.signal.throwIfAborted()
      const next = await source.next()
      if (next.done) return
      if (await copyOne(next.value, copy, createdFolders)) count++
    }
  }
  // Every worker has ended before this function returns, because the caller may then empty the folder.
  const results = await Promise.allSettled(Array.from({ length: maxConcurrentCopies }, worker))
  const failed = results.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return count
}

async function copyOne(name: string, copy: CopyOptions, createdFolders: Map<string, Promise<unknown>>): Promise<boolean> {
  const path = join(copy.from, name)
  const info = await lstat(path).catch(() => null)
  if (!info) return false // deleted, but still in git's index
  if (info.isDirectory()) {
    copy.note(`Left out ${name.replace(/\/$/, '')}: it is a separate git repository.`)
    return false
  }
  const destination = join(copy.target, name)
  const folder = dirname(destination)
  if (!createdFolders.has(folder)) createdFolders.set(folder, mkdir(folder, { recursive: true }))
  await createdFolders.get(folder)
  if (info.isSymbolicLink()) return copyLink(name, path, destination, copy)
  if (!info.isFile()) return false // sockets and pipes
  await copyFile(path, destination, constants.COPYFILE_FICLONE)
  return true
}

/** Copies a link that stays inside the folder; a link with an absolute path into the folder is made relative. */
async function copyLink(name: string, path: string, destination: string, copy: CopyOptions): Promise<boolean> {
  const target = await readlink(path)
  if (!(await isLinkInside(copy.from, path, target))) {
    copy.note(`Left out the link ${name}: it points outside of the folder.`)
    return false
  }
  await symlink(isAbsolute(target) ? relative(dirname(path), target) || '.' : target, destination)
  return true
}
