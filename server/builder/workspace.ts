import { matchesGlob, posix } from 'node:path'
import { readManifest, readYaml, type Manifest } from './manifest.ts'
import { findLockFiles } from './package-manager.ts'
import { joinInside, type SourceFolder } from './source-folder.ts'

/** The folder where an app's packages are installed, and the other packages of its workspace. */
export interface Workspace {
  /** Folder of the lock file, relative to the source. */
  directory: string
  manifest: Manifest
  /** The file that lists the members. */
  patterns_file: 'package.json' | 'pnpm-workspace.yaml'
  /** The packages of the workspace by folder, without the root; empty when the app is not in a workspace. */
  members: Map<string, Manifest>
}

const maxDepth = 6
const maxMembers = 500

/** Finds the workspace of an app: the nearest folder at or above it whose workspace patterns include the app, else the app itself. */
export async function findWorkspace(source: SourceFolder, app: string, own: Manifest): Promise<Workspace> {
  for (let directory = app; ; directory = posix.dirname(directory)) {
    const manifest = directory === app ? own : await readManifest(source, directory)
    const patterns = manifest ? await memberPatterns(source, directory, manifest) : []
    if (manifest && patterns.length > 0) {
      const isMember = directory === app || matchesPatterns(posix.relative(directory, app), patterns)
      const patterns_file = (await source.has(joinInside(directory, 'pnpm-workspace.yaml'))) ? 'pnpm-workspace.yaml' : 'package.json'
      if (isMember) return { directory, manifest, patterns_file, members: await readMembers(source, directory, patterns) }
    }
    // An app with its own lock file is independent of the folders above.
    if (directory === app && (await findLockFiles(source, app)).length > 0) break
    if (directory === '.') break
  }
  return { directory: app, manifest: own, patterns_file: 'package.json', members: new Map() }
}

async function memberPatterns(source: SourceFolder, directory: string, manifest: Manifest): Promise<string[]> {
  const pnpm = await readYaml(source, joinInside(directory, 'pnpm-workspace.yaml'))
  const patterns = pnpm === null ? manifest.workspaces : pnpm.packages
  return (Array.isArray(patterns) ? patterns : (manifest.workspaces ?? []))
    .filter((entry): entry is string => typeof entry === 'string')
    .map((entry) => entry.replace(/^(!?)\.\//, '$1').replace(/\/$/, ''))
}

function matchesPatterns(path: string, patterns: string[]): boolean {
  return (
    patterns.some((pattern) => !pattern.startsWith('!') && matchesGlob(path, pattern)) &&
    !patterns.some((pattern) => pattern.startsWith('!') && matchesGlob(path, pattern.slice(1)))
  )
}

async function readMembers(source: SourceFolder, root: string, patterns: string[]): Promise<Map<string, Manifest>> {
  const members = new Map<string, Manifest>()
  const walk = async (relative: string, depth: number): Promise<void> => {
    if (depth > maxDepth || members.size >= maxMembers) return
    const folder = joinInside(root, relative || '.')
    if (relative !== '' && matchesPatterns(relative, patterns)) {
      const manifest = await readManifest(source, folder)
      if (manifest) members.set(folder, manifest)
    }
    for (const name of await source.list(folder)) {
      if (name.endsWith('/') && name !== 'node_modules/' && !name.startsWith('.')) await walk(posix.join(relative, name.slice(0, -1)), depth + 1)
    }
  }
  await walk('', 0)
  return members
}

/** Packages of the workspace that the app depends on and that have a build script, in dependency order. */
export function findDependenciesToBuild(workspace: Workspace, app: string, manifest: Manifest): string[] {
  const byName = new Map([...workspace.members].flatMap(([folder, member]) => (member.name === null ? [] : [[member.name, folder] as const])))
  const order: string[] = []
  const seen = new Set([app])
  const walk = (dependent: Manifest): void => {
    for (const name of Object.keys(dependent.all_dependencies)) {
      const folder = byName.get(name)
      const member = folder === undefined ? undefined : workspace.members.get(folder)
      if (folder === undefined || member === undefined || seen.has(folder)) continue
      seen.add(folder)
      walk(member)
      if (member.scripts.build !== undefined) order.push(folder)
    }
  }
  walk(manifest)
  return order
}
