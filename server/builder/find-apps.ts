import { posix } from 'node:path'
import type { BuildSettings } from '../contract/build-plan.ts'
import { DetectFailure } from './detect-failure.ts'
import { readManifest } from './manifest.ts'
import { planBuild, type PlanOptions } from './plan-build.ts'
import { joinInside, openSourceFolder, type SourceFolder } from './source-folder.ts'
import { findWorkspace } from './workspace.ts'

export interface FoundApp {
  /** Relative to the source. */
  directory: string
  name: string
  framework: string
}

/** Files that mark an app in a subfolder. */
const appFiles = new Set([
  'package.json',
  'Dockerfile',
  'Containerfile',
  'go.mod',
  'Cargo.toml',
  'pyproject.toml',
  'requirements.txt',
  'Gemfile',
  'composer.json',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'mix.exs',
  'deno.json',
])
const skippedFolders = /^(\..*|node_modules|vendor|dist|build|out|target|tests?|__tests__|fixtures|examples?)\/$/
const maxDepth = 3
const maxFolders = 400
const maxCandidates = 40
const auto: BuildSettings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' }

/** The apps in subfolders of a source that can be deployed: members of its workspace, and folders with such files. */
export async function findApps({ folder, builds_dockerfiles }: Pick<PlanOptions, 'folder' | 'builds_dockerfiles'>): Promise<FoundApp[]> {
  const source = await openSourceFolder(folder)
  const candidates = new Set([...(await listMembers(source)), ...(await listFolders(source))])
  const apps: FoundApp[] = []
  for (const directory of [...candidates].slice(0, maxCandidates)) {
    const app = await describeApp(source, directory, { folder, ...(builds_dockerfiles === undefined ? {} : { builds_dockerfiles }) })
    if (app) apps.push(app)
  }
  return apps.toSorted((a, b) => (a.directory < b.directory ? -1 : 1))
}

async function listMembers(source: SourceFolder): Promise<string[]> {
  const manifest = await readManifest(source, '.').catch(ignoreFailure)
  return manifest ? [...(await findWorkspace(source, '.', manifest)).members.keys()] : []
}

/** By depth, without folders below an app. */
async function listFolders(source: SourceFolder): Promise<string[]> {
  const found: string[] = []
  let level = ['.']
  let visited = 0
  for (let depth = 0; depth < maxDepth; depth++) {
    const next: string[] = []
    for (const parent of level) {
      for (const name of await source.list(parent)) {
        if (!name.endsWith('/') || skippedFolders.test(name) || ++visited > maxFolders) continue
        const directory = joinInside(parent, name)
        const isApp = (await source.list(directory)).some((file) => appFiles.has(file) || file.endsWith('.csproj'))
        if (isApp) found.push(directory)
        else next.push(directory)
      }
    }
    level = next
  }
  return found
}

async function describeApp(source: SourceFolder, directory: string, options: Omit<PlanOptions, 'settings'>): Promise<FoundApp | null> {
  const plan = await planBuild({ ...options, settings: { ...auto, root_directory: directory } }).catch(ignoreFailure)
  if (!plan) return null
  // A component library uses the same tools as an app, but has no page.
  const isLibrary = plan.work.kind === 'static' && plan.framework === 'vite' && !(await source.has(joinInside(directory, 'index.html')))
  if (isLibrary) return null
  return { directory, name: (await readManifest(source, directory))?.name ?? posix.basename(directory), framework: plan.framework }
}

function ignoreFailure(error: unknown): null {
  if (error instanceof DetectFailure) return null
  throw error
}
