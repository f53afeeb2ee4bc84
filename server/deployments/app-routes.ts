import type { Route } from '../edge/edge.ts'
import type { DeploymentContext } from './context.ts'
import type { ServiceSupervisor } from './service-supervisor.ts'
import type { Candidate, SupervisedApp } from './supervised-app.ts'

/** The edge's routes to apps and their services. */
export function createAppRoutes(context: DeploymentContext, services: ServiceSupervisor) {
  const createRoute = (candidate: Candidate): Route => {
    const owner = context.routes.getRouteMetadata(candidate.spec)
    const { artifact } = candidate.spec
    if (!artifact) return { ...owner, kind: 'page', page: 'no_web_service' }
    if (artifact.kind === 'static') return { ...owner, kind: 'static', directory: artifact.directory, spa_fallback: artifact.spa_fallback }
    if (!candidate.replica) throw new Error('A candidate without a replica cannot be routed.')
    return { ...owner, kind: 'upstream', host: candidate.replica.host, port: candidate.replica.port }
  }

  /** The addresses of services other than the main one: while the environment sleeps, a request to any of them wakes it. */
  const updateServiceRoutes = (app: SupervisedApp): void => {
    if (app.isSuperseded) return
    const metadata = context.routes.getRouteMetadata(app.spec)
    const routes = app.spec.services.flatMap(({ config: { name, is_public } }): [string, Route][] => {
      if (!is_public) return []
      if (app.sleep) return [[name, { ...metadata, kind: 'asleep' }]]
      const endpoint = services.find(app.spec, name)?.endpoint
      return [
        [
          name,
          endpoint ? { ...metadata, kind: 'upstream', host: endpoint.host, port: endpoint.port } : { ...metadata, kind: 'page', page: 'starting' },
        ],
      ]
    })
    context.routes.setServiceRoutes(app.spec, new Map(routes))
  }

  return { createRoute, updateServiceRoutes }
}
