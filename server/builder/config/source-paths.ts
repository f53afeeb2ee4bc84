import { DetectFailure } from '../detect-failure.ts'
import { joinInside } from '../source-folder.ts'
import type { Position } from './config-failure.ts'
import type { ConfigContext } from './service-draft.ts'
import { quote } from './yaml-tree.ts'

const insideHint = 'Use a path inside the source, relative to its root.'

/** A path of the file relative to the source; undefined (and a problem) when it leaves the source. */
export function resolveSourcePath(path: string, at: Position, label: string, { log }: ConfigContext, base = '.'): string | undefined {
  const isPlain = !/^([/\\~]|[A-Za-z]:)/.test(path) && !path.includes('\\') && !/[\p{Cc}\u2028\u2029]/u.test(path)
  if (isPlain) {
    try {
      const resolved = joinInside(base, path === '' ? '.' : path)
      if (!resolved.split('/').some((part) => part.toLowerCase() === '.git')) return resolved
    } catch (error) {
      if (!(error instanceof DetectFailure)) throw error
    }
  }
  log.reject(at, `${label}: ${quote(path)} is outside of the source.`, insideHint)
  return undefined
}

/** The kind of a path in the source. A link that leaves the source is a problem, and undefined. */
export async function inspectPath(
  path: string,
  at: Position,
  label: string,
  { log, source }: ConfigContext,
): Promise<'file' | 'folder' | 'missing' | undefined> {
  try {
    if (await source.isFolder(path)) return 'folder'
    return (await source.has(path)) ? 'file' : 'missing'
  } catch (error) {
    if (!(error instanceof DetectFailure)) throw error
    log.reject(at, `${label}: ${quote(path)} is a link that leaves the source.`, 'Add the files themselves to the repository.')
    return undefined
  }
}

/** The text of a file of the source; null when it does not exist, undefined (and a problem) when it must not be read. */
export async function readSourceFile(path: string, at: Position, label: string, context: ConfigContext): Promise<string | null | undefined> {
  const resolved = resolveSourcePath(path, at, label, context)
  if (resolved === undefined) return undefined
  const kind = await inspectPath(resolved, at, label, context)
  if (kind === undefined) return undefined
  const text = kind === 'file' ? await context.source.read(resolved) : null
  if (text === null || text.length <= maxFile_characters) return text
  context.log.reject(at, `${label}: ${quote(path)} is too large to be read.`, 'Keep the file below 200,000 characters.')
  return undefined
}

const maxFile_characters = 200_000
