import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { delimiter, join, relative, sep } from 'node:path'
import { sleep, systemClock } from '../../lib/clock.ts'
import { createReplicaExit } from '../exit.ts'
import { getBundleName, getUntrustedOwner, removeBundles, isFolder, resolveInside, toPathSegment } from '../files.ts'
import { type ConfineProgram, findShell, startAttachedGroup } from './attached-group.ts'
import { createAppEnvironment } from './app-environment.ts'
import { type AssignedPorts, assignPorts, listAdditionalPorts, releasePorts } from './assigned-ports.ts'
import { openProcessBuild } from './build.ts'
import { getBuildRecordId } from './build-command.ts'
import { createBuildCache } from './build-cache.ts'
import { createMachineTools } from './machine-tools.ts'
import { createLineStreams } from './line-streams.ts'
import { killProcessGroup, killProcess, startProcessGroup, type ProcessGroup } from './process-group.ts'
import { readMachineMemory } from '../machine-memory.ts'
import { createPortAllocator, findListeningSockets } from '../ports.ts'
import { createProcessRecords, isRecordedProcessAlive, type ProcessRecord } from './process-records.ts'
import { findOrphans, type OrphanProcess } from './orphans.ts'
import { measurePrivateMemory, measureCpuTime, readProcessStart } from './process-table.ts'
import { createSandboxProvider, findProgram } from '../sandbox/sandbox-provider.ts'
import { listLocalVolumeFolder, readLocalVolumeFile } from './volume-files.ts'
import { exportWrittenLocalFiles, listWrittenLocalFiles } from './written-files.ts'
import {
  cloneVolume,
  copyLocalVolume,
  exportLocalVolume,
  getVolumesFolder,
  importLocalVolume,
  linkVolumes,
  listLocalVolumes,
  removeLocalVolume,
  removeLocalVolumes,
  restoreClone,
} from './volumes.ts'
import { createToolchains } from './toolchains.ts'
import { removeLeftovers } from './leftovers.ts'
import type { SandboxCommand } from '../sandbox/sandbox.ts'
import {
  BuildFailure,
  ReplicaCommandError,
  StartFailure,
  type AttachedReplica,
  type AttachedRequest,
  type Replica,
  type ReplicaObserver,
  type Runtime,
  type RuntimeOptions,
  type StartRequest,
} from '../runtime.ts'

/** The functions of a group that `running` needs, attached or not. */
type TrackedGroup = Pick<ProcessGroup, 'pid' | 'ended' | 'stop' | 'setFrozen' | 'listPids'>

interface RunningProcess {
  group: TrackedGroup
  /** For `usage`: CPU time at the previous sample. */
  usage_sample: { at_ms: number; cpu_ms: number }
}

type ProgramRequest = Omit<StartRequest, keyof ReplicaObserver | 'listen_port'>

interface PreparedProgram {
  program: SandboxCommand & { windowsVerbatimArguments?: boolean }
  confine: ConfineProgram
  command: string[]
  env: Record<string, string>
  assigned: AssignedPorts
}

const maxProcesses = 256

/**
 * Builds and runs apps as child processes on this machine, with their own folder, environment, port and memory limit. Where a
 * sandbox is available, they see no other files of this machine; they always share its network and user. Node and static apps need
 * no programs besides the platform's own dependencies; apps in other languages use the toolchains of the machine.
 */
export function createProcessRuntime(options: RuntimeOptions): Runtime {
  const { clock = systemClock } = options
  const closing = new AbortController()
  const toolchains = createToolchains(options, closing.signal)
  const machineTools = createMachineTools(options, toolchains)
  const cache = createBuildCache(join(options.data_dir, 'cache'), closing.signal)
  const sandboxProvider = createSandboxProvider(options)
  const records = createProcessRecords(join(options.data_dir, 'processes'))
  const ports = createPortAllocator()
  const installing = new Map<string, Promise<void>>()
  /** Unrecorded processes of a previous platform, by id. Searched once, because later processes are recorded or running. */
  let orphans: Promise<Map<string, OrphanProcess>> | undefined
  const running = new Map<string, RunningProcess>()
  const getBundleFolder = (deploymentId: string) => join(options.data_dir, 'bundles', toPathSegment(deploymentId))
  /** The folder of a deployment's build output; a rollback runs the output of an earlier deployment. */
  const getArtifactFolder = (directory: string) =>
    join(options.data_dir, 'bundles', relative(join(options.data_dir, 'bundles'), directory).split(sep)[0] ?? '')
  void removeLeftovers(options.data_dir).catch((error: unknown) => options.log.warn('leftover_cleanup_failed', { error }))

  /** A program of an artifact with its environment, folder and port, in a sandbox if there is one. */
  const prepare = async (request: ProgramRequest, command: string[] | null): Promise<PreparedProgram> => {
    const { artifact, service } = request
    if (artifact.kind !== 'bundle')
      throw new StartFailure('start_failed', 'This version was built with Docker.', 'Start Docker, or deploy the project again.')
    if (!(await isFolder(artifact.directory)))
      throw new StartFailure('start_failed', 'The files of this version no longer exist.', 'Deploy the project again.')
    const argv = command ?? artifact.command
    const workingFolder = resolveWorkingFolder(artifact.directory, service?.working_directory ?? artifact.working_directory ?? null)
    const assigned = await assignPorts(ports, request.ports)
    try {
      const { env, visible } = await createAppEnvironment(
        request,
        artifact,
        { ...assigned, bundleFolder: getBundleFolder(request.deployment_id) },
        { options, toolchains, machineTools },
      )
      request.signal.throwIfAborted()
      const [file = 'node', ...args] = argv
      const program = { ...createWindowsCommand(file, args), cwd: workingFolder }
      const volumes = await linkVolumes(options.data_dir, artifact.directory, service?.volumes ?? [])
      const sandbox = await sandboxProvider.find()
      // A sandbox reports a missing program only in its output, so the program is looked up before.
      if (sandbox && !(await findProgram(file, env.PATH.split(delimiter))))
        throw Object.assign(new Error(`No ${file} on the PATH.`), { code: 'ENOENT' })
      const folders = { read: visible, write: [getArtifactFolder(artifact.directory), getBundleFolder(request.deployment_id), ...volumes] }
      const confine: ConfineProgram = (one) => (sandbox ? sandbox.confine(one, folders) : one)
      return { program, confine, command: argv, env, assigned }
    } catch (error) {
      throw describeStartError(error, request, argv, assigned)
    }
  }

  /** Releases the ports of a program that could not be started. */
  const describeStartError = (error: unknown, { artifact, signal }: ProgramRequest, command: string[], assigned: AssignedPorts): unknown => {
    releasePorts(ports, assigned)
    if (signal.aborted) return signal.reason
    if (error instanceof StartFailure) return error
    const code = (error as NodeJS.ErrnoException).code
    const reason = code === 'ENOENT' ? `the program \`${command[0]}\` was not found` : `\`${formatCommand(command)}\` could not be run`
    const hint = artifact.kind === 'bundle' && artifact.tools ? 'Check the start command of the app.' : 'Check the start script in package.json.'
    return new StartFailure('start_failed', `The app did not start: ${reason}.`, hint, error)
  }

  /** Registers a started process until it has exited, and resolves with the exit. After a crash of the platform it is found by its record. */
  const track = async (id: string, group: TrackedGroup, assigned: AssignedPorts, owner: Omit<ProcessRecord, 'id' | 'pid' | 'started'>) => {
    running.set(id, { group, usage_sample: { at_ms: systemClock.monotonic(), cpu_ms: 0 } })
    const recordWritten = readProcessStart(group.pid)
      .then((started) => (started && running.has(id) ? records.write({ ...owner, id, pid: group.pid, started }) : undefined))
      .catch((error: unknown) => options.log.warn('process_record_failed', { error }))
    const exited = group.ended.then(async ({ code, signal, out_of_memory }) => {
      running.delete(id)
      releasePorts(ports, assigned)
      await recordWritten
      await records.remove(id).catch(() => {})
      return createReplicaExit(code, signal, out_of_memory)
    })
    await recordWritten
    return { exited }
  }

  const start = async (request: StartRequest): Promise<Replica> => {
    const { service } = request
    const { program, confine, command, env, assigned } = await prepare(
      request,
      service?.command ? [...(service.entrypoint ?? []), ...service.command] : null,
    )
    const group = await startProcessGroup(
      { ...confine(program), cwd: program.cwd, env, memory_mb: request.memory_mb, max_processes: maxProcesses, clock },
      createLineStreams(request.onLine, clock),
    ).catch((error: unknown) => Promise.reject(describeStartError(error, request, command, assigned)))
    const id = `proc_${randomBytes(9).toString('hex')}`
    const { project_id, deployment_id } = request
    const { exited } = await track(id, group, assigned, { project_id, deployment_id, service: service?.name ?? null })
    void exited.then(request.onExit)
    return {
      id,
      deployment_id,
      command: formatCommand(command),
      host: '127.0.0.1',
      is_on_host: true,
      port: assigned.port,
      assigned_port: assigned.port,
      ports: listAdditionalPorts(assigned),
      getListeningPorts: async () =>
        (await findListeningSockets(await group.listPids())).map(({ hosts, ...socket }) => ({
          ...socket,
          is_exposed: false,
          endpoints: hosts.map((host) => ({ host, port: socket.port })),
        })),
    }
  }

  const startAttached = async (request: AttachedRequest): Promise<AttachedReplica> => {
    const { service, terminal, project_id, deployment_id } = request
    const isShell = request.command === null
    const shell = findShell(options.system_root)
    const { program, confine, command, env, assigned } = await prepare(request, request.command ?? shell)
    try {
      const group = await startAttachedGroup({
        program,
        confine,
        env: { ...env, ...(isShell && { SHELL: shell[0] ?? '' }) },
        terminal,
        memory_mb: request.memory_mb,
        max_processes: maxProcesses,
        clock,
      })
      const id = `proc_${randomBytes(9).toString('hex')}`
      const { exited } = await track(id, group, assigned, { project_id, deployment_id, service: service.name })
      const { input, stdout, stderr } = group.streams
      return { id, input, stdout, stderr, resize: async (size) => group.resize(size), exited }
    } catch (error) {
      throw describeStartError(error, request, command, assigned)
    }
  }

  /** Stops a process of a previous platform. The start time is compared, so that a process with a reused pid is not killed. */
  const stopRecordedProcess = async (record: ProcessRecord, grace_ms: number) => {
    if (await isRecordedProcessAlive(record)) {
      if (grace_ms > 0) {
        killProcessGroup(record.pid, 'SIGTERM')
        killProcessGroup(record.pid, 'SIGCONT')
      }
      const deadline = clock.monotonic() + grace_ms
      while (clock.monotonic() < deadline && (await isRecordedProcessAlive(record))) await sleep(clock, 50)
      if (await isRecordedProcessAlive(record)) killProcessGroup(record.pid, 'SIGKILL')
    }
    await records.remove(record.id)
  }

  return {
    name: 'process',

    async probe() {
      return { available: true, version: null, reason: 'Apps run as processes on this machine. See the “sandbox” check for their isolation.' }
    },

    check: async (isQuick) => [await sandboxProvider.check(), ...(isQuick ? [] : [await machineTools.check()])],

    openBuild: (request) =>
      openProcessBuild(request, join(options.data_dir, 'bundles', getBundleName(request)), {
        options,
        toolchains,
        machineTools,
        cache,
        sandboxProvider,
        records,
        installing,
      }),

    async useImage({ image }) {
      throw new BuildFailure(
        'runtime_unavailable',
        `The image ${image} runs with Docker, which is not available.`,
        'Install and start Docker, then deploy again.',
      )
    },

    start,
    startAttached,

    async list() {
      orphans ??= findOrphansById(options.data_dir)
      const appRecords = (await records.list()).filter((record) => record.id !== getBuildRecordId(record.deployment_id))
      const states = await Promise.all(
        appRecords.map(async (record) => ({ record, alive: running.has(record.id) || (await isRecordedProcessAlive(record)) })),
      )
      const describeReplica = (id: string, ids: Pick<ProcessRecord, 'project_id' | 'deployment_id' | 'service'>, isAlive: boolean) => ({
        id,
        project_id: ids.project_id,
        deployment_id: ids.deployment_id,
        service: ids.service ?? null,
        definition: null,
        replica: 1,
        running: isAlive,
        frozen: false,
        exit: isAlive ? null : { code: null, signal: null, out_of_memory: false },
        adoptable: false,
        last_line_at: null,
        listen_port: null,
      })
      const unrecorded = [...(await orphans)].filter(
        ([, orphan]) => !appRecords.some((record) => record.pid === orphan.pid && record.started === orphan.started),
      )
      /** The app whose sandbox started it. */
      const ownerOf = (orphan: OrphanProcess) => states.find(({ record, alive }) => alive && orphan.ancestors.includes(record.pid))?.record
      return [
        ...states.map(({ record, alive: isAlive }) => describeReplica(record.id, record, isAlive)),
        ...unrecorded.map(([id, orphan]) => describeReplica(id, ownerOf(orphan) ?? { project_id: '', deployment_id: '', service: null }, true)),
      ]
    },

    async adopt() {
      return undefined
    },

    async stop(replicaId, grace_ms) {
      const runningProcess = running.get(replicaId)
      if (runningProcess) {
        await runningProcess.group.stop(grace_ms)
        return
      }
      const record = (await records.list()).find((one) => one.id === replicaId)
      if (record) return stopRecordedProcess(record, grace_ms)
      const orphan = (await orphans)?.get(replicaId)
      if (!orphan) return
      ;(await orphans)?.delete(replicaId)
      if ((await readProcessStart(orphan.pid)) === orphan.started) killProcess(orphan.pid)
    },

    async freeze(replicaId) {
      // On Windows every signal ends a process.
      if (platform() === 'win32') throw new Error('Processes cannot be frozen on Windows.')
      running.get(replicaId)?.group.setFrozen(true)
    },

    // oxlint-disable-next-line require-yield
    async *runInReplica() {
      throw new ReplicaCommandError(null, 'Processes run no prebuilt images.')
    },

    async thaw(replicaId) {
      const runningProcess = running.get(replicaId)
      if (!runningProcess) throw new StartFailure('start_failed', 'The app is no longer running.', 'Start it again.')
      runningProcess.group.setFrozen(false)
      // A process that was killed may not have been reported yet.
      if (platform() === 'linux' && (await readProcessStart(runningProcess.group.pid)) === undefined)
        throw new StartFailure('start_failed', 'The app is no longer running.', 'Start it again.')
    },

    async usage(replicaId, { isPassive } = { isPassive: false }) {
      const runningProcess = running.get(replicaId)
      if (!runningProcess) return null
      const members = await runningProcess.group.listPids(runningProcess.usage_sample.at_ms)
      const [memory, cpu_ms] = await Promise.all([measurePrivateMemory(members), measureCpuTime(members)])
      // CPU time is the kernel's, so it is compared with the system clock.
      const at_ms = systemClock.monotonic()
      const cpu_percent = Math.max(0, (100 * (cpu_ms - runningProcess.usage_sample.cpu_ms)) / Math.max(1, at_ms - runningProcess.usage_sample.at_ms))
      if (!isPassive) runningProcess.usage_sample = { at_ms, cpu_ms }
      return { cpu_percent: Math.round(cpu_percent * 10) / 10, cpu_ms, memory_mb: Math.round(memory / 1024 / 1024) }
    },

    readAvailableMemory: async () => readMachineMemory(),

    listVolumes: (prefix) => listLocalVolumes(options.data_dir, prefix),
    exportVolume: (id) => exportLocalVolume(options.data_dir, id),
    importVolume: (id, _projectId, archive) => importLocalVolume(options.data_dir, id, archive),
    copyVolume: (from, to, _projectId, signal) => copyLocalVolume(options.data_dir, from, to, signal),
    cloneVolume: (id, folder) => cloneVolume(options.data_dir, id, folder),
    restoreClone: (id, folder) => restoreClone(options.data_dir, id, folder),
    listVolumeFolder: (id, path) => listLocalVolumeFolder(getVolumesFolder(options.data_dir), id, path),
    readVolumeFile: (id, path) => readLocalVolumeFile(getVolumesFolder(options.data_dir), id, path),
    removeVolume: (id) => removeLocalVolume(options.data_dir, id),
    exportWrittenFiles: exportWrittenLocalFiles,
    listWrittenFiles: async (owner) =>
      owner.artifact.kind === 'bundle' ? listWrittenLocalFiles(owner, getArtifactFolder(owner.artifact.directory)) : undefined,

    removeVolumes: (prefix) => removeLocalVolumes(options.data_dir, prefix),

    async removeProjectCaches(projectId) {
      for (const owner of [projectId, getUntrustedOwner(projectId)]) await cache.removeProject(owner)
    },

    async clearBuildCache(projectId) {
      for (const owner of [projectId, getUntrustedOwner(projectId)]) await cache.removeProject(owner)
    },

    async discard(deploymentId, artifact) {
      for (const record of await records.list())
        if (record.deployment_id === deploymentId && !running.has(record.id)) await stopRecordedProcess(record, 0)
      await removeBundles(options.data_dir, deploymentId, artifact)
      await rm(join(options.data_dir, 'work', `${toPathSegment(deploymentId)}-home`), { recursive: true, force: true })
    },

    async close() {
      closing.abort(new Error('The platform is shutting down.'))
      await cache.waitForSpareCopies()
    },
  }
}

async function findOrphansById(dataDir: string): Promise<Map<string, OrphanProcess>> {
  return new Map((await findOrphans(dataDir)).map((orphan) => [`stray_${orphan.pid}`, orphan]))
}

/** In a container the app's folder is /app. */
const resolveWorkingFolder = (appFolder: string, path: string | null): string =>
  path === null ? appFolder : resolveInside(appFolder, path.replace(/^\/app(?=\/|$)/, '.'))

/** The command line of a shell is shown without the shell. */
const formatCommand = (command: string[]): string =>
  command[0] === '/bin/sh' && command[1] === '-c' ? (command[2] ?? '').replace(/^exec /, '') : command.join(' ')

/** Windows runs scripts such as npm.cmd only through its shell; only names from this module use it, never input. */
function createWindowsCommand(file: string, args: string[]): { file: string; args: string[] } {
  if (platform() !== 'win32' || file === 'node') return { file, args }
  return { file: 'cmd.exe', args: ['/d', '/c', file, ...args] }
}
