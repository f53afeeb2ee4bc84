import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './command.ts'

export interface Import {
  from: string
  /** A file of this repository, relative to the root, or the name of a package. */
  to: string
  is_own: boolean
  is_type_only: boolean
}

/** Tracked files, and new files that git would track; paths relative to the root. */
export function listFiles(): string[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)) && statSync(join(root, file)).isFile())
}

export const isCode = (file: string): boolean => /\.(ts|tsx|mjs|cts|mts)$/.test(file) && !/^test\/(apps\/[^/]+|fixtures)\//.test(file)

/** Import and re-export statements and dynamic imports with a literal path. */
export function importsOf(file: string, text = readFileSync(join(root, file), 'utf8')): Import[] {
  const found: Import[] = []
  const statement = /(?:^|\n|;)\s*(?:import|export)\s+(type\s+)?(?:([^'";]*?)\s+from\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g
  for (const [, type, names = '', path, lazy] of withoutComments(text).matchAll(statement)) {
    const specifier = (path ?? lazy)!.split('?')[0]!
    const inner = /^\{([^}]*)\}$/.exec(names.trim())?.[1]
    const isInlineType = inner !== undefined && inner.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type '))
    const isOwn = specifier.startsWith('.')
    found.push({
      from: file,
      to: isOwn ? relative(root, join(root, dirname(file), specifier)) : specifier,
      is_own: isOwn,
      is_type_only: type !== undefined || isInlineType,
    })
  }
  return found
}

export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/[^\n]*/g, '$1')
}
