import { basename } from 'node:path'
import type { DevSession } from '../contract/dev.ts'
import type { StreamEvent } from '../contract/operation.ts'
import { Problem } from '../contract/errors.ts'
import type { HostHeader, Route } from '../edge/edge.ts'
import { createHostLabels } from '../lib/branch-label.ts'
import { isoTime, type Timer } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { findFork } from '../store/forks.ts'
import { findPreview, findPreviewByHost } from '../store/previews.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { DeploymentContext } from './context.ts'
import { type DevVariables, getForkServiceHost, readDevVariables } from './dev-variables.ts'
import { closeForkServices, openForkServices } from './fork-services.ts'
import { nameEnvironment } from './supervised-app.ts'
import type { Supervisor } from './supervisor.ts'

/** The functions for features. The caller creates the URLs of a session. */
export interface DevSessions {
  list(projectId: string): OpenDevSession[]
  /** Throws `dev_session_exists` if the folder has one already. */
  open(project: ProjectRow, request: DevServerRequest): Promise<DevVariables & { session: OpenDevSession }>
  /** Called when the development server responds. Throws `dev_session_not_found`, as the others do. */
  markRunning(projectId: string, id: string, address: { host: string; port: number }): OpenDevSession
  /** The session lives as long as its followers. */
  follow(projectId: string, id: string, signal: AbortSignal): AsyncIterable<StreamEvent>
  end(projectId: string, id: string): void
  endProject(projectId: string): void
}

export type OpenDevSession = Omit<DevSession, 'url' | 'https_url'>

interface DevServerRequest {
  folder: string
  branch: string | null
  is_linked_worktree: boolean
  command: string
  framework: string | null
  port: number
  host_header: HostHeader
}

type EndReason = 'stopped' | 'closed' | 'project_stopped'

interface LiveSession {
  project_id: string
  facts: OpenDevSession
  host_header: HostHeader
  /** The environment whose services it uses. */
  environment_id: string | null
  /** Hosts of services that were started for the session. */
  service_hosts: string[]
  followers: number
  /** Ends a session without a follower. */
  lease: Timer | undefined
  ended: PromiseWithResolvers<EndReason>
}

/** How long a session waits for its first follower. */
const lease_ms = 15_000

/**
 * Development servers behind the addresses of projects. Sessions live in memory. If a restart of the platform ends one, the command that runs the
 * development server opens it again.
 */
export function createDevSessions(context: DeploymentContext, supervisor: Supervisor): DevSessions {
  const { edge, clock, store } = context
  const sessions = new Map<string, LiveSession>()

  const require = (projectId: string, id: string): LiveSession => {
    const session = sessions.get(id)
    if (session?.project_id !== projectId)
      throw new Problem('dev_session_not_found', 'This development server no longer has an address. Start it again with homeport dev.')
    return session
  }

  const publish = (projectId: string) => context.events.publish({ type: 'project_changed', id: projectId })

  const close = (session: LiveSession, reason: EndReason): void => {
    if (!sessions.delete(session.facts.id)) return
    session.lease?.cancel()
    for (const host of [session.facts.host, ...session.service_hosts]) edge.removeDevelopmentRoute(host)
    if (session.environment_id !== null) {
      context.environmentsInUse.delete(session.facts.id)
      closeForkServices(context, supervisor, session.environment_id)
    }
    session.ended.resolve(reason)
    publish(session.project_id)
  }

  const useEnvironment = (session: LiveSession, environmentId: string): void => {
    session.environment_id = environmentId
    context.environmentsInUse.set(session.facts.id, environmentId)
  }

  const readOwner = (project_id: string) => context.routes.getRouteMetadata({ project_id, deployment_id: null, target: 'production', branch: null })

  const setRoute = ({ project_id, facts, host_header }: LiveSession, address?: { host: string; port: number }): void => {
    const owner = readOwner(project_id)
    const route: Extract<Route, { kind: 'development' | 'page' }> = address
      ? { ...owner, kind: 'development', ...address, host_header }
      : { ...owner, kind: 'page', page: 'dev_starting' }
    edge.setDevelopmentRoute(facts.host, route)
  }

  /** The main folder has the project's address; every other folder `BRANCH--SLUG.localhost`, the address of the branch's preview. */
  const chooseHost = (project: ProjectRow, { branch, folder, is_linked_worktree }: DevServerRequest): { host: string; branch: string | null } => {
    const taken = new Set([...sessions.values()].map(({ facts }) => facts.host))
    const production = `${project.slug}.localhost`
    if (!is_linked_worktree && !taken.has(production)) return { host: production, branch: null }
    const name = branch ?? basename(folder)
    const isFree = (host: string) => {
      const owner = store.db.readSync((tx) => findPreviewByHost(tx, host))
      return !taken.has(host) && (owner ? owner.project_id === project.id && owner.branch === branch : edge.getRoute(host) === undefined)
    }
    const preview = store.db.readSync((tx) => findPreview(tx, project.id, name))
    const labels = [...createHostLabels(name, project.slug), ...createHostLabels(`${name}-${basename(folder)}`, project.slug)]
    const host = [...(preview ? [preview.host] : []), ...labels.map((label) => `${label}.localhost`)].find(isFree)
    if (host === undefined) throw new Problem('dev_session_exists', `No address is available for another development server of ${project.slug}.`)
    return { host, branch: name }
  }

  return {
    list: (projectId) => [...sessions.values()].filter(({ project_id }) => project_id === projectId).map(({ facts }) => facts),

    async open(project, request) {
      const existing = [...sessions.values()].find(({ project_id, facts }) => project_id === project.id && facts.folder === request.folder)
      if (existing)
        throw new Problem(
          'dev_session_exists',
          `A development server of ${request.folder} is already running at ${existing.facts.host}. Stop it with: homeport dev ${project.slug} --stop`,
        )
      const { host, branch } = chooseHost(project, request)
      const named = branch ?? request.branch
      const fork_branch = named !== null && store.db.readSync((tx) => findFork(tx, project.id, named)) ? named : null
      const session: LiveSession = {
        project_id: project.id,
        facts: {
          id: newId('dev'),
          status: 'starting',
          host,
          is_production_address: branch === null,
          folder: request.folder,
          branch: request.branch,
          fork_branch,
          command: request.command,
          framework: request.framework,
          port: request.port,
          started_at: isoTime(clock.now()),
        },
        host_header: request.host_header,
        environment_id: null,
        service_hosts: [],
        followers: 0,
        lease: undefined,
        ended: Promise.withResolvers(),
      }
      sessions.set(session.facts.id, session)
      try {
        if (fork_branch !== null) useEnvironment(session, nameEnvironment({ project_id: project.id, branch: fork_branch }))
        const fork = fork_branch === null ? undefined : await openForkServices(context, supervisor, project, { branch: fork_branch, host })
        const { environment, fork_endpoints, ...variables } = await readDevVariables(context, supervisor, project, {
          branch: fork_branch ?? branch,
          host,
          fork,
        })
        // It may have been ended while the services were starting.
        require(project.id, session.facts.id)
        if (environment) {
          useEnvironment(session, environment.environment_id)
          if (!fork) supervisor.wake(project.id, environment.deployment_id)
        }
        for (const one of fork_endpoints.filter(({ is_public }) => is_public)) {
          const serviceHost = getForkServiceHost(context, project.slug, host, one.name)
          if (serviceHost === undefined) continue
          session.service_hosts.push(serviceHost)
          const route = { ...readOwner(project.id), kind: 'development', host: one.host, port: one.port, host_header: 'public' } as const
          edge.setDevelopmentRoute(serviceHost, route)
        }
        setRoute(session)
        session.lease = clock.setTimeout(() => close(session, 'closed'), lease_ms)
        publish(project.id)
        return { session: session.facts, ...variables }
      } catch (error) {
        close(session, 'closed')
        throw error
      }
    },

    markRunning(projectId, id, address) {
      const session = require(projectId, id)
      session.facts = { ...session.facts, status: 'running', port: address.port }
      setRoute(session, address)
      publish(projectId)
      return session.facts
    },

    follow(projectId, id, signal) {
      const session = require(projectId, id)
      session.followers++
      session.lease?.cancel()
      session.lease = undefined
      let isFollowing = true
      const leave = () => {
        if (!isFollowing) return
        isFollowing = false
        session.followers--
        if (session.followers === 0) close(session, 'closed')
      }
      if (signal.aborted) leave()
      // Needed in addition to the stream's own end, because a stream that was never read runs no `finally`.
      else signal.addEventListener('abort', leave, { once: true })
      return followSession(session, signal, leave)
    },

    end: (projectId, id) => close(require(projectId, id), 'stopped'),
    endProject(projectId) {
      for (const session of sessions.values()) if (session.project_id === projectId) close(session, 'project_stopped')
    },
  }
}

/** The command that holds a session only needs its end. */
async function* followSession(session: LiveSession, signal: AbortSignal, onClosed: () => void): AsyncGenerator<StreamEvent> {
  try {
    yield { event: 'session', data: { id: session.facts.id } }
    const reason = await session.ended.promise
    if (!signal.aborted) yield { event: 'end', data: { reason } }
  } finally {
    onClosed()
  }
}
