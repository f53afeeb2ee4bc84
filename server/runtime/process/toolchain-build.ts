import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { StepLog } from '../../contract/build-log.ts'
import type { ToolchainPlan } from '../../contract/build-plan.ts'
import { copyFolder } from '../copy-folder.ts'
import { getBundleName, getCacheOwner, isFolder, measureFolder, moveFolder, resolveInside } from '../files.ts'
import { checkPaths } from '../plan-paths.ts'
import { markBuilt } from './written-files.ts'
import { BuildFailure, type Artifact, type Build, type BuildRequest } from '../runtime.ts'
import type { SandboxFolders } from '../sandbox/sandbox.ts'
import type { ToolCache } from './build-cache.ts'
import { createShellCommand, type ProcessBuildTools, runBuildCommand, withAbortError } from './build-command.ts'
import { installWithCache } from './cached-install.ts'
import type { FoundTool } from './machine-tools.ts'
import { toolDefinitions } from './tool-definitions.ts'
import { createHeapOption, createInstallEnvironment, defaultPath, getSharedCacheFolder, omitVariables } from './toolchains.ts'

interface Workspace {
  found: FoundTool[]
  environment: Record<string, string>
  folders: SandboxFolders
  cache: ToolCache
}

/** Opens the build of an app in another language, with the toolchains of the machine. Its result has the same form as that of a Node app. */
export function openToolchainBuild(request: BuildRequest, plan: ToolchainPlan, bundleFolder: string, tools: ProcessBuildTools): Build {
  const { signal } = request
  const home = join(tools.options.data_dir, 'work', `${getBundleName(request)}-home`)
  const source = join(bundleFolder, 'app')
  const app = resolveInside(source, plan.app_directory)
  let workspace: Workspace | undefined
  let isBuilt = false

  const run = (purpose: 'install' | 'build', command: string, { environment, folders }: Workspace, log: StepLog) =>
    runBuildCommand(purpose, command, { cwd: app, env: environment, folders }, request, log, tools)

  return {
    install: (log) =>
      withAbortError(signal, async () => {
        const found = await tools.machineTools.find(plan.tools, signal)
        log.note(`Using ${found.map(({ tool, version }) => `${toolDefinitions[tool].label} ${version}`).join(', ')} of this machine.`)
        await rm(bundleFolder, { recursive: true, force: true })
        await mkdir(join(home, 'tmp'), { recursive: true, mode: 0o700 })
        await (request.keeps_folder ? copyFolder(request.folder, source, { signal }) : moveFolder(request.folder, source, signal))
        await checkPaths(source, listPlanPaths(plan))
        const cache = await tools.cache.openToolCache(getCacheOwner(request), request.skips_cache)
        const npmCache = join(getSharedCacheFolder(tools.options, request), 'npm')
        await mkdir(npmCache, { recursive: true, mode: 0o700 })
        workspace = {
          found,
          cache,
          environment: await createBuildEnvironment(request, plan, { app, home, cache: cache.folder, found }, tools),
          folders: { read: found.flatMap(({ visible }) => visible), write: [bundleFolder, home, cache.folder, npmCache] },
        }
        const { install_command } = plan
        if (install_command === null) return
        const key = createKey(request, plan, found)
        const install = {
          key,
          source,
          run: () => run('install', install_command, workspace!, log),
          findFolders: () => findDependencyFolders(source, plan),
        }
        if ((await installWithCache(install, request, log, tools)) === 'restored')
          for (const folder of plan.dependency_directories) await relocatePrograms(app, folder)
      }),

    build: (log) =>
      withAbortError(signal, async () => {
        if (!workspace) throw new Error('A build starts with install().')
        if (plan.build_command !== null) await run('build', plan.build_command, workspace, log)
        signal.throwIfAborted()
        // Checked again, because the build may have created links.
        await checkPaths(source, listPlanPaths(plan))
        for (const path of plan.discarded) await rm(resolveInside(app, path), { recursive: true, force: true, maxRetries: 5 })
        if (!(await isFolder(resolveInside(app, plan.start_directory))))
          throw new BuildFailure(
            'build_failed',
            `The build did not create ${plan.start_directory}.`,
            'Check the build command in the project settings.',
          )
        await workspace.cache.keep()
        const artifact = await createArtifact(plan, bundleFolder, workspace.found)
        isBuilt = true
        return artifact
      }),

    async close() {
      await workspace?.cache.close()
      if (!isBuilt) await rm(bundleFolder, { recursive: true, force: true, maxRetries: 5 })
      await rm(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const listPlanPaths = (plan: ToolchainPlan): string[] => {
  const inApp = [plan.start_directory, ...plan.dependency_directories, ...plan.discarded, ...plan.program_directories]
  return [plan.app_directory, ...plan.install_inputs, ...inApp.map((path) => join(plan.app_directory, path))]
}

async function createArtifact(plan: ToolchainPlan, bundleFolder: string, found: FoundTool[]): Promise<Artifact> {
  const { file, args } = createShellCommand(plan.start_command)
  await markBuilt(bundleFolder)
  return {
    kind: 'bundle',
    directory: resolveInside(join(bundleFolder, 'app'), plan.app_directory),
    command: [file, ...args],
    working_directory: plan.start_directory,
    node_version: null,
    package_manager: null,
    variables: plan.variables,
    tools: plan.tools.flatMap((requirement) => {
      const version = found.find(({ tool }) => tool === requirement.tool)?.version
      return version === undefined ? [] : [{ ...requirement, version }]
    }),
    program_directories: plan.program_directories,
    bytes: await measureFolder(bundleFolder),
  }
}

/** Every variable is part of the key, because install scripts may read any. */
function createKey(request: BuildRequest, plan: ToolchainPlan, found: FoundTool[]): string | null {
  if (plan.install_inputs.includes('.') || plan.dependency_directories.length === 0) return null
  const { variables } = request
  const hash = createHash('sha256').update(`${getCacheOwner(request)}\0${plan.install_key}\0`)
  for (const { tool, version, file } of found) hash.update(`${tool}\0${version}\0${file}\0`)
  for (const name of Object.keys(variables).toSorted()) hash.update(`${name}\0${variables[name]}\0`)
  return hash.digest('hex').slice(0, 40)
}

async function findDependencyFolders(source: string, plan: ToolchainPlan): Promise<string[]> {
  const folders = plan.dependency_directories.map((path) => join(plan.app_directory, path))
  const existing = await Promise.all(folders.map(async (path) => ((await isFolder(resolveInside(source, path))) ? [path] : [])))
  return existing.flat()
}

async function createBuildEnvironment(
  request: BuildRequest,
  plan: ToolchainPlan,
  { app, home, cache, found }: { app: string; home: string; cache: string; found: FoundTool[] },
  tools: ProcessBuildTools,
): Promise<Record<string, string>> {
  const { options, toolchains } = tools
  const node = await toolchains.node('auto', request.signal)
  const npm = await toolchains.packageManager({ name: 'npm', version: null }, Number.parseInt(node.version, 10), request.signal)
  const folders = [...plan.program_directories.map((path) => resolveInside(app, path)), ...found.map(({ folder }) => folder), npm, node.folder]
  return {
    ...createInstallEnvironment(options, home, getSharedCacheFolder(options, request)),
    XDG_CACHE_HOME: join(cache, 'other'),
    ...Object.assign({}, ...found.map(({ tool }) => toolDefinitions[tool].createBuildVariables?.(cache, home))),
    ...createToolVariables(found, request.memory_mb),
    ...fillInPaths(plan.variables, app),
    TMPDIR: join(home, 'tmp'),
    NODE_OPTIONS: createHeapOption(request.memory_mb, request.variables.NODE_OPTIONS),
    ...omitVariables(request.variables, ['PATH', 'HOME', 'NODE_OPTIONS']),
    PATH: [...folders, request.variables.PATH ?? options.path ?? defaultPath].join(delimiter),
  }
}

export const createToolVariables = (found: readonly FoundTool[], memory_mb: number): Record<string, string> =>
  Object.assign({}, ...found.map(({ tool, root, file }) => toolDefinitions[tool].createVariables?.(root, file, memory_mb)))

/** `{app}` in the variables of a plan is the folder of the app. */
export const fillInPaths = (variables: Record<string, string>, app: string): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replaceAll('{app}', app)]))

const maxProgram_bytes = 64 * 1024

/**
 * The programs of a virtual environment start with the absolute path of its interpreter. Those installed for an earlier build get the
 * path of this one.
 */
async function relocatePrograms(app: string, folder: string): Promise<void> {
  const programs = join(resolveInside(app, folder), 'bin')
  const interpreter = new RegExp(`(["!])/[^"\\n]*?/${folder.replaceAll('.', '\\.')}/bin/`, 'g')
  for (const entry of await readdir(programs, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile()) continue
    const file = join(programs, entry.name)
    const content = await readFile(file)
    if (content.length > maxProgram_bytes || content.subarray(0, 2).toString() !== '#!') continue
    const [first = '', second = '', ...rest] = content.toString('utf8').split('\n')
    const relocate = (line: string) => line.replace(interpreter, (_match, before: string) => `${before}${programs}/`)
    await writeFile(file, [relocate(first), relocate(second), ...rest].join('\n'))
  }
}
