import type { Route } from '../edge/edge.ts'
import type { Endpoint, Replica } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import type { ServiceRoute } from './project-routes.ts'
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
    const toRoute = (endpoint: Endpoint | null | undefined): Route => {
      if (app.sleep) return { ...metadata, kind: 'asleep' }
      return endpoint ? { ...metadata, kind: 'upstream', host: endpoint.host, port: endpoint.port } : { ...metadata, kind: 'page', page: 'starting' }
    }
    const routes = app.spec.services.flatMap(({ config: { name, is_public, ports = [] } }): ServiceRoute[] => {
      const service = services.find(app.spec, name)
      return [
        ...(is_public ? [{ service: name, port: null, route: toRoute(service?.endpoint) }] : []),
        ...ports.map((port) => ({ service: name, port, route: toRoute(findAdditionalPort(service?.replica, port)) })),
      ]
    })
    const main = app.spec.artifact?.kind === 'static' ? [] : app.spec.ports
    for (const port of main)
      routes.push({ service: app.spec.main_service ?? singleAppName, port, route: toRoute(findAdditionalPort(app.candidate?.replica, port)) })
    context.routes.setServiceRoutes(app.spec, routes)
  }

  return { createRoute, updateServiceRoutes }
}

/** The service name in the addresses of further ports of an app without services. */
export const singleAppName = 'web'

const findAdditionalPort = (replica: Replica | null | undefined, port: number): Endpoint | undefined =>
  replica?.ports?.find((one) => one.port === port)?.endpoint
