import { mkdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { getPortVariable } from '../../lib/public-ports.ts'
import { resolveInside } from '../files.ts'
import { StartFailure, type Artifact, type RuntimeOptions, type StartRequest } from '../runtime.ts'
import type { AssignedPorts } from './assigned-ports.ts'
import type { FoundTool, MachineTools } from './machine-tools.ts'
import { createToolVariables, fillInPaths } from './toolchain-build.ts'
import { toolDefinitions } from './tool-definitions.ts'
import { createHeapOption, createWindowsVariables, defaultPath, omitVariables, type Toolchains } from './toolchains.ts'

type AppRequest = Pick<StartRequest, 'variables' | 'memory_mb' | 'signal'>
type Bundle = Extract<Artifact, { kind: 'bundle' }>

/** The environment of an app, and the paths that a sandbox must show it. Creates its home and temporary folders in `bundleFolder`. */
export async function createAppEnvironment(
  request: AppRequest,
  artifact: Bundle,
  { port, additionalPorts, bundleFolder }: AssignedPorts & { bundleFolder: string },
  { options, toolchains, machineTools }: { options: RuntimeOptions; toolchains: Toolchains; machineTools: MachineTools },
): Promise<{ env: Record<string, string> & { PATH: string }; visible: string[] }> {
  const [home, temporary] = [join(bundleFolder, 'home'), join(bundleFolder, 'tmp')]
  await mkdir(home, { recursive: true, mode: 0o700 })
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  const found = await findTools(request, artifact, machineTools)
  const folders = [
    ...(artifact.program_directories ?? []).map((path) => resolveInside(artifact.directory, path)),
    ...found.map(({ folder }) => folder),
    ...(artifact.node_version === null ? [] : await findNodeFolders(request, artifact, artifact.node_version, toolchains)),
  ]
  const appVariables = { ...fillInPaths(artifact.variables, artifact.directory), ...request.variables }
  const env = {
    LANG: 'C.UTF-8',
    TMPDIR: temporary,
    npm_config_update_notifier: 'false',
    NODE_ENV: 'production',
    ...createToolVariables(found, request.memory_mb),
    ...createWindowsVariables({ home, temporary, system_root: options.system_root }),
    ...omitVariables(appVariables, ['PATH', 'HOME', 'NODE_OPTIONS', 'PORT', 'HOST']),
    HOME: home,
    NODE_OPTIONS: createHeapOption(request.memory_mb, appVariables.NODE_OPTIONS),
    PATH: [...folders, appVariables.PATH ?? options.path ?? defaultPath].join(delimiter),
    ...Object.fromEntries([...additionalPorts].map(([wanted, assigned]) => [getPortVariable(wanted), String(assigned)])),
    PORT: String(port),
    HOST: '127.0.0.1',
  }
  return { env, visible: found.flatMap(({ visible }) => visible) }
}

async function findNodeFolders(request: AppRequest, artifact: Bundle, version: string, toolchains: Toolchains): Promise<string[]> {
  const node = await toolchains.node(version, request.signal)
  const manager = artifact.package_manager
  return [
    join(artifact.directory, 'node_modules', '.bin'),
    ...(manager ? [await toolchains.packageManager(manager, Number.parseInt(node.version, 10), request.signal)] : []),
    node.folder,
  ]
}

async function findTools(request: AppRequest, artifact: Bundle, machineTools: MachineTools): Promise<FoundTool[]> {
  const found = []
  for (const used of artifact.tools ?? []) {
    const tool = await machineTools.findAgain(used, request.signal)
    if (tool) found.push(tool)
    else if (!used.is_optional)
      throw new StartFailure(
        'start_failed',
        `${toolDefinitions[used.tool].label} ${used.version}, which built this version, is no longer on this machine.`,
        'Install it again, or deploy the project again.',
      )
  }
  return found
}
