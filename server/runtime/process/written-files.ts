import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { resolveInside } from '../files.ts'
import { databaseSuffixes, type WrittenFilesOwner } from '../runtime.ts'
import { packFiles } from '../../lib/pack-files.ts'
import { toAppPath } from './volumes.ts'

export async function exportWrittenFiles({ artifact }: WrittenFilesOwner, path: string, isFile: boolean): Promise<Readable | undefined> {
  const relative = toAppPath(path)
  if (artifact.kind !== 'bundle' || relative === undefined) return undefined
  const full = await resolveWithoutLinks(artifact.directory, relative)
  const info = full === undefined ? undefined : await lstat(full)
  if (full === undefined || !(isFile ? info?.isFile() : info?.isDirectory())) return undefined
  if (!isFile) return packFiles(full, ['.'])
  const names: string[] = []
  for (const suffix of databaseSuffixes) {
    const found = await lstat(full + suffix).catch(() => undefined)
    if (found?.isFile()) names.push(`./${basename(full)}${suffix}`)
  }
  return packFiles(dirname(full), names)
}

/** Undefined when nothing is there, or when a link leads there, because it may lead out of the app's folder. */
async function resolveWithoutLinks(folder: string, path: string): Promise<string | undefined> {
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined) return undefined
  const full = resolveInside(root, join('.', path))
  return (await realpath(full).catch(() => undefined)) === full ? full : undefined
}
