import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from './git-fetch.ts'

const pointerHead = 'version https://git-lfs.github.com/spec/v1\n'
/** Of a pointer: three lines, and room for the extensions that the format allows. */
const pointerBytes = { least: 100, most: 1_024 }
const namesShown = 5

/** Files of a source that Git LFS left a pointer for, by name relative to it. */
export async function findPointers(folder: string): Promise<string[]> {
  const found: string[] = []
  const visit = async (base: string): Promise<void> => {
    for (const entry of await readdir(join(folder, base), { withFileTypes: true })) {
      const name = base === '' ? entry.name : `${base}/${entry.name}`
      if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') await visit(name)
      else if (entry.isFile() && (await isPointer(join(folder, name)))) found.push(name)
    }
  }
  await visit('')
  return found.toSorted()
}

async function isPointer(path: string): Promise<boolean> {
  const { size } = await stat(path)
  if (size < pointerBytes.least || size > pointerBytes.most) return false
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(pointerHead.length), 0, pointerHead.length, 0)
    return buffer.toString('latin1', 0, bytesRead) === pointerHead
  } finally {
    await file.close()
  }
}

/** The warning for pointers that are left; undefined when there are none. */
export async function pointerWarning(folder: string, advice: string): Promise<string | undefined> {
  const names = await findPointers(folder)
  if (names.length === 0) return undefined
  const shown = names.slice(0, namesShown).join(', ') + (names.length > namesShown ? ` and ${names.length - namesShown} more` : '')
  return `Warning: ${names.length === 1 ? 'one file is a Git LFS pointer' : `${names.length} files are Git LFS pointers`} instead of the content: ${shown}. ${advice}`
}

/**
 * Has git-lfs replace the pointers of a working tree, where it is installed. Its server is that of the repository, whatever .lfsconfig
 * says. It connects where that server sends it: so only for who may reach private addresses anyway.
 */
export async function fetchLargeFiles({ git, folder, address }: Connection, note: (line: string) => void): Promise<void> {
  if (address.pinned_ip !== null || (await findPointers(folder)).length === 0) return
  if ((await git(['lfs', 'version'])).code !== 0) return
  const server = address.scheme.startsWith('http')
    ? [`-c`, `lfs.url=${address.url.replace(/\/?(\.git)?\/?$/, '')}.git/info/lfs`]
    : ['-c', `lfs.url=${address.url}`]
  // As git lfs install would set them: without them it replaces nothing.
  const filters = ['clean=git-lfs clean -- %f', 'smudge=git-lfs smudge -- %f', 'process=git-lfs filter-process'].flatMap((one) => [
    '-c',
    `filter.lfs.${one}`,
  ])
  note('Fetching large files by Git LFS.')
  await git(['remote', 'add', 'origin', address.url])
  const run = await git([...server, ...filters, 'lfs', 'pull'], true)
  if (run.code !== 0) note('Git LFS could not fetch all of them; its own words are above.')
}
