import { platform } from 'node:os'
import type { StepLog } from '../../contract/build-log.ts'
import { systemClock } from '../../lib/clock.ts'
import { createCommandFailure } from '../build-failures.ts'
import { isFolder } from '../files.ts'
import { BuildFailure, type BuildRequest, type RuntimeOptions } from '../runtime.ts'
import type { SandboxFolders, SandboxProvider } from '../sandbox/sandbox.ts'
import type { BuildCache } from './build-cache.ts'
import type { MachineTools } from './machine-tools.ts'
import { createLineStreams } from './line-streams.ts'
import { type GroupProgram, startProcessGroup } from './process-group.ts'
import type { ProcessRecords } from './process-records.ts'
import { readProcessStart } from './process-table.ts'
import type { Toolchains } from './toolchains.ts'

export interface ProcessBuildTools {
  options: RuntimeOptions
  toolchains: Toolchains
  machineTools: MachineTools
  cache: BuildCache
  sandboxProvider: SandboxProvider
  records: ProcessRecords
  /** Installs in progress, by project and dependency key. */
  installing: Map<string, Promise<void>>
}

const maxProcesses = 512

/** An aborted build always ends with the abort error. */
export async function withAbortError<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted()
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** The id under which a running build is recorded. */
export const getBuildRecordId = (deploymentId: string): string => `build-${deploymentId}`

/**
 * The system shell for a command line. As in Node's `exec`, Windows gets the command verbatim in one pair of quotes, which `cmd /s` removes.
 * Otherwise quotes in the command would be escaped for the C runtime, and cmd does not support that escape.
 */
export const createShellCommand = (
  command: string,
  system: NodeJS.Platform = platform(),
): Pick<GroupProgram, 'file' | 'args' | 'windowsVerbatimArguments'> =>
  system === 'win32'
    ? { file: 'cmd.exe', args: ['/d', '/s', '/c', `"${command}"`], windowsVerbatimArguments: true }
    : { file: '/bin/sh', args: ['-c', command] }

/** Runs one command of the project in the shell; throws `BuildFailure` when it fails. */
export async function runBuildCommand(
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
  const program = sandbox ? sandbox.confine({ ...shell, cwd }, folders) : shell
  const group = await startProcessGroup(
    { ...program, cwd, env, memory_mb: request.memory_mb, max_processes: maxProcesses, clock },
    createLineStreams((stream, line) => {
      if (!signal.aborted) log.line(stream, line)
    }, clock),
  )
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
