import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitRepositoryConnection } from './git-repository.ts'

const pointerPrefix = 'version https://git-lfs.github.com/spec/v1\n'
/** Size of a pointer file: three lines, plus the extensions that the format allows. */
const pointerBytes = { least: 100, most: 1_024 }
const maxListedNames = 5

/** Files of a source that are Git LFS pointers, by name relative to it. */
export async function findLfsPointers(folder: string): Promise<string[]> {
  const pointers: string[] = []
  const walk = async (base: string): Promise<void> => {
    for (const entry of await readdir(join(folder, base), { withFileTypes: true })) {
      const name = base === '' ? entry.name : `${base}/${entry.name}`
      if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') await walk(name)
      else if (entry.isFile() && (await isLfsPointer(join(folder, name)))) pointers.push(name)
    }
  }
  await walk('')
  return pointers.toSorted()
}

async function isLfsPointer(path: string): Promise<boolean> {
  const { size } = await stat(path)
  if (size < pointerBytes.least || size > pointerBytes.most) return false
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(pointerPrefix.length), 0, pointerPrefix.length, 0)
    return buffer.toString('latin1', 0, bytesRead) === pointerPrefix
  } finally {
    await file.close()
  }
}

/** The warning for remaining pointers; undefined when there are none. */
export async function formatLfsWarning(folder: string, advice: string): Promise<string | undefined> {
  const names = await findLfsPointers(folder)
  if (names.length === 0) return undefined
  const shown = names.slice(0, maxListedNames).join(', ') + (names.length > maxListedNames ? ` and ${names.length - maxListedNames} more` : '')
  return `Warning: ${names.length === 1 ? 'one file is a Git LFS pointer' : `${names.length} files are Git LFS pointers`} instead of file content: ${shown}. ${advice}`
}

/**
 * Runs git-lfs, where it is installed, to replace the pointers of a working tree. The LFS server is that of the repository; .lfsconfig is ignored.
 * The LFS server can redirect downloads to any address, so only users who may reach private addresses can use this function.
 */
export async function fetchLfsFiles({ git, folder, address }: GitRepositoryConnection, note: (line: string) => void): Promise<void> {
  if (address.pinned_ip !== null || (await findLfsPointers(folder)).length === 0) return
  if ((await git(['lfs', 'version'])).code !== 0) return
  const server = address.scheme.startsWith('http')
    ? [`-c`, `lfs.url=${address.url.replace(/\/?(\.git)?\/?$/, '')}.git/info/lfs`]
    : ['-c', `lfs.url=${address.url}`]
  // The filters that `git lfs install` sets; git-lfs replaces no pointers without them.
  const filters = ['clean=git-lfs clean -- %f', 'smudge=git-lfs smudge -- %f', 'process=git-lfs filter-process'].flatMap((one) => [
    '-c',
    `filter.lfs.${one}`,
  ])
  note('Fetching large files with Git LFS.')
  await git(['remote', 'add', 'origin', address.url])
  const run = await git([...server, ...filters, 'lfs', 'pull'], true)
  if (run.code !== 0) note('Git LFS could not fetch all files. Its output is above.')
}
