import { request } from 'node:http'
import { limits } from '../contract/limits.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import { formatDuration } from '../runtime/build-failures.ts'
import { raceAbort } from '../runtime/race-abort.ts'
import {
  BuildFailure,
  CommandFailure,
  type HealthcheckResult,
  type Endpoint,
  type ReplicaExit,
  type Replica,
  type ListeningPort,
} from '../runtime/runtime.ts'

export interface HealthCheckOptions {
  replica: Replica
  /** The port on which the deployment's app was last found, when that is not PORT. */
  known_port: number | null
  /** Resolves when the instance ends before it answers. */
  exited: Promise<ReplicaExit>
  signal: AbortSignal
  clock: Clock
  timeout_ms?: number
}

/** Where a healthy app answers. */
export interface HealthyEndpoint {
  /** null: it listens, but only after a start with this `listen_port` does the engine publish that port. */
  endpoint: Endpoint | null
  /** Its own port, when that is not PORT. */
  listen_port: number | null
}

/** PORT on the loopback of a container will not change: no need to wait out the whole minute. */
const loopbackOnlyTimeout_ms = 8_000
/** How long another port than PORT answers before it is taken for the app's: metrics may be there before the app is. */
const otherPortDelay_ms = 5_000
/** The same for a port that refuses GET /, as debuggers do, and before a port of the container's loopback is the last word. */
const doubtfulPortDelay_ms = 20_000

/**
 * Resolves at the first answer to `GET /` with a status under 500, asked from outside of the app; where the image has a HEALTHCHECK,
 * once anything answers and that check passes. PORT is asked first, then, while nothing listens there, the other ports that the app
 * has opened. Throws a failure that says what it did instead: ended, answered with an error, or nothing at all.
 */
export async function waitUntilHealthy(check: HealthCheckOptions): Promise<HealthyEndpoint> {
  const { replica, clock } = check
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
    // A container that just ended takes connections into nothing: its end is quicker news than a timeout.
    const probe = await Promise.race([probeHttp(replica, Math.min(10_000, timeout), check.signal), check.exited])
    if (exit) continue
    let candidate: HealthyEndpoint & { status?: number } = { endpoint: replica, listen_port: null }
    if (typeof probe === 'number') candidate.status = probe
    let elapsed_ms = clock.monotonic() - startedAt
    let ports: ListeningPort[] = []
    if (candidate.status === undefined && (elapsed_ms > 1_000 || check.known_port !== null)) {
      ports = await replica.getListeningPorts()
      for (const { port } of ports) if (!firstSeen.has(port)) firstSeen.set(port, clock.monotonic())
      const other = await findRespondingPort(check, ports, (port) => clock.monotonic() - (firstSeen.get(port) ?? 0))
      if (other?.endpoint === null) return other
      if (other) candidate = other
    }
    const { endpoint, listen_port, status } = candidate
    if (status !== undefined && replica.runHealthcheck) {
      // What answers is asked no more than that: the Dockerfile says itself when its app is well.
      lastCheck = await raceAbort(Promise.race([replica.runHealthcheck(), check.exited.then(() => undefined)]), check.signal)
      if (exit) continue
      if (lastCheck?.passed) return { endpoint, listen_port }
    } else if (status !== undefined && status < 500) return { endpoint, listen_port }
    if (status !== undefined) lastStatus = status
    elapsed_ms = clock.monotonic() - startedAt
    if (elapsed_ms > timeout || (status === undefined && isLoopbackOnly(ports, replica.assigned_port, elapsed_ms)))
      throw createUnhealthyFailure({ replica, lastStatus, lastCheck, ports, timeout: Math.min(elapsed_ms, timeout) })
    // Often at first, and never much later than it could have been: a visitor may wait for this.
    const wait = Math.min(500, Math.max(5, elapsed_ms / 40))
    await Promise.race([sleep(clock, wait, check.signal), check.exited])
  }
}

/** The best of the other ports that an app has opened; undefined while PORT may still be opened, or none of them answers HTTP. */
async function findRespondingPort(
  { replica, known_port, signal }: HealthCheckOptions,
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
      const status = await probeHttp(endpoint, 2_000, signal)
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

/** Whether all that an app listens on is the loopback of its container, which stays so. */
function isLoopbackOnly(ports: ListeningPort[], recommended: number, elapsed_ms: number): boolean {
  const isUnreachable = ({ endpoints, loopback_only }: ListeningPort) => endpoints.length === 0 && loopback_only
  if (ports.length === 0 || !ports.every(isUnreachable)) return false
  return elapsed_ms > (ports.some(({ port }) => port === recommended) ? loopbackOnlyTimeout_ms : doubtfulPortDelay_ms)
}

/** What a process of this machine listens on besides loopback, open to the network whatever the edge does; undefined: the system does not tell. */
export async function findPublicPorts(replica: Replica): Promise<number[] | undefined> {
  if (replica.is_on_host !== true) return []
  const ports = await replica.getListeningPorts()
  return ports.length === 0 ? undefined : ports.filter(({ loopback_only }) => !loopback_only).map(({ port }) => port)
}

export const formatPortWarning = (port: number, recommended: number): string =>
  `Warning: the app listens on port ${port}, not on ${recommended}, the port in the variable PORT. Requests go to port ${port}. Let it listen on PORT, which is never another app’s.`

export const formatPublicPortWarning = (ports: number[]): string =>
  `Warning: the app listens on all addresses of this machine (port ${ports.join(', ')}), so other machines on your network may reach it. Let it listen on the address in the variable HOST, which is 127.0.0.1 here.`

function createUnhealthyFailure(facts: {
  replica: Replica
  lastStatus: number | undefined
  lastCheck: HealthcheckResult | undefined
  ports: ListeningPort[]
  timeout: number
}): BuildFailure {
  const { assigned_port: recommended_port } = facts.replica
  if (facts.lastCheck)
    return new BuildFailure(
      'health_check_failed',
      `The HEALTHCHECK of the Dockerfile did not pass for ${Math.round(facts.timeout / 1000)} s.`,
      `Run its command in the container to see why.${facts.lastCheck.output === '' ? '' : ` Last output:\n${facts.lastCheck.output}`}`,
    )
  if (facts.lastStatus !== undefined)
    return new BuildFailure(
      'health_check_failed',
      `The app answered GET / with ${facts.lastStatus} for ${Math.round(facts.timeout / 1000)} s.`,
      'Look at its output in the runtime log; a status under 500 is needed before it gets traffic.',
    )
  const portList = facts.ports.map(({ port }) => port).join(', ')
  const seconds = Math.round(facts.timeout / 1000)
  const advice = `Let it listen on the address in the variable HOST and the port in the variable PORT, which is ${recommended_port} here.`
  if (facts.ports.length > 0 && facts.ports.every(({ endpoints, loopback_only }) => endpoints.length === 0 && loopback_only))
    return new BuildFailure(
      'port_not_detected',
      `The app listens on 127.0.0.1 alone (port ${portList}), which cannot be reached from outside of its container.`,
      `Let it listen on 0.0.0.0, the address in the variable HOST, and on the port in the variable PORT, which is ${recommended_port} here.`,
    )
  if (facts.ports.length > 0)
    return new BuildFailure(
      'port_not_detected',
      `The app listens on port ${portList}, but did not answer HTTP over IPv4 there within ${seconds} s.`,
      `${advice} An app that serves HTTPS, another protocol or IPv6 alone cannot be reached.`,
    )
  return new BuildFailure(
    'port_not_detected',
    `The app did not listen on port ${recommended_port} within ${seconds} s.`,
    `${advice} If it is a worker without HTTP, it cannot be deployed here.`,
  )
}

function createEarlyExitFailure({ command }: Replica, exit: ReplicaExit, duration_ms: number): BuildFailure {
  if (exit.out_of_memory)
    return new BuildFailure(
      'out_of_memory',
      'The app ran out of memory while it started.',
      'Raise the memory limit in the project’s settings, or find what needs so much.',
    )
  return new CommandFailure(
    'start_failed',
    `The app, \`${command}\`, ended while it started, with ${exit.signal ? `signal ${exit.signal}` : `exit code ${exit.code ?? 'unknown'}`} after ${formatDuration(duration_ms)}.`,
    'A web app runs until it is stopped: check what its start command does.',
  )
}

/** The status of GET /, or undefined when nothing answered. Redirects are not followed, the body is not read. */
function probeHttp({ host, port }: Endpoint, timeout: number, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probeRequest = request(
      {
        host,
        port,
        path: '/',
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
