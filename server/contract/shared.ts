import { z } from 'zod'
import { limits } from './limits.ts'

export const dateTime = z.iso.datetime({ precision: 3 })
export const empty = z.object({})

export const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{1,48}[a-z0-9]$/, 'Use 3 to 50 lower-case letters, digits and hyphens, with no hyphen at either end.')

/** Path parameters are looked up, never trusted: any text is allowed, an unknown one is 404. */
export const projectParams = z.object({ slug: z.string() })
export const projectIdParams = z.object({ slug: z.string(), id: z.string() })

/** `limit` and `cursor` of every list. A query arrives as text, so numbers are read from text. */
export const pageQuery = z.object({
  limit: z
    .string()
    .regex(/^\d{1,9}$/, 'Give a whole number from 1 to 100.')
    .transform(Number)
    .pipe(z.number().int().min(limits.page.min).max(limits.page.max))
    .optional()
    .meta({ default: limits.page.default }),
  cursor: z.string().min(1).max(500).optional(),
})

export const okResponse = z.object({ ok: z.boolean() })

/** The names that no project may take. */
export const reservedSlugs: ReadonlySet<string> = new Set(
  'v1 www api app admin dashboard docs static assets auth hooks healthz openapi localhost homeport status mail ns1 ns2'.split(' '),
)

/** Git's own rules for a branch name (git-check-ref-format), so that a bad one is refused before git sees it. */
export function isBranchName(name: string): boolean {
  if (name === '@' || name.startsWith('-') || name.startsWith('/') || name.endsWith('/') || name.endsWith('.')) return false
  // oxlint-disable-next-line no-control-regex -- control characters are what git forbids
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\//.test(name)) return false
  return name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
}

/** A folder inside the repository: relative, no way out, nothing of git's own. */
export function isInsideRepository(path: string): boolean {
  if (path.trim() === '' || path.trim().startsWith('/') || /^\s*[A-Za-z]:/.test(path) || path.includes('\\')) return false
  // They would forge lines of the build log.
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(path)) return false
  let depth = 0
  return path.split('/').every((part) => {
    const name = part.trim()
    depth += name === '..' ? -1 : name === '' || name === '.' ? 0 : 1
    return depth >= 0 && !isGitFolder(name)
  })
}

/** Also as Windows and macOS read a name: they drop dots, streams and characters without a width, and have short names. */
function isGitFolder(name: string): boolean {
  const read = name
    .normalize('NFKC')
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
  return read === '.git' || read === 'git~1'
}

export const branchName = z
  .string()
  .min(limits.branch.min)
  .max(limits.branch.max)
  .refine(isBranchName, 'This is not a name that git allows for a branch.')

const versionPart = String.raw`(?:\d{1,4}|[xX*])`
const versionComparator = String.raw`(?:[<>]=?|[=~^])?\s*v?${versionPart}(?:\.${versionPart}){0,2}(?:-[\w.-]+)?(?:\+[\w.-]+)?`
const versionRange = String.raw`${versionComparator}(?:(?:\s+|\s+-\s+|\s*\|\|\s*)${versionComparator})*`
const versionAlias = String.raw`auto|node|latest|current|stable|lts|lts\/(?:\*|iron|jod|krypton)`
const nodeVersionPattern = new RegExp(`^\\s*(?:node@)?(?:${versionAlias}|${versionRange})\\s*$`, 'i')

/** `auto`, or what names a version of Node or a range of them: the forms that server/builder/node-version.ts reads. */
export const nodeVersion = z
  .string()
  .min(limits.node_version.min)
  .max(limits.node_version.max)
  .regex(nodeVersionPattern, 'Give auto, a version such as 24 or 22.11.0, or a range such as >=20.')

export const command = z
  .string()
  .min(limits.command.min)
  .max(limits.command.max)
  .refine((text) => !text.includes('\0'), 'A command has no NUL character.')
