import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, posix, relative, sep } from 'node:path'
import { applyRedirects, parseSiteRules } from '../lib/site-rules.ts'
import type { NodePlan } from './dependency-key.ts'
import { BuildFailure } from './runtime.ts'

type PathCheck = (path: string) => Promise<boolean>

/** This file exports `fetch`: TanStack Start builds it without Nitro. srvx, a dependency of TanStack Start, listens and serves the static files. */
const handlerEntry = 'dist/server/server.js'

/** Chooses by the build output: a server entry is started with node and serves the static files itself. */
export async function planFromOutput(plan: NodePlan, pathExists: PathCheck, onNote: (line: string) => void): Promise<NodePlan> {
  if (plan.kind !== 'static') return plan
  for (const entry of plan.server_entries) {
    if (!(await pathExists(posix.join(plan.app_directory, entry)))) continue
    const isHandler = entry === handlerEntry
    if (isHandler && !(await pathExists(posix.join(plan.app_directory, 'node_modules/.bin/srvx')))) {
      // All pages may have been prerendered.
      if (await pathExists(posix.join(plan.output_directory, 'index.html'))) continue
      throw new BuildFailure(
        'build_failed',
        `The build output ${entry} is a request handler, but no server that listens on a port.`,
        'Add Nitro to vite.config, or srvx to the dependencies of package.json (npm install srvx), then deploy again.',
      )
    }
    onNote(`The build output contains a server: ${entry} is started with ${isHandler ? 'srvx' : 'node'}.`)
    const { output_directory: _output, spa_fallback: _fallback, server_entries: _entries, ...common } = plan
    return {
      ...common,
      kind: 'server',
      start_command: isHandler ? ['srvx', 'serve', '--prod', '-s', '../client', entry] : ['node', entry],
      variables: {},
    }
  }
  return plan
}

const commonOutputFolders = ['dist', 'build', 'out', '.output/public', 'public', '_site', 'www']

export async function createMissingOutputFailure(plan: Extract<NodePlan, { kind: 'static' }>, pathExists: PathCheck): Promise<BuildFailure> {
  const candidates = commonOutputFolders.map((folder) => posix.join(plan.app_directory, folder))
  const found = (await Promise.all(candidates.map(async (path) => ((await pathExists(path)) ? [path] : [])))).flat()
  return new BuildFailure(
    'build_failed',
    `The output folder ${plan.output_directory} does not exist after the build.`,
    `${found.length > 0 ? `Folders found: ${found.join(', ')}. ` : ''}Check the build command and the output folder of the framework.`,
  )
}

const maxListedFiles = 12

/** Rejects a site whose `/` would return 404. `directory` contains its files. */
export async function checkStaticSite(directory: string, plan: Extract<NodePlan, { kind: 'static' }>, onNote: (line: string) => void): Promise<void> {
  const read = async (name: string) => ((await isFileWithin(directory, name)) ? readFile(join(directory, name), 'utf8') : '')
  const rules = parseSiteRules(await read('_redirects'), await read('_headers'))
  for (const line of rules.ignored) onNote(`Warning: ${line}`)
  if (await isFileWithin(directory, 'index.html')) return
  for (const forced of [true, false]) {
    const rule = applyRedirects(rules, '/', '', forced)
    if (rule && 'location' in rule) return
    if (rule?.status !== 200) continue
    const names = rule.path.endsWith('/') ? [`${rule.path}index.html`] : [rule.path, `${rule.path}.html`, `${rule.path}/index.html`]
    for (const name of names) if (await isFileWithin(directory, name)) return
  }
  const files = await listFiles(directory, maxListedFiles + 1)
  const fileList = files.slice(0, maxListedFiles).join(', ')
  const found = files.length === 0 ? 'The folder is empty.' : `Files found: ${fileList}${files.length > maxListedFiles ? ' …' : '.'}`
  throw new BuildFailure(
    'build_failed',
    `${plan.output_directory === '.' ? 'The source' : `The folder ${plan.output_directory}`} has no index.html, so / would return 404. ${found}`,
    'Check the build command and its output folder. An app with its own server needs a start script in package.json.',
  )
}

async function isFileWithin(directory: string, name: string): Promise<boolean> {
  const [root, real] = await Promise.all([realpath(directory), realpath(join(directory, name)).catch(() => undefined)])
  return real !== undefined && real.startsWith(root + sep) && (await stat(real)).isFile()
}

/** Paths of the first files of a folder, files at the top before files in subfolders. */
async function listFiles(directory: string, limit: number): Promise<string[]> {
  const files: string[] = []
  const folders = [directory]
  for (const folder of folders) {
    for (const entry of (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory() && entry.name !== 'node_modules') folders.push(join(folder, entry.name))
      else if (!entry.isDirectory()) files.push(relative(directory, join(folder, entry.name)).split(sep).join('/'))
      if (files.length >= limit) return files
    }
  }
  return files
}
