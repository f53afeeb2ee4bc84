import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import type { StepLog } from '../../contract/build-log.ts'
import { createDependencyKey, type NodePlan } from '../dependency-key.ts'
import { copyFolder } from '../copy-folder.ts'
import { getBundleName, getCacheOwner, resolveInside, isFolder, moveFolder, measureFolder } from '../files.ts'
import { checkPlanPaths } from '../plan-paths.ts'
import type { SandboxFolders } from '../sandbox/sandbox.ts'
import { type ProcessBuildTools, runBuildCommand, withAbortError } from './build-command.ts'
import { installWithCache } from './cached-install.ts'
import { openToolchainBuild } from './toolchain-build.ts'
import { defaultPath, createInstallEnvironment, createHeapOption, getSharedCacheFolder, omitVariables } from './toolchains.ts'
import { BuildFailure, type Artifact, type Build, type BuildRequest } from '../runtime.ts'
import { markBuilt } from './written-files.ts'
import { checkStaticSite, createMissingOutputFailure, planFromOutput } from '../static-output.ts'

/** The folders and the environment of one build. */
interface BuildWorkspace {
  source: string
  environment: Record<string, string>
  folders: SandboxFolders
}

/** Caches of package managers, shared by all projects. */
const sharedCaches = ['npm', 'yarn', 'pnpm']

/** Opens a build in `bundleFolder`, the deployment's own folder, which is removed unless the build creates an artifact. */
export function openProcessBuild(request: BuildRequest, bundleFolder: string, tools: ProcessBuildTools): Build {
  if (request.plan.work.kind === 'toolchain') return openToolchainBuild(request, request.plan.work, bundleFolder, tools)
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
    const caches = sharedCaches.map((name) => join(getSharedCacheFolder(tools.options, request), name))
    for (const cache of caches) await mkdir(cache, { recursive: true, mode: 0o700 })
    await checkPlanPaths(source, plan)
    const environment = await createBuildEnvironment(request, plan, source, home, tools)
    return { source, environment, folders: { read: [], write: [bundleFolder, home, ...caches] } }
  }

  const runBuild = async (plan: NodePlan, command: string, { environment, folders }: BuildWorkspace, log: StepLog): Promise<void> => {
    const app = resolveInside(source, plan.app_directory)
    if (!request.skips_cache) await tools.cache.restoreFramework(getCacheOwner(request), app, plan.cache_directories)
    const env = { ...environment, NODE_ENV: request.variables.NODE_ENV ?? 'production' }
    await runBuildCommand('build', command, { cwd: app, env, folders }, request, log, tools)
    await tools.cache.saveFramework(getCacheOwner(request), app, plan.cache_directories, signal)
  }

  return {
    install: (log) =>
      withAbortError(signal, async () => {
        const plan = requireNodePlan(request)
        workspace = await createWorkspace(plan)
        if (plan.install_command !== null) dependencyKey = await installPackages(request, plan, plan.install_command, workspace, log, tools)
      }),

    build: (log) =>
      withAbortError(signal, async () => {
        const plan = requireNodePlan(request)
        if (!workspace) throw new Error('A build starts with install().')
        if (plan.build_command !== null) await runBuild(plan, plan.build_command, workspace, log)
        signal.throwIfAborted()
        if (dependencyKey !== null) void tools.cache.prepareSpareCopy(getCacheOwner(request), dependencyKey)
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
  if (plan.work.kind === 'server' || plan.work.kind === 'static') return plan.work
  throw new BuildFailure(
    'runtime_unavailable',
    'This project builds from a Dockerfile, but Docker is not available.',
    'Install and start Docker, then deploy again. To use framework detection instead, remove the Dockerfile.',
  )
}

/** Resolves to the key of the cached packages; null when they are not cached. */
async function installPackages(
  request: BuildRequest,
  plan: NodePlan,
  command: string,
  { source, environment, folders }: BuildWorkspace,
  log: StepLog,
  tools: ProcessBuildTools,
): Promise<string | null> {
  const key = await createDependencyKey(source, plan, getCacheOwner(request), request.variables)
  // Build tools are development dependencies, which NODE_ENV=production would omit.
  const run = () => {
    const cwd = resolveInside(source, plan.install_directory)
    return runBuildCommand('install', command, { cwd, env: { ...environment, NODE_ENV: 'development' }, folders }, request, log, tools)
  }
  await installWithCache({ key, source, run, findFolders: () => findModuleFolders(source, plan) }, request, log, tools)
  return key
}

/** `node_modules` of the install folder and of every workspace, relative to the source; nested folders are included. */
async function findModuleFolders(source: string, plan: NodePlan): Promise<string[] | null> {
  // Yarn Plug'n'Play creates no node_modules to save.
  if (await stat(join(source, plan.install_directory, '.pnp.cjs')).catch(() => undefined)) return null
  const folders = new Set([plan.install_directory, plan.app_directory, ...plan.install_inputs.map((input) => dirname(input))])
  const existing = []
  for (const folder of folders) {
    const modules = join(folder, 'node_modules')
    if (await isFolder(join(source, modules))) existing.push(modules)
  }
  return [...new Set(existing)]
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
  const base = createInstallEnvironment(tools.options, home, getSharedCacheFolder(tools.options, request))
  // The store of pnpm is set below and not as npm_config_store_dir, because npm warns about that variable when a script of a pnpm project runs npm.
  const settings: Record<string, string> = manager.name === 'pnpm' ? { PNPM_HOME: join(getSharedCacheFolder(tools.options, request), 'pnpm') } : {}
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
  await markBuilt(bundleFolder)
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
