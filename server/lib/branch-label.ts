import { createHash } from 'node:crypto'

/** The longest label of a name in DNS. */
const maxLabel_chars = 63

/**
 * Labels for the preview of a branch, the one to be liked best first: `{branch}--{slug}`, then with ever more of a hash of the
 * branch for when another has that one. A name that had to be cut, or would be read as another script's, has the hash at once.
 */
export function createHostLabels(branch: string, slug: string): string[] {
  const label = branch
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  const budget_chars = maxLabel_chars - slug.length - 2
  const hash = createHash('sha256').update(branch).digest('hex')
  const hashed = [6, 8, 10].map((chars) => {
    const start = label.slice(0, Math.max(0, budget_chars - chars - 1)).replace(/-$/, '')
    return `${start === '' ? '' : `${start}-`}${hash.slice(0, Math.min(chars, budget_chars))}--${slug}`
  })
  const isUnchanged = label !== '' && label !== 'xn' && label.length <= budget_chars
  return isUnchanged ? [`${label}--${slug}`, ...hashed] : hashed
}
