import type { RuntimeState } from '../contract/deployments.ts'
import { isoTime } from '../lib/clock.ts'
import type { ReplicaExit } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import { createLogWriter, type LogWriter } from './log-writer.ts'
import { type AppSpec, getEnvironmentId, getServiceLogName } from './supervised-app.ts'

export type OutputListener = (stream: 'stdout' | 'stderr', line: string) => void

export type RuntimeLogs = ReturnType<typeof createRuntimeLogs>

/** The runtime logs of supervised apps: one for the production of each project, one for each preview. */
export function createRuntimeLogs(context: DeploymentContext) {
  const writers = new Map<string, LogWriter>()

  const getLogWriter = (spec: AppSpec, service?: string): LogWriter => {
    const logName = service === undefined ? spec.environment_id : getServiceLogName(spec.environment_id, service)
    let writer = writers.get(logName)
    if (!writer) {
      writer = createLogWriter({ ...context, logs: context.store.logs, stream: logName, keep_head_bytes: 0, keep_tail_bytes: 20_000_000 })
      writers.set(logName, writer)
    }
    return writer
  }

  return {
    /** `service`: the name of a service other than the main one, which has its own log. `replica`: a record of the first does not name it. */
    recordState(spec: AppSpec, state: RuntimeState, exit_code: number | null = null, service?: string, replica = 1): void {
      const writer = getLogWriter(spec, service)
      const record = { state, ts: isoTime(context.clock.now()), exit_code, deployment_id: spec.deployment_id }
      writer.writeRecord(replica === 1 ? record : { ...record, replica })
      writer.flush()
    },

    /** An observer that writes a replica's output to the log of its deployment; `exited` resolves once, after the last line. */
    observeOutput(spec: AppSpec, onOutput?: OutputListener, service?: string, replica = 1) {
      const writer = getLogWriter(spec, service)
      const tail = `"deployment_id":"${spec.deployment_id}"${replica === 1 ? '' : `,"replica":${replica}`}`
      const fields = { stdout: `"stream":"stdout",${tail}`, stderr: `"stream":"stderr",${tail}` }
      const exited = Promise.withResolvers<ReplicaExit>()
      return {
        exited: exited.promise,
        observer: {
          onLine: (stream: 'stdout' | 'stderr', line: string) => {
            writer.writeLine(fields[stream], line, spec.mask)
            onOutput?.(stream, line)
          },
          onExit: (exit: ReplicaExit) => {
            writer.flush()
            exited.resolve(exit)
          },
        },
      }
    },

    close(slot: Parameters<typeof getEnvironmentId>[0]): void {
      const logName = getEnvironmentId(slot)
      for (const [name, writer] of writers) {
        if (name !== logName && !name.startsWith(getServiceLogName(logName, ''))) continue
        writer.flush()
        writers.delete(name)
      }
    },

    flush(): void {
      for (const writer of writers.values()) writer.flush()
    },
  }
}
