import { readDevSetting } from '../config/homeport-yaml.ts'
import { findCommandOption } from '../detector.ts'
import { readManifest, type Manifest } from '../manifest.ts'
import { choosePackageManager } from '../package-manager.ts'
import { openSourceFolder, type SourceFolder } from '../source-folder.ts'
import type { DevServerPlan } from './dev-server-plan.ts'
import { devScripts, devTools, type DevTool } from './dev-tools.ts'
import { languageServers } from './language-servers.ts'

/**
 * Finds the development server of a folder. Only reads files. Null: none was found. A user's own `command` is described by the tool that it runs.
 */
export async function detectDevServer(folder: string, command: readonly string[] = []): Promise<DevServerPlan | null> {
  const source = await openSourceFolder(folder)
  if (command.length > 0) return describeCommand([...command], 'your command')
  const setting = await readDevSetting(source)
  if (setting) return { ...describeCommand(setting.command, setting.file), port: setting.port }
  const names = new Set(await source.list('.'))
  const ofNode = await detectNode(source, names)
  // Rails, Laravel and others have a package.json only for their assets.
  const isOnlyAssets = names.has('Gemfile') || names.has('artisan') || names.has('manage.py') || names.has('mix.exs')
  if (ofNode && !isOnlyAssets) return ofNode
  for (const detect of languageServers) {
    const found = await detect(source, names)
    if (found) return found
  }
  return ofNode
}

function describeCommand(command: string[], origin: string): DevServerPlan {
  const tool = devTools.find(({ pattern }) => pattern.test(command.join(' ')))
  return {
    framework: tool?.framework ?? null,
    label: tool?.label ?? command[0] ?? '',
    command,
    environment: tool?.environment ?? {},
    host_header: tool?.host_header ?? 'localhost',
    port: findPort(command.join(' ')),
    explanation: `Started by ${origin}`,
  }
}

async function detectNode(source: SourceFolder, names: ReadonlySet<string>): Promise<DevServerPlan | null> {
  const manifest = await readManifest(source, '.')
  if (!manifest) return null
  const found = findScript(manifest)
  if (!found) return null
  const { name, script, tool } = found
  const { runner, separator } = await chooseRunner(source, names, manifest)
  const port = findPort(script)
  const extra = tool && port === null && takesArguments(script, tool) ? tool.arguments : []
  const framework = tool?.framework === 'vite' ? nameViteFramework(manifest) : tool
  return {
    framework: framework?.framework ?? null,
    label: framework?.label ?? 'Node',
    command: [...runner, 'run', name, ...(extra.length > 0 ? [...separator, ...extra] : [])],
    environment: tool?.environment ?? {},
    host_header: tool?.host_header ?? 'localhost',
    port,
    explanation: `${framework ? `${framework.label} found: the` : 'The'} script ${name} in package.json`,
  }
}

/** A script `dev` is used as it is; another script only if it runs a development server, because `start` is often for production. */
function findScript({ scripts }: Manifest): { name: string; script: string; tool: DevTool | undefined } | undefined {
  for (const name of devScripts) {
    const script = scripts[name]
    if (script === undefined) continue
    const tool = devTools.find(({ pattern }) => pattern.test(script))
    if (tool || name === 'dev') return { name, script, tool }
  }
  return undefined
}

/** Arguments are appended to a script, so it must be the tool itself, and not a program that starts several others. */
function takesArguments(script: string, { pattern }: DevTool): boolean {
  const last = script.split(/&&|;/).at(-1) ?? ''
  return pattern.test(last) && !/[|&]|\b(?:concurrently|npm-run-all|run-[ps]|wireit|turbo)\b/.test(last)
}

/** The port that a command sets itself; null when it sets none, or one from a variable. */
function findPort(command: string): number | null {
  const text = findCommandOption(command, ['--port', '-p']) ?? /(?:^|\s)PORT=(\d+)/.exec(command)?.[1]
  return text !== undefined && /^\d{1,5}$/.test(text) && Number(text) <= 65_535 && Number(text) > 0 ? Number(text) : null
}

/** npm needs `--` before arguments of a script; the others would pass it on. */
async function chooseRunner(
  source: SourceFolder,
  names: ReadonlySet<string>,
  manifest: Manifest,
): Promise<{ runner: string[]; separator: string[] }> {
  const isBun =
    manifest.package_manager?.startsWith('bun') === true ||
    (['bun.lock', 'bun.lockb'].some((name) => names.has(name)) && !names.has('package-lock.json'))
  if (isBun) return { runner: ['bun'], separator: [] }
  const { name } = await choosePackageManager(source, '.', manifest)
  return { runner: [name], separator: name === 'npm' ? ['--'] : [] }
}

const viteFrameworks: [dependency: string, framework: string, label: string][] = [
  ['@sveltejs/kit', 'sveltekit', 'SvelteKit'],
  ['@builder.io/qwik', 'qwik', 'Qwik'],
  ['@qwik.dev/core', 'qwik', 'Qwik'],
]

function nameViteFramework({ all_dependencies }: Manifest): { framework: string; label: string } {
  const [, framework = 'vite', label = 'Vite'] = viteFrameworks.find(([dependency]) => all_dependencies[dependency] !== undefined) ?? []
  return { framework, label }
}
