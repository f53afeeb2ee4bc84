import type { Readable, Writable } from 'node:stream'
import type { TerminalSize } from '../contract/command-frames.ts'
import { Problem } from '../contract/errors.ts'
import { newId } from '../lib/id.ts'
import { type ReplicaExit, StartFailure } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import { type AppSpec, type EnvironmentName, nameEnvironment } from './supervised-app.ts'
import type { Supervisor } from './supervisor.ts'

export interface CommandRequest {
  /** null: a shell. */
  command: string[] | null
  /** undefined: the main one. */
  service: string | undefined
  terminal: TerminalSize | null
}

/** A one-off command. The caller must always call `stop`, which resolves when everything of the command is gone. */
export interface RunningCommand {
  input: Writable
  stdout: Readable
  stderr: Readable | null
  resize(size: TerminalSize): Promise<void>
  exited: Promise<ReplicaExit>
  /** Resolves when the platform wants the command to end. */
  ending: Promise<'project_stopped' | 'shutdown'>
  stop(): Promise<void>
}

/** The functions for features: one-off commands. */
export interface OneOffCommands {
  /** The service and the version in which a command would run. Throws `service_not_found` or `service_not_started`. */
  find(environment: EnvironmentName, service: string | undefined): { service: string | null; deployment_id: string }
  /** Throws as `find` does, and `service_not_started` when the command cannot be started. */
  start(environment: EnvironmentName, request: CommandRequest, signal: AbortSignal): Promise<RunningCommand>
  /** Ends the commands of a project, or of the preview of a branch. */
  endProject(projectId: string, branch?: string): void
  /** Ends all commands; resolves when they are gone. */
  close(): Promise<void>
}

/** Access ends within five seconds, of which up to three pass before its loss is noticed. */
const stopGrace_ms = 1_000

interface OpenCommand {
  environment: EnvironmentName
  ending: PromiseWithResolvers<'project_stopped' | 'shutdown'>
  /** Aborted when it must not start any more. */
  starting: AbortController
  over: PromiseWithResolvers<void>
}

/** Commands next to the replicas of live versions. They live in memory, and end with their client. */
export function createOneOffCommands(context: DeploymentContext, supervisor: Supervisor): OneOffCommands {
  const open = new Set<OpenCommand>()
  let isClosing = false

  const requireSpec = (environment: EnvironmentName, service: string | undefined): AppSpec => {
    const spec = supervisor.findEnvironment(nameEnvironment(environment))?.spec
    if (!spec) throw new Problem('service_not_started', 'No version is live. Deploy the project, then run the command again.')
    const found = spec.services.find(({ config }) => config.name === service)
    if (service !== undefined && !found && spec.main_service !== service)
      throw new Problem('service_not_found', `The live version has no service “${service}”. List them with homeport services.`)
    const artifact = found ? found.artifact : spec.artifact
    if (!artifact || artifact.kind === 'static')
      throw new Problem(
        'service_not_started',
        service === undefined && spec.services.length > 0
          ? 'The main service is a static site, in which no command can run. Choose another service.'
          : 'A static site has only files, so no command can run in it.',
      )
    return spec
  }

  const end = (command: OpenCommand, reason: 'project_stopped' | 'shutdown') => {
    command.ending.resolve(reason)
    command.starting.abort()
  }

  return {
    find(environment, service) {
      const spec = requireSpec(environment, service)
      return { service: service ?? spec.main_service, deployment_id: spec.deployment_id }
    },

    async start(environment, { command, service = null, terminal }, signal) {
      const spec = requireSpec(environment, service ?? undefined)
      const id = newId('cmd')
      const opened: OpenCommand = { environment, ending: Promise.withResolvers(), starting: new AbortController(), over: Promise.withResolvers() }
      if (isClosing) throw new Problem('service_not_started', 'Homeport is shutting down.')
      open.add(opened)
      context.environmentsWithCommands.set(id, spec.environment_id)
      const leave = () => {
        open.delete(opened)
        context.environmentsWithCommands.delete(id)
        opened.over.resolve()
      }
      try {
        const anySignal = AbortSignal.any([signal, opened.starting.signal])
        const replica = await supervisor.startAttached(spec, { name: `command ${id}`, service, command, terminal }, anySignal)
        const stop = async () => {
          await context.runtime(spec.runtime).stop(replica.id, stopGrace_ms)
        }
        let stopping: Promise<void> | undefined
        const stopOnce = () =>
          (stopping ??= stop()
            .catch(async (error: unknown) => {
              context.log.warn('replica_stop_postponed', { command: id, error })
              await context.scheduleCleanup({ kind: 'instance', runtime: spec.runtime, instance_id: replica.id })
            })
            .finally(leave))
        void opened.ending.promise.then(stopOnce)
        return { ...replica, ending: opened.ending.promise, stop: stopOnce }
      } catch (error) {
        leave()
        if (error instanceof StartFailure) throw new Problem('service_not_started', `${error.message} ${error.hint}`)
        throw error
      }
    },

    endProject(projectId, branch) {
      for (const command of open) {
        const { environment } = command
        if (environment.project_id === projectId && (branch === undefined || environment.branch === branch)) end(command, 'project_stopped')
      }
    },

    async close() {
      isClosing = true
      for (const command of open) end(command, 'shutdown')
      await Promise.all([...open].map(({ over }) => over.promise))
    },
  }
}
