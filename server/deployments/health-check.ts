import { request } from 'node:http'
import { limits } from '../contract/limits.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import { getPortVariable } from '../lib/public-ports.ts'
import { formatDuration } from '../runtime/build-failures.ts'
import { raceAbort } from '../runtime/race-abort.ts'
import {
  BuildFailure,
  CommandFailure,
  type HealthcheckResult,
  type Endpoint,
  type AdditionalPort,
  type ReplicaExit,
  type Replica,
  type ListeningPort,
} from '../runtime/runtime.ts'

export interface HealthCheckOptions {
  replica: Replica
  /** The port on which the app of this deployment was found before, if it is not PORT. */
  known_port: number | null
  /** Resolves when the replica exits before it responds. */
  exited: Promise<ReplicaExit>
  signal: AbortSignal
  clock: Clock
  timeout_ms?: number
  /** The path that is requested; default `/`. */
  path?: string
  /** The time between two requests; short at first without it. */
  interval_ms?: number
}

/** The address at which a healthy app responds. */
export interface HealthyEndpoint {
  /** null: the app listens, but Docker publishes that port only after a start with this `listen_port`. */
  endpoint: Endpoint | null
  /** The app's own port, if it is not PORT. */
  listen_port: number | null
}

/** An app on the loopback address of its container will not become reachable, so the check does not wait for the whole timeout. */
const loopbackOnlyTimeout_ms = 8_000
/** How long another port than PORT must respond before it counts as the app's, because metrics may be served before the app. */
const otherPortDelay_ms = 5_000
/** The same for a port that rejects GET /, as debuggers do, and for a port on the container's loopback address. */
const doubtfulPortDelay_ms = 20_000

/**
 * Resolves at the first response to a GET request for `path` with a status below 500, requested from outside of the app; for an image with a HEALTHCHECK, once any
 * response arrives and the check passes. PORT is requested first, then, while nothing listens on PORT, the other ports of the app. Throws a failure
 * that describes the observed behavior: exit, error response or no response.
 */
export async function waitUntilHealthy(check: HealthCheckOptions): Promise<HealthyEndpoint> {
  const { replica, clock, path = limits.health_path.default } = check
  const timeout = check.timeout_ms ?? limits.health_check_ms
  const startedAt = clock.monotonic()
  let exit: ReplicaExit | undefined
  void check.exited.then((value) => {
    exit = value
  })
  let lastStatus: number | undefined
  let lastCheck: HealthcheckResult | undefined
  const firstSeen = new Map<number, number>()

  for (;;) {
    check.signal.throwIfAborted()
    if (exit) throw createEarlyExitFailure(replica, exit, clock.monotonic() - startedAt)
    // A container that has just ended accepts connections without a response, so its exit is reported before a timeout.
    const probe = await Promise.race([probeHttp(replica, path, Math.min(10_000, timeout), check.signal), check.exited])
    if (exit) continue
    let candidate: HealthyEndpoint & { status?: number } = { endpoint: replica, listen_port: null }
    if (typeof probe === 'number') candidate.status = probe
    let elapsed_ms = clock.monotonic() - startedAt
    let ports: ListeningPort[] = []
    if (candidate.status === undefined && (elapsed_ms > 1_000 || check.known_port !== null)) {
      ports = (await replica.getListeningPorts()).filter(({ port }) => !isAdditionalPort(replica, port))
      for (const { port } of ports) if (!firstSeen.has(port)) firstSeen.set(port, clock.monotonic())
      const other = await findRespondingPort(check, ports, (port) => clock.monotonic() - (firstSeen.get(port) ?? 0))
      if (other?.endpoint === null) return other
      if (other) candidate = other
    }
    const { endpoint, listen_port, status } = candidate
    if (status !== undefined && replica.runHealthcheck) {
      // A responding app only needs to pass the HEALTHCHECK of its Dockerfile.
      lastCheck = await raceAbort(Promise.race([replica.runHealthcheck(), check.exited.then(() => undefined)]), check.signal)
      if (exit) continue
      if (lastCheck?.passed) return { endpoint, listen_port }
    } else if (status !== undefined && status < 500) return { endpoint, listen_port }
    if (status !== undefined) lastStatus = status
    elapsed_ms = clock.monotonic() - startedAt
    if (elapsed_ms > timeout || (status === undefined && isLoopbackOnly(ports, replica.assigned_port, elapsed_ms)))
      throw createUnhealthyFailure({ replica, path, lastStatus, lastCheck, ports, timeout: Math.min(elapsed_ms, timeout) })
    // Short intervals at first, proportional to the elapsed time, because a visitor may be waiting.
    const wait = check.interval_ms ?? Math.min(500, Math.max(5, elapsed_ms / 40))
    await Promise.race([sleep(clock, wait, check.signal), check.exited])
  }
}

/** A further port has a separate address, so it never counts as the app's. */
const isAdditionalPort = ({ ports = [] }: Replica, port: number): boolean => ports.some((one) => one.assigned_port === port || one.port === port)

/** The best of the app's other ports; undefined while PORT may still be opened, or when no port responds to HTTP. */
async function findRespondingPort(
  { replica, known_port, signal, path = limits.health_path.default }: HealthCheckOptions,
  ports: ListeningPort[],
  getSeenDuration: (port: number) => number,
): Promise<(HealthyEndpoint & { status?: number }) | undefined> {
  const recommended = ports.find(({ port }) => port === replica.assigned_port)
  const isExpected = ({ port, is_exposed }: ListeningPort) => port === known_port || is_exposed
  const others = recommended?.endpoints.length
    ? [recommended]
    : ports.toSorted((a, b) => Number(isExpected(b)) - Number(isExpected(a)) || a.port - b.port)
  const responding: (HealthyEndpoint & { status: number; isSure: boolean })[] = []
  for (const other of others) {
    const isSure = other === recommended || isExpected(other)
    for (const endpoint of other.endpoints) {
      const status = await probeHttp(endpoint, path, 2_000, signal)
      if (typeof status !== 'number') continue
      responding.push({ endpoint, status, listen_port: other === recommended ? null : other.port, isSure })
      break
    }
  }
  const isSuccess = (status: number) => status < 400
  const best = responding.find(({ isSure }) => isSure) ?? responding.find(({ status }) => isSuccess(status)) ?? responding[0]
  if (best && (best.isSure || getSeenDuration(best.listen_port ?? 0) >= (isSuccess(best.status) ? otherPortDelay_ms : doubtfulPortDelay_ms)))
    return best
  const unpublished = others.find(({ endpoints, loopback_only }) => endpoints.length === 0 && !loopback_only)
  return !best && unpublished && getSeenDuration(unpublished.port) >= otherPortDelay_ms
    ? { endpoint: null, listen_port: unpublished.port }
    : undefined
}

/** Whether the app listens only on the loopback address of its container. */
function isLoopbackOnly(ports: ListeningPort[], recommended: number, elapsed_ms: number): boolean {
  const isUnreachable = ({ endpoints, loopback_only }: ListeningPort) => endpoints.length === 0 && loopback_only
  if (ports.length === 0 || !ports.every(isUnreachable)) return false
  return elapsed_ms > (ports.some(({ port }) => port === recommended) ? loopbackOnlyTimeout_ms : doubtfulPortDelay_ms)
}

/**
 * Ports on which a process of this machine listens besides loopback, reachable from the network without the edge; undefined when the system does not
 * report them.
 */
export async function findPublicPorts(replica: Replica): Promise<number[] | undefined> {
  if (replica.is_on_host !== true) return []
  const ports = await replica.getListeningPorts()
  return ports.length === 0 ? undefined : ports.filter(({ loopback_only }) => !loopback_only).map(({ port }) => port)
}

/** Additional ports on which the app does not listen; empty when the system does not report them. */
export async function findSilentPorts({ ports = [], getListeningPorts }: Replica): Promise<AdditionalPort[]> {
  if (ports.length === 0) return []
  const listening = new Set((await getListeningPorts()).map(({ port }) => port))
  return listening.size === 0 ? [] : ports.filter(({ assigned_port }) => !listening.has(assigned_port))
}

export const formatSilentPortWarning = ({ port }: AdditionalPort): string =>
  `Warning: nothing is listening on the additional port ${port} yet, so its address does not respond. Make the app listen on the port in ${getPortVariable(port)}.`

export const formatPortWarning = (port: number, recommended: number): string =>
  `Warning: the app listens on port ${port}, not on ${recommended} from the PORT variable. Requests go to port ${port}. Use PORT to avoid conflicts with other apps.`

export const formatPublicPortWarning = (ports: number[]): string =>
  `Warning: the app listens on all addresses of this machine (port ${ports.join(', ')}), so other machines on your network may be able to reach it. Make it listen on the address in the HOST variable (127.0.0.1).`

function createUnhealthyFailure(facts: {
  replica: Replica
  path: string
  lastStatus: number | undefined
  lastCheck: HealthcheckResult | undefined
  ports: ListeningPort[]
  timeout: number
}): BuildFailure {
  const { assigned_port: recommended_port } = facts.replica
  if (facts.lastCheck)
    return new BuildFailure(
      'health_check_failed',
      `The HEALTHCHECK in the Dockerfile did not pass within ${Math.round(facts.timeout / 1000)} s.`,
      `Run the health check command in the container to see why. ${formatTimeoutHint(facts.timeout)}${facts.lastCheck.output === '' ? '' : ` Last output:\n${facts.lastCheck.output}`}`,
    )
  if (facts.lastStatus !== undefined)
    return new BuildFailure(
      'health_check_failed',
      `The app responded to GET ${facts.path} with ${facts.lastStatus} for ${Math.round(facts.timeout / 1000)} s.`,
      `Check the runtime log. The app gets traffic once it responds with a status below 500. ${formatTimeoutHint(facts.timeout)}`,
    )
  const portList = facts.ports.map(({ port }) => port).join(', ')
  const seconds = Math.round(facts.timeout / 1000)
  const advice = `Make the app listen on the address in the HOST variable and the port in the PORT variable (${recommended_port}).`
  if (facts.ports.length > 0 && facts.ports.every(({ endpoints, loopback_only }) => endpoints.length === 0 && loopback_only))
    return new BuildFailure(
      'port_not_detected',
      `The app only listens on 127.0.0.1 (port ${portList}), which cannot be reached from outside its container.`,
      `Make the app listen on 0.0.0.0, the address in the HOST variable, and on the port in the PORT variable (${recommended_port}).`,
    )
  if (facts.ports.length > 0)
    return new BuildFailure(
      'port_not_detected',
      `The app listens on port ${portList}, but did not respond to GET ${facts.path} over IPv4 within ${seconds} s.`,
      `${advice} Apps that only serve HTTPS, another protocol or IPv6 are not supported. ${formatTimeoutHint(facts.timeout)}`,
    )
  return new BuildFailure(
    'port_not_detected',
    `The app did not listen on port ${recommended_port} within ${seconds} s.`,
    `${advice} Workers without an HTTP server are not supported. ${formatTimeoutHint(facts.timeout)}`,
  )
}

/** How to allow a version more time. */
const formatTimeoutHint = (timeout_ms: number): string =>
  `If the app needs longer than ${Math.round(timeout_ms / 1000)} s, raise health_timeout_s in the project settings, or timeout under healthcheck of its service in homeport.yaml.`

function createEarlyExitFailure({ command }: Replica, exit: ReplicaExit, duration_ms: number): BuildFailure {
  if (exit.out_of_memory)
    return new BuildFailure(
      'out_of_memory',
      'The app ran out of memory during startup.',
      'Raise the memory limit in the project settings, or reduce the memory use of the app.',
    )
  return new CommandFailure(
    'start_failed',
    `The app, \`${command}\`, exited during startup with ${exit.signal ? `signal ${exit.signal}` : `exit code ${exit.code ?? 'unknown'}`} after ${formatDuration(duration_ms)}.`,
    'A web app must keep running. Check its start command.',
  )
}

/** The status of a GET request, or undefined without a response. Redirects are not followed and the body is not read. */
function probeHttp({ host, port }: Endpoint, path: string, timeout: number, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probeRequest = request(
      {
        host,
        port,
        path,
        agent: false,
        timeout,
        signal,
        headers: { host: `127.0.0.1:${port}`, 'user-agent': 'Homeport-Health-Check', connection: 'close' },
      },
      (response) => {
        resolve(response.statusCode)
        response.destroy()
      },
    )
    probeRequest.on('timeout', () => probeRequest.destroy())
    probeRequest.on('error', () => resolve(undefined))
    probeRequest.end()
  })
}
