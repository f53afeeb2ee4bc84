import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { root } from './command.ts'
import { importsOf, isCode, listFiles } from './imports.ts'

/** Test folders that cover a source folder without importing it, because their tests use HTTP or processes. */
const coveringTestFolders: Record<string, string[]> = {
  'server/contract': ['test/http'],
  'server/features': ['test/api'],
  'server/api': ['test/http'],
  'server/store': ['test/store', 'test/api'],
  'server/bootstrap': ['test/api', 'test/platform'],
  'server/deployments': ['test/deployments'],
  'server/runtime': ['test/runtime'],
  'server/database': ['test/database'],
  'server/maintenance': ['test/maintenance'],
  'server/billing': ['test/billing'],
  'server/remotes': ['test/remotes'],
  'server/cli': ['test/cli'],
  renderer: ['test/e2e'],
}

const isTest = (file: string) => /\.(test|spec)\.tsx?$/.test(file)

/** Files that differ from a commit, and untracked files. */
export function listChangedFiles(base: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  return [...new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')])]
}

/** HEAD for uncommitted changes; without any, the parent of the last commit. */
export function defaultBase(): string {
  return listChangedFiles('HEAD').length > 0 ? 'HEAD' : 'HEAD~1'
}

/**
 * Test files that a change affects: by chains of value imports from the changed file to the test, nearest first, then those of the folders that cover
 * the changed folder without importing it.
 */
export function findTestsReachedBy(changed: readonly string[]): string[] {
  const files = listFiles()
  const importers = new Map<string, string[]>()
  for (const file of files.filter(isCode))
    for (const one of importsOf(file)) if (one.is_own && !one.is_type_only) importers.set(one.to, [...(importers.get(one.to) ?? []), file])

  const reached = new Set(changed)
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer)

  const folders = new Set(changed.flatMap((file) => [dirname(file).split('/')[0]!, dirname(file).split('/').slice(0, 2).join('/')]))
  const outside = [...folders].flatMap((folder) => coveringTestFolders[folder] ?? [])
  for (const file of files) if (outside.includes(dirname(file))) reached.add(file)
  return [...reached].filter((file) => isTest(file) && files.includes(file))
}
