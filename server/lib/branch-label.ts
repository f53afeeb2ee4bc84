import { createHash } from 'node:crypto'

/** The longest label of a name in DNS. */
const label_chars = 63

/**
 * Labels for the preview of a branch, the one to be liked best first: `{branch}--{slug}`, then with ever more of a hash of the
 * branch for when another has that one. A name that had to be cut, or would be read as another script's, has the hash at once.
 */
export function hostLabels(branch: string, slug: string): string[] {
  const plain = branch
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  const room = label_chars - slug.length - 2
  const hash = createHash('sha256').update(branch).digest('hex')
  const hashed = [6, 8, 10].map((chars) => {
    const start = plain.slice(0, Math.max(0, room - chars - 1)).replace(/-$/, '')
    return `${start === '' ? '' : `${start}-`}${hash.slice(0, Math.min(chars, room))}--${slug}`
  })
  const isWhole = plain !== '' && plain !== 'xn' && plain.length <= room
  return isWhole ? [`${plain}--${slug}`, ...hashed] : hashed
}
