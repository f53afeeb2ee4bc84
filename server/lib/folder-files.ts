import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'

/** Folders and files that are never part of the source, because tools create them. */
const excludedNames = new Set(['node_modules', '.git', '.hg', '.svn', '.DS_Store'])
const localEnvFile = /^\.env(\..*)?$/
const sharedEnvFile = /^\.env\.(example|sample|template|dist|defaults)$/

/**
 * All source files below a folder, by relative path with slashes and in a stable order, as its .gitignore files allow. Local .env files are left out
 * and reported to `note`.
 */
export async function* listFolderFiles(root: string, note: (line: string) => void): AsyncGenerator<string> {
  yield* walkFolder(root, '', [], note)
}

interface IgnoreRules {
  /** Relative to the root; '' or ends with '/'. */
  base: string
  rules: Ignore
}

async function* walkFolder(root: string, base: string, inheritedRules: IgnoreRules[], note: (line: string) => void): AsyncGenerator<string> {
  const entries = (await readdir(join(root, base), { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const ownRules = entries.some((entry) => entry.name === '.gitignore' && entry.isFile())
    ? await readFile(join(root, base, '.gitignore'), 'utf8')
    : null
  const rules = ownRules === null ? inheritedRules : [...inheritedRules, { base, rules: ignore().add(ownRules) }]
  for (const entry of entries) {
    if (excludedNames.has(entry.name)) continue
    const name = base + entry.name
    if (isIgnored(entry.isDirectory() ? `${name}/` : name, rules)) continue
    if (entry.isDirectory()) yield* walkFolder(root, `${name}/`, rules, note)
    else if (localEnvFile.test(entry.name) && !sharedEnvFile.test(entry.name))
      note(`Skipped ${name}. Add its variables to the project’s environment (homeport env import).`)
    else yield name
  }
}

/** The deepest .gitignore with a matching rule decides, as in git. */
function isIgnored(name: string, rules: IgnoreRules[]): boolean {
  for (const { base, rules: ownRules } of rules.toReversed()) {
    const result = ownRules.test(name.slice(base.length))
    if (result.ignored) return true
    if (result.unignored) return false
  }
  return false
}
