import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { delimiter, join } from 'node:path'
import type { StepName } from '../contract/deployments.ts'
import { systemClock } from '../lib/clock.ts'
import { stepFailure } from './build-failures.ts'
import { dependencyKey, type NodePlan } from './dependencies.ts'
import { inside, isFolder, moveFolder, sizeOf } from './files.ts'
import type { BuildCache } from './process-cache.ts'
import { checkPaths } from './plan-paths.ts'
import { type GroupRequest, startGroup } from './process-group.ts'
import type { ProcessRecords } from './process-records.ts'
import type { Confinement, Folders } from './sandbox/sandbox.ts'
import { startOf } from './process-table.ts'
import { defaultPath, installEnvironment, type Toolchains } from './process-toolchain.ts'
import { BuildFailure, type Artifact, type BuildRequest, type RuntimeOptions } from './runtime.ts'
import { raceAbort } from './signals.ts'
import { checkSite, missingOutput, planOfOutput } from './static-output.ts'

export interface BuildTools {
  options: RuntimeOptions
  toolchains: Toolchains
  cache: BuildCache
  confinement: Confinement
  records: ProcessRecords
  /** Installs under way, by project and key of their dependencies. */
  installing: Map<string, Promise<void>>
}

/** Those of one build. */
interface StepTools extends BuildTools {
  folders: Folders
}

const maxProcesses = 512

/** Of package managers, shared by all projects. */
const sharedCaches = ['npm', 'yarn', 'pnpm']

/** Builds a plan in `place`, the deployment's own folder, which is gone when this throws. */
export async function buildInPlace(request: BuildRequest, place: string, tools: BuildTools): Promise<Artifact> {
  const plan = request.plan.work
  if (plan.kind === 'dockerfile') {
    throw new BuildFailure(
      'runtime_unavailable',
      'This project builds from a Dockerfile, and no Docker engine answers.',
      'Install Docker and start it, then deploy again; or remove the Dockerfile to have the framework detected.',
    )
  }
  request.signal.throwIfAborted()
  const home = join(tools.options.data_dir, 'work', `${request.deployment_id}-home`)
  await rm(place, { recursive: true, force: true })
  try {
    await mkdir(home, { recursive: true, mode: 0o700 })
    await moveFolder(request.folder, join(place, 'app'), request.signal)
    const caches = sharedCaches.map((name) => join(tools.options.data_dir, 'cache', name))
    for (const cache of caches) await mkdir(cache, { recursive: true, mode: 0o700 })
    return await buildPlan(request, plan, place, home, { ...tools, folders: { read: [], write: [place, home, ...caches] } })
  } catch (error) {
    await rm(place, { recursive: true, force: true, maxRetries: 5 })
    // Whatever broke, an aborted build ends as aborted.
    request.signal.throwIfAborted()
    throw error
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function buildPlan(request: BuildRequest, plan: NodePlan, place: string, home: string, tools: StepTools): Promise<Artifact> {
  const { log, signal } = request
  const source = join(place, 'app')
  await checkPaths(source, plan)
  const app = inside(source, plan.app_directory)
  const environment = await buildEnvironment(request, plan, source, home, tools)

  let key: string | null = null
  if (plan.install_command === null) log.skip('install')
  else key = await install(request, plan, plan.install_command, source, environment, tools)

  if (plan.build_command === null) {
    log.skip('build')
  } else {
    log.step('build')
    await tools.cache.takeFramework(request.project_id, app, plan.cache_directories)
    await runStep('build', plan.build_command, app, { ...environment, NODE_ENV: request.variables.NODE_ENV ?? 'production' }, request, tools)
    await tools.cache.keepFramework(request.project_id, app, plan.cache_directories, signal)
  }
  signal.throwIfAborted()
  if (key !== null) void tools.cache.layAside(request.project_id, key)
  const built = await planOfOutput(plan, isInSource(source), (line) => log.note('build', line))
  return built.kind === 'static' ? staticArtifact(built, place, (line) => log.note('build', line)) : serverArtifact(built, place, request, tools)
}

/** Resolves to the key under which the dependencies are kept; null when they are not. */
async function install(
  request: BuildRequest,
  plan: NodePlan,
  command: string,
  source: string,
  environment: Record<string, string>,
  tools: StepTools,
): Promise<string | null> {
  const { log, signal } = request
  log.step('install')
  const key = await dependencyKey(source, plan, request.project_id, request.variables)
  // Build tools are among the development dependencies, which NODE_ENV=production would leave out.
  const run = () => runStep('install', command, inside(source, plan.install_directory), { ...environment, NODE_ENV: 'development' }, request, tools)
  if (key === null) {
    await run()
    return null
  }
  const name = `${request.project_id} ${key}`
  for (;;) {
    const other = tools.installing.get(name)
    if (other) {
      log.note('install', 'Another build installs the same dependencies; waiting for it.')
      await raceAbort(
        other.catch(() => {}),
        signal,
      )
      continue
    }
    if (await tools.cache.takeDependencies(request.project_id, key, source, signal)) {
      log.note('install', 'Dependencies come from the cache: what they depend on has not changed.')
      return key
    }
    // Another build may have begun to install while the cache was read.
    if (!tools.installing.has(name)) break
  }
  const job = run()
    .then(() => tools.cache.keepDependencies(request.project_id, key, source, plan, signal))
    .finally(() => tools.installing.delete(name))
  tools.installing.set(name, job)
  await job
  return key
}

async function buildEnvironment(
  request: BuildRequest,
  plan: NodePlan,
  source: string,
  home: string,
  tools: BuildTools,
): Promise<Record<string, string>> {
  const node = await tools.toolchains.node(plan.node_version, request.signal)
  const folders = [join(source, plan.app_directory, 'node_modules', '.bin'), join(source, plan.install_directory, 'node_modules', '.bin')]
  const manager = plan.package_manager ?? { name: 'npm' as const, version: null }
  folders.push(await tools.toolchains.packageManager(manager, Number.parseInt(node.version, 10), request.signal), node.folder)
  const base = installEnvironment(tools.options, home)
  // Its store is below. As npm_config_store_dir npm would warn of it, where a script of a pnpm project runs npm.
  const settings: Record<string, string> = manager.name === 'pnpm' ? { PNPM_HOME: join(tools.options.data_dir, 'cache', 'pnpm') } : {}
  if (tools.options.npmrc_file) {
    // A copy at the place where every package manager looks; the home folder goes when the build ends.
    const copy = join(home, '.npmrc')
    await writeFile(copy, await readFile(tools.options.npmrc_file), { mode: 0o600 })
    settings.npm_config_userconfig = copy
  }
  await mkdir(join(home, 'tmp'), { recursive: true, mode: 0o700 })
  return {
    ...base,
    ...settings,
    TMPDIR: join(home, 'tmp'),
    NODE_OPTIONS: heapOption(request.memory_mb, request.variables.NODE_OPTIONS),
    ...without(request.variables, ['PATH', 'HOME', 'NODE_OPTIONS']),
    PATH: [...folders, request.variables.PATH ?? tools.options.path ?? defaultPath].join(delimiter),
  }
}

/** The heap of one Node process; what is beside it (buffers, code, other processes) needs room as well. */
export function heapOption(memory_mb: number, own: string | undefined): string {
  const option = `--max-old-space-size=${Math.max(32, Math.floor(memory_mb * 0.8))}`
  return own ? `${option} ${own}` : option
}

/** The name under which a running build is recorded. */
export const buildRecord = (deploymentId: string): string => `build-${deploymentId}`

export const without = (variables: Record<string, string>, names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !names.includes(name)))

/**
 * What runs a command line by the system's shell. As Node's own `exec` does, Windows gets the command verbatim in one pair of quotes,
 * which `cmd /s` takes away: quotes inside it would otherwise be escaped for the C runtime, and cmd does not know that escape.
 */
export const shellCommand = (
  command: string,
  system: NodeJS.Platform = platform(),
): Pick<GroupRequest, 'file' | 'args' | 'windowsVerbatimArguments'> =>
  system === 'win32'
    ? { file: 'cmd.exe', args: ['/d', '/s', '/c', `"${command}"`], windowsVerbatimArguments: true }
    : { file: '/bin/sh', args: ['-c', command] }

/** Runs one command of the project by the shell; throws `BuildFailure` when it fails. */
async function runStep(
  step: StepName & ('install' | 'build'),
  command: string,
  cwd: string,
  env: Record<string, string>,
  request: BuildRequest,
  tools: StepTools,
): Promise<void> {
  const { log, signal } = request
  signal.throwIfAborted()
  if (!(await isFolder(cwd)))
    throw new BuildFailure(`${step}_failed`, `The folder to ${step} in does not exist.`, 'Check the root directory of the project.')
  log.note(step, `> ${command}`)
  const clock = tools.options.clock ?? systemClock
  const begun = clock.monotonic()
  const shell = shellCommand(command)
  const sandbox = await tools.confinement.find()
  const group = await startGroup({
    ...(sandbox ? sandbox.confine({ ...shell, cwd }, tools.folders) : shell),
    cwd,
    env,
    memory_mb: request.memory_mb,
    max_processes: maxProcesses,
    clock,
    onLine: (stream, line) => {
      if (!signal.aborted) log.line(step, stream, line)
    },
  })
  const abort = () => void group.stop(0)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  // A build that outlives a crash of the platform is found by this and ended.
  const id = buildRecord(request.deployment_id)
  const recorded = startOf(group.pid).then((started) =>
    started ? tools.records.write({ id, project_id: request.project_id, deployment_id: request.deployment_id, pid: group.pid, started }) : undefined,
  )
  const end = await group.ended.finally(() => signal.removeEventListener('abort', abort))
  await recorded.then(() => tools.records.remove(id)).catch((error: unknown) => tools.options.log.warn('process_record_failed', { error }))
  signal.throwIfAborted()
  if (end.code === 0 && !end.out_of_memory) return
  throw stepFailure(step, command, { ...end, duration_ms: clock.monotonic() - begun }, request.memory_mb, maxProcesses)
}

const isInSource = (source: string) => (path: string) =>
  stat(inside(source, path)).then(
    () => true,
    () => false,
  )

async function staticArtifact(plan: Extract<NodePlan, { kind: 'static' }>, place: string, note: (line: string) => void): Promise<Artifact> {
  const source = join(place, 'app')
  // Again, as the build may have made links.
  await checkPaths(source, plan)
  const output = inside(source, plan.output_directory)
  if (!(await isFolder(output))) throw await missingOutput(plan, isInSource(source))
  const directory = join(place, 'site')
  if (output === source) await rm(join(source, '.git'), { recursive: true, force: true })
  const bytes = await sizeOf(output, true)
  await checkSite(output, plan, note)
  await moveFolder(output, directory)
  if (output !== source) await rm(source, { recursive: true, force: true, maxRetries: 5 })
  return { kind: 'static', directory, spa_fallback: plan.spa_fallback, bytes }
}

async function serverArtifact(
  plan: Extract<NodePlan, { kind: 'server' }>,
  place: string,
  request: BuildRequest,
  tools: BuildTools,
): Promise<Artifact> {
  const node = await tools.toolchains.node(plan.node_version, request.signal)
  return {
    kind: 'bundle',
    directory: inside(join(place, 'app'), plan.app_directory),
    command: plan.start_command,
    node_version: node.version,
    package_manager: plan.package_manager,
    variables: plan.variables,
    bytes: await sizeOf(place),
  }
}
