import { z } from 'zod'
import { limits } from './limits.ts'

export const dateTime = z.iso.datetime({ precision: 3 })
export const empty = z.object({})

export const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{1,48}[a-z0-9]$/, 'Use 3 to 50 lower-case letters, digits and hyphens, with no hyphen at either end.')

/** Path parameters accept any text, because they are only looked up: an unknown value is a 404. */
export const projectParams = z.object({ slug: z.string() })
export const projectIdParams = z.object({ slug: z.string(), id: z.string() })

/** `limit` and `cursor` of every list. Query values are text, so numbers are parsed. */
export const pageQuery = z.object({
  limit: z
    .string()
    .regex(/^\d{1,9}$/, 'Use a whole number from 1 to 100.')
    .transform(Number)
    .pipe(z.number().int().min(limits.page.min).max(limits.page.max))
    .optional()
    .meta({ default: limits.page.default }),
  cursor: z.string().min(1).max(500).optional(),
})

export const okResponse = z.object({ ok: z.boolean() })

/** Slugs that projects cannot use. */
export const reservedSlugs: ReadonlySet<string> = new Set(
  'v1 www api app admin dashboard docs static assets auth hooks healthz openapi localhost homeport status mail ns1 ns2'.split(' '),
)

/** Git's rules for branch names (git-check-ref-format), so that an invalid name is rejected before git sees it. */
export function isBranchName(name: string): boolean {
  if (name === '@' || name.startsWith('-') || name.startsWith('/') || name.endsWith('/') || name.endsWith('.')) return false
  // oxlint-disable-next-line no-control-regex -- git forbids control characters
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\//.test(name)) return false
  return name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
}

/** Whether a path is relative, stays inside the repository, and is not in git's own folder. */
export function isInsideRepository(path: string): boolean {
  if (path.trim() === '' || path.trim().startsWith('/') || /^\s*[A-Za-z]:/.test(path) || path.includes('\\')) return false
  // Control characters could forge lines of the build log.
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(path)) return false
  let depth = 0
  return path.split('/').every((part) => {
    const name = part.trim()
    depth += name === '..' ? -1 : name === '' || name === '.' ? 0 : 1
    return depth >= 0 && !isGitFolder(name)
  })
}

/** Also matches how Windows and macOS read names: they drop trailing dots, streams and zero-width characters, and have short names. */
function isGitFolder(name: string): boolean {
  const read = name
    .normalize('NFKC')
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
  return read === '.git' || read === 'git~1'
}

export const branchName = z.string().min(limits.branch.min).max(limits.branch.max).refine(isBranchName, 'This is not a valid git branch name.')

const versionPart = String.raw`(?:\d{1,4}|[xX*])`
const versionComparator = String.raw`(?:[<>]=?|[=~^])?\s*v?${versionPart}(?:\.${versionPart}){0,2}(?:-[\w.-]+)?(?:\+[\w.-]+)?`
const versionRange = String.raw`${versionComparator}(?:(?:\s+|\s+-\s+|\s*\|\|\s*)${versionComparator})*`
const versionAlias = String.raw`auto|node|latest|current|stable|lts|lts\/(?:\*|iron|jod|krypton)`
const nodeVersionPattern = new RegExp(`^\\s*(?:node@)?(?:${versionAlias}|${versionRange})\\s*$`, 'i')

/** `auto`, or a version or range of Node in the forms that server/builder/node-version.ts parses. */
export const nodeVersion = z
  .string()
  .min(limits.node_version.min)
  .max(limits.node_version.max)
  .regex(nodeVersionPattern, 'Use auto, a version such as 24 or 22.11.0, or a range such as >=20.')

export const command = z
  .string()
  .min(limits.command.min)
  .max(limits.command.max)
  .refine((text) => !text.includes('\0'), 'A command must not contain a NUL character.')
