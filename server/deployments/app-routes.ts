import type { Route } from '../edge/edge.ts'
import type { Endpoint, Replica } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import type { ProjectRoutes, ServiceRoute } from './project-routes.ts'
import { singleAppName } from './replica-specs.ts'
import type { ServiceSupervisor } from './service-supervisor.ts'
import type { AppSpec, Candidate, SupervisedApp } from './supervised-app.ts'

/** Requests in progress to an app that has just exited fail through their own connections. */
export const exitedDrain_ms = 1_000
/** A cached response may be on its way to a slow client for a long time; waking the app must not end it. */
const cachedDrain_ms = 3_600_000
const sleepDrain_ms = 2_000

/** An endpoint with the number of its replica. */
type Numbered<Value> = Value & { replica: number }

type RoutedApp = Pick<SupervisedApp, 'spec' | 'candidate'> & Partial<Pick<SupervisedApp, 'replacement'>>

type RouteOwner = ReturnType<ProjectRoutes['getRouteMetadata']>

/** The edge's routes to apps and their services. */
export function createAppRoutes(context: DeploymentContext, services: ServiceSupervisor) {
  /** The running replicas of the main service, in order. */
  const listMain = (spec: AppSpec, candidate: Candidate | null): Numbered<Replica>[] => [
    ...(candidate?.replica ? [{ ...candidate.replica, replica: 1 }] : []),
    ...services
      .listReplicas(spec, spec.main_service)
      .flatMap(({ spec: own, replica, endpoint }) => (replica ? [{ ...replica, ...endpoint, replica: own.replica }] : [])),
  ]

  const createRoute = ({ spec, candidate, replacement }: RoutedApp): Route => {
    const owner = context.routes.getRouteMetadata(spec)
    const { artifact } = spec
    if (!artifact) return { ...owner, kind: 'page', page: 'no_web_service' }
    if (artifact.kind === 'static') return { ...owner, kind: 'static', directory: artifact.directory, spa_fallback: artifact.spa_fallback }
    const [first, ...others] = [...listMain(spec, candidate), ...(replacement?.added ?? [])]
    if (!first) throw new Error('An app without a replica cannot be routed.')
    return toUpstream(owner, [first, ...others], spec.replicas, spec)
  }

  const toUpstream = (
    owner: RouteOwner,
    [first, ...others]: [Numbered<Endpoint>, ...Numbered<Endpoint>[]],
    wanted: number,
    { sticky_sessions }: AppSpec,
  ): Route => {
    const toAddress = ({ host, port, replica }: Numbered<Endpoint>) => ({ host, port, ...(wanted > 1 && { replica }) })
    return {
      ...owner,
      kind: 'upstream',
      ...toAddress(first),
      ...(others.length > 0 && { others: others.map(toAddress) }),
      ...(sticky_sessions && { is_sticky: true }),
    }
  }

  /** The addresses of services other than the main one: while the environment sleeps, a request to any of them wakes it. */
  const updateServiceRoutes = (app: SupervisedApp): void => {
    if (app.isSuperseded) return
    const metadata = context.routes.getRouteMetadata(app.spec)
    const toRoute = (wanted: number, endpoints: { replica: number; endpoint: Endpoint | null | undefined }[]): Route => {
      if (app.sleep) return { ...metadata, kind: 'asleep' }
      const [first, ...others] = endpoints.flatMap(({ replica, endpoint }) => (endpoint ? [{ ...endpoint, replica }] : []))
      return first ? toUpstream(metadata, [first, ...others], wanted, app.spec) : { ...metadata, kind: 'page', page: 'starting' }
    }
    const routes = app.spec.services.flatMap(({ config: { name, is_public, ports = [] }, replicas: wanted }): ServiceRoute[] => {
      const replicas = services
        .listReplicas(app.spec, name)
        .map(({ spec, replica, endpoint }) => ({ running: replica, endpoint, replica: spec.replica }))
      return [
        ...(is_public
          ? [
              {
                service: name,
                port: null,
                route: toRoute(
                  wanted,
                  replicas.map((one) => ({ ...one, endpoint: one.running && one.endpoint })),
                ),
              },
            ]
          : []),
        ...ports.map((port) => ({
          service: name,
          port,
          route: toRoute(
            wanted,
            replicas.map((one) => ({ ...one, endpoint: findAdditionalPort(one.running, port) })),
          ),
        })),
      ]
    })
    const main = app.spec.artifact?.kind === 'static' ? [] : app.spec.ports
    for (const port of main)
      routes.push({
        service: app.spec.main_service ?? singleAppName,
        port,
        route: toRoute(
          app.spec.replicas,
          listMain(app.spec, app.candidate).map((one) => ({ ...one, endpoint: findAdditionalPort(one, port) })),
        ),
      })
    context.routes.setServiceRoutes(app.spec, routes)
  }

  /** How many replicas of the main service run. */
  const countServing = ({ spec, candidate, replacement }: SupervisedApp): number =>
    listMain(spec, candidate).length + (replacement?.added.length ?? 0)

  /** The next request wakes the app. Resolves when no earlier one is open: an edge worker may have accepted it a moment ago. */
  const routeAsleep = (app: SupervisedApp): Promise<void> => {
    if (app.isSuperseded) return Promise.resolve()
    const drained = context.routes.setRoute(app.spec, { ...context.routes.getRouteMetadata(app.spec), kind: 'asleep' }, sleepDrain_ms)
    updateServiceRoutes(app)
    return drained
  }

  /**
   * Sets the route for the app's current state, unless another app has its traffic. `drain_ms`: how long requests to replicas that are no longer there may
   * take; those of one whose machine is lost would wait until they time out.
   */
  const updateRoute = (app: SupervisedApp, drain_ms = cachedDrain_ms): void => {
    if (app.isSuperseded) return
    if (app.sleep) return void routeAsleep(app)
    if (app.candidate || countServing(app) > 0) void context.routes.setRoute(app.spec, createRoute(app), drain_ms)
    else showStartingPage(app)
    updateServiceRoutes(app)
  }

  const showStartingPage = (app: SupervisedApp): void => {
    if (!app.isSuperseded) context.routes.showPage(app.spec, 'starting', app.sleep ? cachedDrain_ms : exitedDrain_ms)
  }

  return { createRoute, listMain, updateServiceRoutes, countServing, updateRoute, routeAsleep, showStartingPage }
}

const findAdditionalPort = (replica: Replica | null | undefined, port: number): Endpoint | undefined =>
  replica?.ports?.find((one) => one.port === port)?.endpoint
