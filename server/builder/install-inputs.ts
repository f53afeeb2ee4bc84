import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Manifest } from './manifest.ts'
import type { PackageManagerChoice } from './package-manager.ts'
import { joinInside, type SourceFolder } from './source-folder.ts'
import type { Workspace } from './workspace.ts'

const installFiles = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'yarn.lock',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  '.pnpmfile.mjs',
]
const installFolders = ['patches', '.yarn/patches', '.yarn/plugins', '.yarn/releases', 'prisma']
/** Install scripts that do not read the app's own files. */
const harmlessScript =
  /^(husky( install)?|is-ci|lefthook install|simple-git-hooks|patch-package|prisma generate|svelte-kit sync|nuxt prepare|nuxi prepare|astro sync|ngcc|echo\b.*|true|only-allow \w+|npx only-allow \w+|exit 0)$/
const installScripts = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']

/** The files that installed packages depend on, relative to the source. `['.']`, the whole source, when an install script may read any file. */
export async function findInstallInputs(
  source: SourceFolder,
  workspace: Workspace,
  app: string,
  appManifest: Manifest,
): Promise<{ inputs: string[]; why: string | null }> {
  const manifests: [string, Manifest][] = [[workspace.directory, workspace.manifest], ...workspace.members, [app, appManifest]]
  for (const [folder, manifest] of manifests) {
    const name = installScripts.find((script) => manifest.scripts[script] !== undefined && !isHarmless(manifest.scripts[script]))
    if (name)
      return {
        inputs: ['.'],
        why: `Packages are reinstalled whenever the source changes, because “${name}” in ${joinInside(folder, 'package.json')} may read any file`,
      }
    const local = Object.values(manifest.all_dependencies).find((range) => /^(file|link|portal):/.test(range))
    if (local)
      return {
        inputs: ['.'],
        why: `Packages are reinstalled whenever the source changes, because ${joinInside(folder, 'package.json')} depends on ${local}`,
      }
  }
  const inputs = new Set<string>()
  for (const folder of new Set(manifests.map(([name]) => name))) {
    const names = new Set(await source.list(folder))
    for (const name of installFiles) if (names.has(name)) inputs.add(joinInside(folder, name))
  }
  for (const folder of new Set([workspace.directory, app])) {
    for (const name of installFolders) for (const file of await listFilesBelow(source, joinInside(folder, name))) inputs.add(file)
  }
  return { inputs: [...inputs].sort(), why: null }
}

function isHarmless(script: string): boolean {
  return script.split(/\s*(?:&&|\|\||;)\s*/).every((part) => harmlessScript.test(part.trim()))
}

async function listFilesBelow(source: SourceFolder, folder: string, depth = 0): Promise<string[]> {
  if (depth > 4) return []
  const files: string[] = []
  for (const name of await source.list(folder)) {
    const path = posix.join(folder, name)
    if (!name.endsWith('/')) files.push(path)
    else if (name !== 'node_modules/' && name !== '.git/') files.push(...(await listFilesBelow(source, path.slice(0, -1), depth + 1)))
  }
  return files
}

/** Two builds with the same key have the same installed packages. */
export async function createInstallKey(
  source: SourceFolder,
  inputs: string[],
  nodeVersion: string,
  manager: Pick<PackageManagerChoice, 'name' | 'version'>,
  command: string,
): Promise<string> {
  const hash = createHash('sha256')
  const addToHash = (text: string) => hash.update(`${Buffer.byteLength(text)}:`).update(text)
  for (const text of [nodeVersion, manager.name, manager.version ?? '', command]) addToHash(text)
  const files = inputs.includes('.') ? await listFilesBelow(source, '.', -20) : inputs
  for (const file of files) {
    addToHash(file)
    addToHash((await source.read(file)) ?? '')
  }
  return hash.digest('hex')
}
