import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'

/** What no source holds: made by tools, never by people. */
const neverTaken = new Set(['node_modules', '.git', '.hg', '.svn', '.DS_Store'])
const localEnvironment = /^\.env(\..*)?$/
const sharedEnvironment = /^\.env\.(example|sample|template|dist|defaults)$/

/**
 * All files below a folder that git does not know, by name relative to it, with slashes and in a steady order, as the
 * .gitignore files on the way allow. Files with variables of this machine (.env) are left out, which `note` is told.
 */
export async function* filesOf(root: string, note: (line: string) => void): AsyncGenerator<string> {
  yield* filesBelow(root, '', [], note)
}

interface Rules {
  /** Relative to the root; '' or ends with '/'. */
  base: string
  rules: Ignore
}

async function* filesBelow(root: string, base: string, above: Rules[], note: (line: string) => void): AsyncGenerator<string> {
  const entries = (await readdir(join(root, base), { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const own = entries.some((entry) => entry.name === '.gitignore' && entry.isFile()) ? await readFile(join(root, base, '.gitignore'), 'utf8') : null
  const rules = own === null ? above : [...above, { base, rules: ignore().add(own) }]
  for (const entry of entries) {
    if (neverTaken.has(entry.name)) continue
    const name = base + entry.name
    if (isIgnored(entry.isDirectory() ? `${name}/` : name, rules)) continue
    if (entry.isDirectory()) yield* filesBelow(root, `${name}/`, rules, note)
    else if (localEnvironment.test(entry.name) && !sharedEnvironment.test(entry.name))
      note(`Left out ${name}: put its variables into the project’s settings (homeport env import).`)
    else yield name
  }
}

/** The deepest .gitignore that has an opinion decides, as git does it. */
function isIgnored(name: string, rules: Rules[]): boolean {
  for (const { base, rules: own } of rules.toReversed()) {
    const answer = own.test(name.slice(base.length))
    if (answer.ignored) return true
    if (answer.unignored) return false
  }
  return false
}
