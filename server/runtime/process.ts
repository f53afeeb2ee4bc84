import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { delimiter, join, relative, sep } from 'node:path'
import { sleep, systemClock } from '../lib/clock.ts'
import { exitOf } from './exits.ts'
import { dropBundles, isFolder, pathPart } from './files.ts'
import { buildInPlace, buildRecord, heapOption, without } from './process-build.ts'
import { createBuildCache } from './process-cache.ts'
import { killGroup, killOne, startGroup, type ProcessGroup } from './process-group.ts'
import { createPorts, listeningPortsOf } from './process-ports.ts'
import { createProcessRecords, isAlive, type ProcessRecord } from './process-records.ts'
import { findStrays, type Stray } from './process-strays.ts'
import { memoryOf, processorTimeOf, startOf } from './process-table.ts'
import { createConfinement, findProgram } from './sandbox/find-sandbox.ts'
import { createToolchains, defaultPath, sweepToolchains, windowsVariables } from './process-toolchain.ts'
import { StartFailure, type Artifact, type Instance, type Runtime, type RuntimeOptions, type StartRequest } from './runtime.ts'

interface Running {
  group: ProcessGroup
  port: number
  /** For `usage`: processor time at the last look. */
  looked: { at_ms: number; processor_ms: number }
}

const maxProcesses = 256

/**
 * Builds and runs Node and static apps as child processes of this machine: own folder, environment, port and a ceiling
 * for memory. Where the system offers a sandbox they see no other files of this machine; its network and its user they always share. Needs
 * nothing that is not among our own dependencies.
 */
export function createProcessRuntime(options: RuntimeOptions): Runtime {
  const { clock = systemClock } = options
  const closing = new AbortController()
  const toolchains = createToolchains(options, closing.signal)
  const cache = createBuildCache(join(options.data_dir, 'cache'), closing.signal)
  const confinement = createConfinement(options)
  const records = createProcessRecords(join(options.data_dir, 'processes'))
  const ports = createPorts()
  const installing = new Map<string, Promise<void>>()
  /** What a dead platform left unrecorded, by id. Looked for once: from then on everything is recorded or running. */
  let strays: Promise<Map<string, Stray>> | undefined
  const running = new Map<string, Running>()
  const placeOf = (deploymentId: string) => join(options.data_dir, 'bundles', pathPart(deploymentId))
  /** The whole folder of what a deployment built: a roll-back runs what an earlier one did. */
  const bundleOf = (directory: string) =>
    join(options.data_dir, 'bundles', relative(join(options.data_dir, 'bundles'), directory).split(sep)[0] ?? '')
  void sweepToolchains(options).catch((error: unknown) => options.log.warn('toolchain_sweep_failed', { error }))

  const appEnvironment = async (request: StartRequest, artifact: Extract<Artifact, { kind: 'bundle' }>, port: number) => {
    const node = await toolchains.node(artifact.node_version, request.signal)
    const place = placeOf(request.deployment_id)
    const [home, temporary] = [join(place, 'home'), join(place, 'tmp')]
    await mkdir(home, { recursive: true, mode: 0o700 })
    await mkdir(temporary, { recursive: true, mode: 0o700 })
    const folders = [join(artifact.directory, 'node_modules', '.bin')]
    if (artifact.package_manager)
      folders.push(await toolchains.packageManager(artifact.package_manager, Number.parseInt(node.version, 10), request.signal))
    folders.push(node.folder)
    const own = { ...artifact.variables, ...request.variables }
    return {
      LANG: 'C.UTF-8',
      TMPDIR: temporary,
      npm_config_update_notifier: 'false',
      NODE_ENV: 'production',
      ...windowsVariables({ home, temporary, system_root: options.system_root }),
      ...without(own, ['PATH', 'HOME', 'NODE_OPTIONS', 'PORT', 'HOST']),
      HOME: home,
      NODE_OPTIONS: heapOption(request.memory_mb, own.NODE_OPTIONS),
      PATH: [...folders, own.PATH ?? options.path ?? defaultPath].join(delimiter),
      PORT: String(port),
      HOST: '127.0.0.1',
    }
  }

  const start = async (request: StartRequest): Promise<Instance> => {
    const { artifact } = request
    if (artifact.kind !== 'bundle')
      throw new StartFailure('start_failed', 'This version was built by Docker.', 'Start Docker, or deploy the project again.')
    if (!(await isFolder(artifact.directory)))
      throw new StartFailure('start_failed', 'The files of this version are gone.', 'Deploy the project again.')
    const id = `proc_${randomBytes(9).toString('hex')}`
    const port = await ports.take()
    let group: ProcessGroup
    try {
      const env = await appEnvironment(request, artifact, port)
      request.signal.throwIfAborted()
      const [file = 'node', ...args] = artifact.command
      const command = { ...windowsCommand(file, args), cwd: artifact.directory }
      const sandbox = await confinement.find()
      // A sandbox tells of a missing program only in the output.
      if (sandbox && !(await findProgram(file, env.PATH.split(delimiter))))
        throw Object.assign(new Error(`No ${file} on the PATH.`), { code: 'ENOENT' })
      const folders = { read: [], write: [bundleOf(artifact.directory), placeOf(request.deployment_id)] }
      group = await startGroup({
        ...(sandbox ? sandbox.confine(command, folders) : command),
        cwd: artifact.directory,
        env,
        memory_mb: request.memory_mb,
        max_processes: maxProcesses,
        clock,
        onLine: request.onLine,
      })
    } catch (error) {
      ports.giveBack(port)
      request.signal.throwIfAborted()
      if (error instanceof StartFailure) throw error
      const code = (error as NodeJS.ErrnoException).code
      const why = code === 'ENOENT' ? `the program \`${artifact.command[0]}\` was not found` : `\`${artifact.command.join(' ')}\` could not be run`
      throw new StartFailure('start_failed', `The app did not start: ${why}.`, 'Check the start script of package.json.', error)
    }
    running.set(id, { group, port, looked: { at_ms: systemClock.monotonic(), processor_ms: 0 } })
    const recorded = startOf(group.pid)
      .then((started) =>
        started && running.has(id)
          ? records.write({ id, project_id: request.project_id, deployment_id: request.deployment_id, pid: group.pid, started })
          : undefined,
      )
      .catch((error: unknown) => options.log.warn('process_record_failed', { error }))
    void group.ended.then(async ({ code, signal, out_of_memory }) => {
      running.delete(id)
      ports.giveBack(port)
      await recorded
      await records.remove(id).catch(() => {})
      request.onExit(exitOf(code, signal, out_of_memory))
    })
    await recorded
    return {
      id,
      deployment_id: request.deployment_id,
      command: artifact.command.join(' '),
      host: '127.0.0.1',
      on_machine: true,
      port,
      recommended_port: port,
      listeningPorts: async () =>
        (await listeningPortsOf(await group.members())).map(({ hosts, ...found }) => ({
          ...found,
          is_exposed: false,
          endpoints: hosts.map((host) => ({ host, port: found.port })),
        })),
    }
  }

  /** Stops what a platform before us left. Its number is checked against its time of start, so that no stranger is hit. */
  const stopOrphan = async (record: ProcessRecord, grace_ms: number) => {
    if (await isAlive(record)) {
      if (grace_ms > 0) {
        killGroup(record.pid, 'SIGTERM')
        killGroup(record.pid, 'SIGCONT')
      }
      const until = clock.monotonic() + grace_ms
      while (clock.monotonic() < until && (await isAlive(record))) await sleep(clock, 50)
      if (await isAlive(record)) killGroup(record.pid, 'SIGKILL')
    }
    await records.remove(record.id)
  }

  return {
    name: 'process',
    isolates: false,

    async probe() {
      return { available: true, version: null, reason: 'Apps run as processes of this machine. The check “sandbox” says what confines them.' }
    },

    check: () => confinement.check(),

    async build(request) {
      return buildInPlace(request, placeOf(request.deployment_id), { options, toolchains, cache, confinement, records, installing })
    },

    start,

    async list() {
      strays ??= strayProcesses(options.data_dir)
      const found = (await records.all()).filter((record) => record.id !== buildRecord(record.deployment_id))
      const states = await Promise.all(found.map(async (record) => ({ record, alive: running.has(record.id) || (await isAlive(record)) })))
      const described = (id: string, of: { project_id: string; deployment_id: string }, alive: boolean) => ({
        id,
        project_id: of.project_id,
        deployment_id: of.deployment_id,
        running: alive,
        frozen: false,
        exit: alive ? null : { code: null, signal: null, out_of_memory: false },
        adoptable: false,
        last_line_at: null,
        listen_port: null,
      })
      const unrecorded = [...(await strays)].filter(
        ([, stray]) => !found.some((record) => record.pid === stray.pid && record.started === stray.started),
      )
      return [
        ...states.map(({ record, alive }) => described(record.id, record, alive)),
        ...unrecorded.map(([id]) => described(id, { project_id: '', deployment_id: '' }, true)),
      ]
    },

    async adopt() {
      return undefined
    },

    async stop(instanceId, grace_ms) {
      const known = running.get(instanceId)
      if (known) {
        await known.group.stop(grace_ms)
        return
      }
      const record = (await records.all()).find((one) => one.id === instanceId)
      if (record) return stopOrphan(record, grace_ms)
      const stray = (await strays)?.get(instanceId)
      if (!stray) return
      ;(await strays)?.delete(instanceId)
      if ((await startOf(stray.pid)) === stray.started) killOne(stray.pid)
    },

    async freeze(instanceId) {
      // Every signal ends a process there.
      if (platform() === 'win32') throw new Error('Processes cannot be frozen on Windows.')
      running.get(instanceId)?.group.freeze(true)
    },

    async thaw(instanceId) {
      const known = running.get(instanceId)
      if (!known) throw new StartFailure('start_failed', 'The app is gone.', 'Start it again.')
      known.group.freeze(false)
      // One that was killed meanwhile may not have been told of yet.
      if (platform() === 'linux' && (await startOf(known.group.pid)) === undefined)
        throw new StartFailure('start_failed', 'The app is gone.', 'Start it again.')
    },

    async usage(instanceId) {
      const known = running.get(instanceId)
      if (!known) return null
      const members = await known.group.members()
      const [memory, processor_ms] = await Promise.all([memoryOf(members), processorTimeOf(members)])
      // Processor time is the kernel's and passes with the system's clock.
      const at_ms = systemClock.monotonic()
      const cpu_percent = Math.max(0, (100 * (processor_ms - known.looked.processor_ms)) / Math.max(1, at_ms - known.looked.at_ms))
      known.looked = { at_ms, processor_ms }
      return { cpu_percent: Math.round(cpu_percent * 10) / 10, memory_mb: Math.round(memory / 1024 / 1024) }
    },

    async forget(projectId) {
      await cache.forget(projectId)
    },

    async discard(deploymentId, artifact) {
      for (const record of await records.all()) if (record.deployment_id === deploymentId && !running.has(record.id)) await stopOrphan(record, 0)
      await dropBundles(options.data_dir, deploymentId, artifact)
      await rm(join(options.data_dir, 'work', `${pathPart(deploymentId)}-home`), { recursive: true, force: true })
    },

    async close() {
      closing.abort(new Error('The platform is closing.'))
      await cache.settled()
    },
  }
}

async function strayProcesses(dataDir: string): Promise<Map<string, Stray>> {
  return new Map((await findStrays(dataDir)).map((stray) => [`stray_${stray.pid}`, stray]))
}

/** Windows starts scripts such as npm.cmd only by its shell; what needs one is named by us, never by input. */
function windowsCommand(file: string, args: string[]): { file: string; args: string[] } {
  if (platform() !== 'win32' || file === 'node') return { file, args }
  return { file: 'cmd.exe', args: ['/d', '/c', file, ...args] }
}
