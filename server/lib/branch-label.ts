import { createHash } from 'node:crypto'
import { parsePullRequestLabel } from './pull-request.ts'

/** The maximum length of a DNS label. */
const maxLabel_chars = 63

/**
 * Host labels for the preview of a branch, the preferred one first: `{branch}--{slug}`, or `pr-{number}--{slug}` for a pull request, then with longer and longer parts of a hash of the branch in
 * case the label is taken. A label that had to be truncated, or that could be read as punycode, has the hash from the start.
 */
export function createHostLabels(branch: string, slug: string): string[] {
  const number = parsePullRequestLabel(branch)
  const label = (number === undefined ? branch : `pr-${number}`)
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
