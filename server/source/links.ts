import { readlink, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'

/** Whether the resolved target of a link is below `root` (a real path). The target of a dangling link is checked as text. */
export async function isLinkInside(root: string, link: string, target: string): Promise<boolean> {
  const resolvedTarget = resolve(dirname(link), target)
  const real = await realpath(resolvedTarget).catch(() => resolvedTarget)
  return real === root || real.startsWith(root + sep)
}

/** Removes the links of a working tree, as listed by git, that leave `root`. */
export async function removeEscapingLinks(root: string, folder: string, listing: string, note: (line: string) => void): Promise<void> {
  for (const entry of listing.split('\0')) {
    const [meta = '', name = ''] = entry.split('\t')
    if (!meta.startsWith('120000') || name === '') continue
    const path = join(folder, name)
    const target = await readlink(path).catch(() => null)
    if (target === null || (await isLinkInside(root, path, target))) continue
    await rm(path)
    note(`Left out the link ${name}: it points outside of the repository.`)
  }
}
