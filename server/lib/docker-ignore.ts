/**
 * Parses a .dockerignore file into a predicate that says whether a path (relative to the context, with slashes) is part of the build. Patterns follow
 * Docker's rules, not git's: they are anchored at the context root, and the last match decides.
 */
export function createDockerIgnore(text: string): (path: string, isFolder: boolean) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.replace(/^\uFEFF/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const negated = line.startsWith('!')
      const pattern = (negated ? line.slice(1) : line)
        .trim()
        .replace(/^\/+|\/+$/g, '')
        .replace(/^(\.\/)+/, '')
      return { negated, expression: toRegExp(pattern) }
    })
    .filter((rule) => rule.expression !== null)
  const hasExceptions = rules.some((rule) => rule.negated)

  return (path, isFolder) => {
    const parts = path.split('/')
    const paths = parts.map((_, n) => parts.slice(0, n + 1).join('/'))
    let ignored = false
    for (const { negated, expression } of rules) {
      if (negated === ignored && paths.some((parent) => expression!.test(parent))) ignored = !negated
    }
    // A later rule may include files below an ignored folder.
    return !ignored || (isFolder && hasExceptions)
  }
}

function toRegExp(pattern: string): RegExp | null {
  if (pattern === '' || pattern === '.') return null
  let source = ''
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at)
    if (rest.startsWith('**/')) {
      source += '(?:.*/)?'
      at += 2
    } else if (rest.startsWith('**')) {
      source += '.*'
      at += 1
    } else if (rest.startsWith('*')) {
      source += '[^/]*'
    } else if (rest.startsWith('?')) {
      source += '[^/]'
    } else if (/^\[\^?[^\]/]+\]/.test(rest)) {
      const set = /^\[\^?[^\]/]+\]/.exec(rest)![0]
      source += set.replaceAll('\\', '\\\\')
      at += set.length - 1
    } else if (rest.startsWith('\\') && rest.length > 1) {
      source += escapeRegExp(rest[1]!)
      at += 1
    } else {
      source += escapeRegExp(rest[0]!)
    }
  }
  try {
    return new RegExp(`^${source}$`, 's')
  } catch {
    return null
  }
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
