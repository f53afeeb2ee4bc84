import ignore from 'ignore'

/** The column `watch_paths` of a project. */
export const parseWatchPaths = (json: string): string[] => JSON.parse(json) as string[]
export const formatWatchPaths = (patterns: readonly string[]): string => JSON.stringify(patterns)

/**
 * A predicate that says whether a changed file counts. Patterns are those of .gitignore, but the last matching one decides, also below a
 * folder that matches: `apps/web` with `!**\/*.md` is everything in the folder except Markdown. A list that begins with an exclusion begins with all files.
 */
export function createWatchPathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const rules = patterns.map((pattern) => {
    const isExcluded = pattern.startsWith('!')
    const matcher = ignore({ ignoreCase: false, allowRelativePaths: true }).add(isExcluded ? pattern.slice(1) : pattern)
    return { isExcluded, matches: (path: string) => matcher.ignores(path) }
  })
  const isAll = rules[0]?.isExcluded ?? true
  return (path) => {
    const decisive = rules.findLast(({ matches }) => matches(path))
    return decisive ? !decisive.isExcluded : isAll
  }
}
