import { readlink, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'

/** Whether a link's target, followed to its end, stays below `root` (a real path). A link to nothing is judged by its words. */
export async function isLinkInside(root: string, link: string, target: string): Promise<boolean> {
  const resolvedTarget = resolve(dirname(link), target)
  const real = await realpath(resolvedTarget).catch(() => resolvedTarget)
  return real === root || real.startsWith(root + sep)
}

/** Removes the links of a working tree, as git lists it, that lead out of `root`. */
export async function removeEscapingLinks(root: string, folder: string, listing: string, note: (line: string) => void): Promise<void> {
  for (const entry of listing.split('\0')) {
    const [meta = '', name = ''] = entry.split('\t')
    if (!meta.startsWith('120000') || name === '') continue
    const path = join(folder, name)
    const target = await readlink(path).catch(() => null)
    if (target === null || (await isLinkInside(root, path, target))) continue
    await rm(path)
    note(`Left out the link ${name}: it leads out of the repository.`)
  }
}
