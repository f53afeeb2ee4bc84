import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'

/** An archive that is rejected: the entry at fault (null: the archive as a whole) and the reason. */
export class ArchiveError extends Problem {
  constructor(entry: string | null, why: string, cause?: unknown) {
    super('invalid_archive', entry === null ? why : `“${sanitizeName(entry)}” ${why}`, { cause })
    this.name = 'ArchiveError'
  }
}

/** `link` is a symbolic link. */
export type EntryKind = 'file' | 'folder' | 'link' | 'hard_link'

/** What an archive may contain, beyond what is always forbidden. */
export interface ArchiveRules {
  max_entries: number
  /** Names that are left out, in lower case. */
  excluded: ReadonlySet<string>
  /** A single top folder is the root, which links must not leave. */
  has_top_folder: boolean
  requires_files: boolean
  /** Names that differ only in case, Unicode form or a trailing dot are the same file. */
  folds_names: boolean
}

/** The entries of an archive as a tree, so that the archive can be checked as a whole before any of it is used. */
export interface ArchiveTree {
  /** Adds an entry. Returns its path below the root, with slashes; null for entries that are excluded from every source. Throws ArchiveError. */
  add(name: string, kind: EntryKind, target: string | null): string | null
  /** Must be called after the last entry. Throws ArchiveError for faults that only the complete archive shows, such as links that leave it. */
  finish(): { links: { path: string; target: string }[]; files: number; left_out: number }
}

/** Names that are excluded from every source: tools generate these files and folders. */
export const excludedNames = new Set(['node_modules', '.git', '.hg', '.svn', '.ds_store', '__macosx'])
/** A source is unpacked on any system. */
const sourceRules: ArchiveRules = {
  max_entries: limits.upload.entries,
  excluded: excludedNames,
  has_top_folder: true,
  requires_files: true,
  folds_names: true,
}
const maxNameBytes = 32 * 2 ** 20
/** Limits the hops of a link, so that an archive cannot make following links endless. */
const maxLinkHops = 40
const maxLinkSteps = 500_000

interface TreeNode {
  path: string
  kind: EntryKind
  target: string | null
  /** False for a folder that only appears in the paths of other entries. */
  is_entry: boolean
}

export function createArchiveTree({ max_entries, excluded, has_top_folder, requires_files, folds_names }: ArchiveRules = sourceRules): ArchiveTree {
  const toKey = folds_names ? foldPath : (path: string) => path
  /** Keyed by path, which is folded where names that differ only in case or Unicode form are the same file. */
  const nodes = new Map<string, TreeNode>()
  const topLevelNames = new Set<string>()
  const links: { path: string; target: string }[] = []
  let entries = 0
  let files = 0
  let nameBytes = 0
  let excludedCount = 0

  /** Creates the parent folders of an entry. */
  const addParentFolders = (name: string, parts: readonly string[]): void => {
    let path = ''
    for (const part of parts.slice(0, -1)) {
      path = path === '' ? part : `${path}/${part}`
      addNode(name, { path, kind: 'folder', target: null, is_entry: false })
    }
  }

  const addNode = (name: string, node: TreeNode): void => {
    const key = toKey(node.path)
    const existing = nodes.get(key)
    if (!existing) {
      nameBytes += Buffer.byteLength(key)
      // The limit includes parent folders without their own entry, because each takes memory.
      if (nodes.size >= 2 * max_entries || nameBytes > maxNameBytes)
        throw new ArchiveError(null, 'The archive has too many folders, or too long names.')
      nodes.set(key, node)
      return
    }
    if (existing.path !== node.path)
      throw new ArchiveError(name, `and “${sanitizeName(existing.path)}” differ only in case, Unicode form or a trailing dot. Rename one of them.`)
    if (existing.kind !== 'folder' || node.kind !== 'folder')
      throw new ArchiveError(name, existing.is_entry && node.is_entry ? 'is in the archive twice.' : 'is both a folder and another kind of entry.')
    existing.is_entry ||= node.is_entry
  }

  /** A hard link is another name of a file that comes earlier in the archive. */
  const requireEarlierFile = (name: string, target: string): void => {
    const node = nodes.get(toKey(splitEntryPath(target, 'file').join('/')))
    if (node?.kind !== 'file' && node?.kind !== 'hard_link')
      throw new ArchiveError(name, `is a hard link to “${sanitizeName(target)}”, which is no earlier file of the archive.`)
  }

  /** Follows a link, through other links of the archive, to its target; the path must stay below `root` at every step. */
  const followLink = ({ path, target }: { path: string; target: string }, root: number, countStep: () => void): void => {
    const stack = path.split('/').slice(0, -1)
    const pending = target.split('/').toReversed()
    for (let hops = 0; pending.length > 0;) {
      countStep()
      const part = pending.pop() ?? ''
      if (part === '' || part === '.') continue
      if (part === '..') {
        if (stack.length <= root) throw new ArchiveError(path, `is a link that points outside of the archive (to “${sanitizeName(target)}”).`)
        stack.pop()
        continue
      }
      stack.push(part)
      if (stack.length > limits.upload.depth) throw new ArchiveError(path, `is a link to a path deeper than ${limits.upload.depth} folders.`)
      const node = nodes.get(toKey(stack.join('/')))
      if (node?.kind !== 'link') continue
      if (++hops > maxLinkHops) throw new ArchiveError(path, 'is a circular link.')
      stack.pop()
      pending.push(...(node.target ?? '').split('/').toReversed())
    }
  }

  return {
    add(name, kind, target) {
      if (++entries > max_entries) throw new ArchiveError(null, `The archive has more than ${max_entries} entries.`)
      const parts = splitEntryPath(name, kind)
      if (kind === 'link' && target !== null) validateLinkTarget(name, target)
      if (kind === 'hard_link') requireEarlierFile(name, target ?? '')
      if (parts.some((part) => excluded.has(part.toLowerCase().replace(trailingDots, '')))) {
        excludedCount++
        return null
      }
      if (parts.length === 0) {
        if (kind !== 'folder') throw new ArchiveError(name, 'has no name.')
        return null
      }
      const path = parts.join('/')
      addParentFolders(name, parts)
      addNode(name, { path, kind, target, is_entry: true })
      topLevelNames.add(parts[0] ?? '')
      if (kind === 'link' && target !== null) links.push({ path, target })
      if (kind === 'file' || kind === 'hard_link') files++
      return path
    },

    finish() {
      if (entries === 0 || (requires_files && files === 0)) throw new ArchiveError(null, 'The archive contains no files.')
      const [top = ''] = topLevelNames
      // The single top folder that is stripped is the root of the build.
      const root = has_top_folder && topLevelNames.size === 1 && nodes.get(toKey(top))?.kind === 'folder' ? 1 : 0
      let steps = 0
      const countStep = () => {
        if (++steps > maxLinkSteps) throw new ArchiveError(null, 'The archive has too many chained links.')
      }
      for (const link of links) {
        if (link.path.split('/').length <= root) throw new ArchiveError(link.path, 'is a link instead of the top folder.')
        followLink(link, root, countStep)
      }
      return { links, files, left_out: excludedCount }
    },
  }
}

/** Splits a name into path segments; throws for every name that could leave the archive on any system. */
function splitEntryPath(name: string, kind: EntryKind): string[] {
  validateText(name, name)
  if (Buffer.byteLength(name) > limits.upload.path_bytes) throw new ArchiveError(name, `has a path longer than ${limits.upload.path_bytes} bytes.`)
  if (name.startsWith('/')) throw new ArchiveError(name, 'is an absolute path.')
  if (/^[A-Za-z]:/.test(name)) throw new ArchiveError(name, 'starts with a drive letter.')
  if (name.endsWith('/') && kind !== 'folder') throw new ArchiveError(name, 'has the name of a folder but is not one.')
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw new ArchiveError(name, 'points outside of the archive (“..”).')
  if (parts.some((part) => /^[. ]+$/.test(part)))
    throw new ArchiveError(name, 'has a name of only dots and spaces, which leaves the archive on some systems.')
  if (parts.length > limits.upload.depth) throw new ArchiveError(name, `is nested deeper than ${limits.upload.depth} folders.`)
  for (const part of parts) {
    if (Buffer.byteLength(part) > limits.upload.name_bytes) throw new ArchiveError(name, `has a name longer than ${limits.upload.name_bytes} bytes.`)
    if (process.platform === 'win32' && /[<>:"|?*]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(part))
      throw new ArchiveError(name, 'has a name that Windows does not allow.')
  }
  return parts
}

function validateLinkTarget(name: string, target: string): void {
  if (target === '' || Buffer.byteLength(target) > limits.upload.path_bytes)
    throw new ArchiveError(name, 'is a link with an empty target or a target path that is too long.')
  validateText(name, target)
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target))
    throw new ArchiveError(name, `is a link that points outside of the archive (to “${sanitizeName(target)}”).`)
}

function validateText(name: string, text: string): void {
  if (text.includes('\0')) throw new ArchiveError(name, 'has a NUL character in its name.')
  // oxlint-disable-next-line no-control-regex -- they forge lines of logs, and no source needs them
  if (/[\u0001-\u001f\u007f]/.test(text)) throw new ArchiveError(name, 'has a control character in its name.')
  if (text.includes('\\')) throw new ArchiveError(name, 'has a backslash in its name.')
}

/** Maps names that a file system may treat as equal to one key: letter case (“ß” and “SS”), Unicode form (“ﬁ” and “fi”) and trailing dots. */
const foldPath = (path: string): string => path.normalize('NFKD').toLowerCase().toUpperCase().replace(trailingDots, '')
const trailingDots = /[. ]+(?=\/|$)/g

/** A name that is safe to show in a response and in a log. */
function sanitizeName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- that is what is taken out
  const plain = name.slice(0, 200).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '�')
  return name.length > 200 ? `${plain}…` : plain
}
