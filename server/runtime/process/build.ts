import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { delimiter, join } from 'node:path'
import type { StepLog } from '../../contract/build-log.ts'
import { systemClock } from '../../lib/clock.ts'
import { createCommandFailure } from '../build-failures.ts'
import { createDependencyKey, type NodePlan } from '../dependency-key.ts'
import { copyFolder, getBundleName, resolveInside, isFolder, moveFolder, measureFolder } from '../files.ts'
import type { BuildCache } from './build-cache.ts'
import { checkPlanPaths } from '../plan-paths.ts'
import { type ProcessGroupOptions, startProcessGroup } from './process-group.ts'
import type { ProcessRecords } from './process-records.ts'
import type { SandboxProvider, SandboxFolders } from '../sandbox/sandbox.ts'
import { readProcessStart } from './process-table.ts'
import { defaultPath, createInstallEnvironment, type Toolchains } from './toolchains.ts'
import { BuildFailure, type Artifact, type Build, type BuildRequest, type RuntimeOptions } from '../runtime.ts'
import { raceAbort } from '../race-abort.ts'
import { checkStaticSite, createMissingOutputFailure, planFromOutput } from '../static-output.ts'

export interface ProcessBuildTools {
  options: RuntimeOptions
  toolchains: Toolchains
  cache: BuildCache
  sandboxProvider: SandboxProvider
  records: ProcessRecords
  /** Installs in progress, by project and dependency key. */
  installing: Map<string, Promise<void>>
}

/** The folders and the environment of one build. */
interface BuildWorkspace {
  source: string
  environment: Record<string, string>
  folders: SandboxFolders
}

const maxProcesses = 512

/** Caches of package managers, shared by all projects. */
const sharedCaches = ['npm', 'yarn', 'pnpm']

/** Opens a build in `bundleFolder`, the deployment's own folder, which is removed unless the build creates an artifact. */
export function openProcessBuild(request: BuildRequest, bundleFolder: string, tools: ProcessBuildTools): Build {
  const { signal } = request
  const home = join(tools.options.data_dir, 'work', `${getBundleName(request)}-home`)
  const source = join(bundleFolder, 'app')
  let workspace: BuildWorkspace | undefined
  let dependencyKey: string | null = null
  let isBuilt = false

  const createWorkspace = async (plan: NodePlan): Promise<BuildWorkspace> => {
    await rm(bundleFolder, { recursive: true, force: true })
    await mkdir(home, { recursive: true, mode: 0o700 })
    await (request.keeps_folder ? copyFolder(request.folder, source, { signal }) : moveFolder(request.folder, source, signal))
    const caches = sharedCaches.map((name) => join(tools.options.data_dir, 'cache', name))
    for (const cache of caches) await mkdir(cache, { recursive: true, mode: 0o700 })
    await checkPlanPaths(source, plan)
    const environment = await createBuildEnvironment(request, plan, source, home, tools)
    return { source, environment, folders: { read: [], write: [bundleFolder, home, ...caches] } }
  }

  const runBuildCommand = async (plan: NodePlan, command: string, { environment, folders }: BuildWorkspace, log: StepLog): Promise<void> => {
    const app = resolveInside(source, plan.app_directory)
    if (!request.skips_cache) await tools.cache.restoreFramework(request.project_id, app, plan.cache_directories)
    const env = { ...environment, NODE_ENV: request.variables.NODE_ENV ?? 'production' }
    await runCommand('build', command, { cwd: app, env, folders }, request, log, tools)
    await tools.cache.saveFramework(request.project_id, app, plan.cache_directories, signal)
  }

  return {
    install: (log) =>
      withAbortError(signal, async () => {
        const plan = requireNodePlan(request)
        workspace = await createWorkspace(plan)
        if (plan.install_command !== null) dependencyKey = await installDependencies(request, plan, plan.install_command, workspace, log, tools)
      }),

    build: (log) =>
      withAbortError(signal, async () => {
        const plan = requireNodePlan(request)
        if (!workspace) throw new Error('A build starts with install().')
        if (plan.build_command !== null) await runBuildCommand(plan, plan.build_command, workspace, log)
        signal.throwIfAborted()
        if (dependencyKey !== null) void tools.cache.prepareSpareCopy(request.project_id, dependencyKey)
        const onNote = (line: string) => log.note(line)
        const outputPlan = await planFromOutput(plan, createSourceCheck(source), onNote)
        const artifact =
          outputPlan.kind === 'static'
            ? await createStaticArtifact(outputPlan, bundleFolder, onNote)
            : await createServerArtifact(outputPlan, bundleFolder, request, tools)
        isBuilt = true
        return artifact
      }),

    async close() {
      if (!isBuilt) await rm(bundleFolder, { recursive: true, force: true, maxRetries: 5 })
      await rm(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function requireNodePlan({ plan }: BuildRequest): NodePlan {
  if (plan.work.kind !== 'dockerfile') return plan.work
  throw plan.work.text === null
    ? new BuildFailure(
        'runtime_unavailable',
        'This project builds from a Dockerfile, but Docker is not available.',
        'Install and start Docker, then deploy again. To use framework detection instead, remove the Dockerfile.',
      )
    : new BuildFailure(
        'runtime_unavailable',
        'Apps in this language are built with Docker, but Docker is not available.',
        'Install and start Docker, then deploy again.',
      )
}

/** An aborted build always ends with the abort error. */
async function withAbortError<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted()
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** Resolves to the key of the cached dependencies; null when they are not cached. */
async function installDependencies(
  request: BuildRequest,
  plan: NodePlan,
  command: string,
  { source, environment, folders }: BuildWorkspace,
  log: StepLog,
  tools: ProcessBuildTools,
): Promise<string | null> {
  const { signal } = request
  const key = await createDependencyKey(source, plan, request.project_id, request.variables)
  // Build tools are development dependencies, which NODE_ENV=production would omit.
  const runInstall = () => {
    const cwd = resolveInside(source, plan.install_directory)
    return runCommand('install', command, { cwd, env: { ...environment, NODE_ENV: 'development' }, folders }, request, log, tools)
  }
  if (key === null) {
    await runInstall()
    return null
  }
  const name = `${request.project_id} ${key}`
  for (;;) {
    const otherInstall = tools.installing.get(name)
    if (otherInstall) {
      log.note('Waiting for another build that installs the same dependencies.')
      await raceAbort(
        otherInstall.catch(() => {}),
        signal,
      )
      continue
    }
    if (!request.skips_cache && (await tools.cache.restoreDependencies(request.project_id, key, source, signal))) {
      log.note('Using cached dependencies.')
      return key
    }
    // Another build may have started to install while the cache was read.
    if (!tools.installing.has(name)) break
  }
  const job = runInstall()
    .then(() => tools.cache.saveDependencies(request.project_id, key, source, plan, { signal, replaces: request.skips_cache }))
    .finally(() => tools.installing.delete(name))
  tools.installing.set(name, job)
  await job
  return key
}

async function createBuildEnvironment(
  request: BuildRequest,
  plan: NodePlan,
  source: string,
  home: string,
  tools: ProcessBuildTools,
): Promise<Record<string, string>> {
  const node = await tools.toolchains.node(plan.node_version, request.signal)
  const folders = [join(source, plan.app_directory, 'node_modules', '.bin'), join(source, plan.install_directory, 'node_modules', '.bin')]
  const manager = plan.package_manager ?? { name: 'npm' as const, version: null }
  folders.push(await tools.toolchains.packageManager(manager, Number.parseInt(node.version, 10), request.signal), node.folder)
  const base = createInstallEnvironment(tools.options, home)
  // The store of pnpm is set below and not as npm_config_store_dir, because npm warns about that variable when a script of a pnpm project runs npm.
  const settings: Record<string, string> = manager.name === 'pnpm' ? { PNPM_HOME: join(tools.options.data_dir, 'cache', 'pnpm') } : {}
  if (tools.options.npmrc_file) {
    // A copy at the path where every package manager looks; the home folder is removed when the build ends.
    const copy = join(home, '.npmrc')
    await writeFile(copy, await readFile(tools.options.npmrc_file), { mode: 0o600 })
    settings.npm_config_userconfig = copy
  }
  await mkdir(join(home, 'tmp'), { recursive: true, mode: 0o700 })
  return {
    ...base,
    ...settings,
    TMPDIR: join(home, 'tmp'),
    NODE_OPTIONS: createHeapOption(request.memory_mb, request.variables.NODE_OPTIONS),
    ...omitVariables(request.variables, ['PATH', 'HOME', 'NODE_OPTIONS']),
    PATH: [...folders, request.variables.PATH ?? tools.options.path ?? defaultPath].join(delimiter),
  }
}

/** The heap limit of one Node process, below the memory limit, because buffers, code and other processes need memory as well. */
export function createHeapOption(memory_mb: number, projectOption: string | undefined): string {
  const option = `--max-old-space-size=${Math.max(32, Math.floor(memory_mb * 0.8))}`
  return projectOption ? `${option} ${projectOption}` : option
}

/** The id under which a running build is recorded. */
export const getBuildRecordId = (deploymentId: string): string => `build-${deploymentId}`

export const omitVariables = (variables: Record<string, string>, names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !names.includes(name)))

/**
 * The system shell for a command line. As in Node's `exec`, Windows gets the command verbatim in one pair of quotes, which `cmd /s` removes.
 * Otherwise quotes in the command would be escaped for the C runtime, and cmd does not support that escape.
 */
export const createShellCommand = (
  command: string,
  system: NodeJS.Platform = platform(),
): Pick<ProcessGroupOptions, 'file' | 'args' | 'windowsVerbatimArguments'> =>
  system === 'win32'
    ? { file: 'cmd.exe', args: ['/d', '/s', '/c', `"${command}"`], windowsVerbatimArguments: true }
    : { file: '/bin/sh', args: ['-c', command] }

/** Runs one command of the project in the shell; throws `BuildFailure` when it fails. */
async function runCommand(
  purpose: 'install' | 'build',
  command: string,
  { cwd, env, folders }: { cwd: string; env: Record<string, string>; folders: SandboxFolders },
  request: BuildRequest,
  log: StepLog,
  tools: ProcessBuildTools,
): Promise<void> {
  const { signal } = request
  signal.throwIfAborted()
  if (!(await isFolder(cwd)))
    throw new BuildFailure(`${purpose}_failed`, `The folder to ${purpose} in does not exist.`, 'Check the root directory in the project settings.')
  log.note(`> ${command}`)
  const clock = tools.options.clock ?? systemClock
  const startedAt = clock.monotonic()
  const shell = createShellCommand(command)
  const sandbox = await tools.sandboxProvider.find()
  const group = await startProcessGroup({
    ...(sandbox ? sandbox.confine({ ...shell, cwd }, folders) : shell),
    cwd,
    env,
    memory_mb: request.memory_mb,
    max_processes: maxProcesses,
    clock,
    onLine: (stream, line) => {
      if (!signal.aborted) log.line(stream, line)
    },
  })
  const abort = () => void group.stop(0)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  // The record lets the next run end a build that outlives a crash of the platform.
  const id = getBuildRecordId(request.deployment_id)
  const recordWritten = readProcessStart(group.pid).then((started) =>
    started ? tools.records.write({ id, project_id: request.project_id, deployment_id: request.deployment_id, pid: group.pid, started }) : undefined,
  )
  const end = await group.ended.finally(() => signal.removeEventListener('abort', abort))
  await recordWritten.then(() => tools.records.remove(id)).catch((error: unknown) => tools.options.log.warn('process_record_failed', { error }))
  signal.throwIfAborted()
  if (end.code === 0 && !end.out_of_memory) return
  throw createCommandFailure(purpose, command, { ...end, duration_ms: clock.monotonic() - startedAt }, request.memory_mb, maxProcesses)
}

const createSourceCheck = (source: string) => (path: string) =>
  stat(resolveInside(source, path)).then(
    () => true,
    () => false,
  )

async function createStaticArtifact(
  plan: Extract<NodePlan, { kind: 'static' }>,
  bundleFolder: string,
  onNote: (line: string) => void,
): Promise<Artifact> {
  const source = join(bundleFolder, 'app')
  // Checked again, because the build may have created links.
  await checkPlanPaths(source, plan)
  const output = resolveInside(source, plan.output_directory)
  if (!(await isFolder(output))) throw await createMissingOutputFailure(plan, createSourceCheck(source))
  const directory = join(bundleFolder, 'site')
  if (output === source) await rm(join(source, '.git'), { recursive: true, force: true })
  const bytes = await measureFolder(output, true)
  await checkStaticSite(output, plan, onNote)
  await moveFolder(output, directory)
  if (output !== source) await rm(source, { recursive: true, force: true, maxRetries: 5 })
  return { kind: 'static', directory, spa_fallback: plan.spa_fallback, bytes }
}

async function createServerArtifact(
  plan: Extract<NodePlan, { kind: 'server' }>,
  bundleFolder: string,
  request: BuildRequest,
  tools: ProcessBuildTools,
): Promise<Artifact> {
  const node = await tools.toolchains.node(plan.node_version, request.signal)
  return {
    kind: 'bundle',
    directory: resolveInside(join(bundleFolder, 'app'), plan.app_directory),
    command: plan.start_command,
    node_version: node.version,
    package_manager: plan.package_manager,
    variables: plan.variables,
    bytes: await measureFolder(bundleFolder),
  }
}
