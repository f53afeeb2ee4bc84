import { request } from 'node:http'
import { limits } from '../contract/limits.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import { durationText } from '../runtime/build-failures.ts'
import { raceAbort } from '../runtime/signals.ts'
import { BuildFailure, CommandFailure, type CheckResult, type Endpoint, type Exit, type Instance, type ListeningPort } from '../runtime/runtime.ts'

export interface HealthCheck {
  instance: Instance
  /** The port on which the deployment's app was last found, when that is not PORT. */
  known_port: number | null
  /** Resolves when the instance ends before it answers. */
  ended: Promise<Exit>
  signal: AbortSignal
  clock: Clock
  timeout_ms?: number
}

/** Where a healthy app answers. */
export interface Answering {
  /** null: it listens, but only after a start with this `listen_port` does the engine publish that port. */
  endpoint: Endpoint | null
  /** Its own port, when that is not PORT. */
  listen_port: number | null
}

/** PORT on the loopback of a container will not change: no need to wait out the whole minute. */
const loopback_ms = 8_000
/** How long another port than PORT answers before it is taken for the app's: metrics may be there before the app is. */
const settled_ms = 5_000
/** The same for a port that refuses GET /, as debuggers do, and before a port of the container's loopback is the last word. */
const doubtful_ms = 20_000

/**
 * Resolves at the first answer to `GET /` with a status under 500, asked from outside of the app; where the image has a HEALTHCHECK,
 * once anything answers and that check passes. PORT is asked first, then, while nothing listens there, the other ports that the app
 * has opened. Throws a failure that says what it did instead: ended, answered with an error, or nothing at all.
 */
export async function untilHealthy(check: HealthCheck): Promise<Answering> {
  const { instance, clock } = check
  const timeout = check.timeout_ms ?? limits.health_check_ms
  const begun = clock.monotonic()
  let exit: Exit | undefined
  void check.ended.then((value) => {
    exit = value
  })
  let lastStatus: number | undefined
  let lastCheck: CheckResult | undefined
  const firstSeen = new Map<number, number>()

  for (;;) {
    check.signal.throwIfAborted()
    if (exit) throw endedEarly(instance, exit, clock.monotonic() - begun)
    // A container that just ended takes connections into nothing: its end is quicker news than a timeout.
    const asked = await Promise.race([ask(instance, Math.min(10_000, timeout), check.signal), check.ended])
    if (exit) continue
    let found: Answering & { status?: number } = { endpoint: instance, listen_port: null }
    if (typeof asked === 'number') found.status = asked
    let spent = clock.monotonic() - begun
    let ports: ListeningPort[] = []
    if (found.status === undefined && (spent > 1_000 || check.known_port !== null)) {
      ports = await instance.listeningPorts()
      for (const { port } of ports) if (!firstSeen.has(port)) firstSeen.set(port, clock.monotonic())
      const other = await findAnswering(check, ports, (port) => clock.monotonic() - (firstSeen.get(port) ?? 0))
      if (other?.endpoint === null) return other
      if (other) found = other
    }
    const { endpoint, listen_port, status } = found
    if (status !== undefined && instance.ownCheck) {
      // What answers is asked no more than that: the Dockerfile says itself when its app is well.
      lastCheck = await raceAbort(Promise.race([instance.ownCheck(), check.ended.then(() => undefined)]), check.signal)
      if (exit) continue
      if (lastCheck?.passed) return { endpoint, listen_port }
    } else if (status !== undefined && status < 500) return { endpoint, listen_port }
    if (status !== undefined) lastStatus = status
    spent = clock.monotonic() - begun
    if (spent > timeout || (status === undefined && isShutIn(ports, instance.recommended_port, spent)))
      throw unhealthy({ instance, lastStatus, lastCheck, ports, timeout: Math.min(spent, timeout) })
    // Often at first, and never much later than it could have been: a visitor may wait for this.
    const wait = Math.min(500, Math.max(5, spent / 40))
    await Promise.race([sleep(clock, wait, check.signal), check.ended])
  }
}

/** The best of the other ports that an app has opened; undefined while PORT may still be opened, or none of them answers HTTP. */
async function findAnswering(
  { instance, known_port, signal }: HealthCheck,
  ports: ListeningPort[],
  seenFor: (port: number) => number,
): Promise<(Answering & { status?: number }) | undefined> {
  const recommended = ports.find(({ port }) => port === instance.recommended_port)
  const isNamed = ({ port, is_exposed }: ListeningPort) => port === known_port || is_exposed
  const others = recommended?.endpoints.length ? [recommended] : ports.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)) || a.port - b.port)
  const answers: (Answering & { status: number; isSure: boolean })[] = []
  for (const other of others) {
    const isSure = other === recommended || isNamed(other)
    for (const endpoint of other.endpoints) {
      const status = await ask(endpoint, 2_000, signal)
      if (typeof status !== 'number') continue
      answers.push({ endpoint, status, listen_port: other === recommended ? null : other.port, isSure })
      break
    }
  }
  const welcomes = (status: number) => status < 400
  const best = answers.find(({ isSure }) => isSure) ?? answers.find(({ status }) => welcomes(status)) ?? answers[0]
  if (best && (best.isSure || seenFor(best.listen_port ?? 0) >= (welcomes(best.status) ? settled_ms : doubtful_ms))) return best
  const hidden = others.find(({ endpoints, loopback_only }) => endpoints.length === 0 && !loopback_only)
  return !best && hidden && seenFor(hidden.port) >= settled_ms ? { endpoint: null, listen_port: hidden.port } : undefined
}

/** Whether all that an app listens on is the loopback of its container, which stays so. */
function isShutIn(ports: ListeningPort[], recommended: number, spent_ms: number): boolean {
  const isOut = ({ endpoints, loopback_only }: ListeningPort) => endpoints.length === 0 && loopback_only
  if (ports.length === 0 || !ports.every(isOut)) return false
  return spent_ms > (ports.some(({ port }) => port === recommended) ? loopback_ms : doubtful_ms)
}

/** What a process of this machine listens on besides loopback, open to the network whatever the edge does; undefined: the system does not tell. */
export async function widePortsOf(instance: Instance): Promise<number[] | undefined> {
  if (instance.on_machine !== true) return []
  const ports = await instance.listeningPorts()
  return ports.length === 0 ? undefined : ports.filter(({ loopback_only }) => !loopback_only).map(({ port }) => port)
}

export const portWarning = (port: number, recommended: number): string =>
  `Warning: the app listens on port ${port}, not on ${recommended}, the port in the variable PORT. Requests go to port ${port}. Let it listen on PORT, which is never another app’s.`

export const wideWarning = (ports: number[]): string =>
  `Warning: the app listens on all addresses of this machine (port ${ports.join(', ')}), so other machines on your network may reach it. Let it listen on the address in the variable HOST, which is 127.0.0.1 here.`

function unhealthy(facts: {
  instance: Instance
  lastStatus: number | undefined
  lastCheck: CheckResult | undefined
  ports: ListeningPort[]
  timeout: number
}): BuildFailure {
  const { recommended_port } = facts.instance
  if (facts.lastCheck)
    return new BuildFailure(
      'health_check_failed',
      `The HEALTHCHECK of the Dockerfile did not pass for ${Math.round(facts.timeout / 1000)} s.`,
      `Run its command in the container to see why.${facts.lastCheck.output === '' ? '' : ` Its last output:\n${facts.lastCheck.output}`}`,
    )
  if (facts.lastStatus !== undefined)
    return new BuildFailure(
      'health_check_failed',
      `The app answered GET / with ${facts.lastStatus} for ${Math.round(facts.timeout / 1000)} s.`,
      'Look at its output in the runtime log; a status under 500 is needed before it gets traffic.',
    )
  const names = facts.ports.map(({ port }) => port).join(', ')
  const seconds = Math.round(facts.timeout / 1000)
  const wayOut = `Let it listen on the address in the variable HOST and the port in the variable PORT, which is ${recommended_port} here.`
  if (facts.ports.length > 0 && facts.ports.every(({ endpoints, loopback_only }) => endpoints.length === 0 && loopback_only))
    return new BuildFailure(
      'port_not_detected',
      `The app listens on 127.0.0.1 alone (port ${names}), which cannot be reached from outside of its container.`,
      `Let it listen on 0.0.0.0, the address in the variable HOST, and on the port in the variable PORT, which is ${recommended_port} here.`,
    )
  if (facts.ports.length > 0)
    return new BuildFailure(
      'port_not_detected',
      `The app listens on port ${names}, but did not answer HTTP over IPv4 there within ${seconds} s.`,
      `${wayOut} An app that serves HTTPS, another protocol or IPv6 alone cannot be reached.`,
    )
  return new BuildFailure(
    'port_not_detected',
    `The app did not listen on port ${recommended_port} within ${seconds} s.`,
    `${wayOut} If it is a worker without HTTP, it cannot be deployed here.`,
  )
}

function endedEarly({ command }: Instance, exit: Exit, duration_ms: number): BuildFailure {
  if (exit.out_of_memory)
    return new BuildFailure(
      'out_of_memory',
      'The app ran out of memory while it started.',
      'Raise the memory limit in the project’s settings, or find what needs so much.',
    )
  return new CommandFailure(
    'start_failed',
    `The app, \`${command}\`, ended while it started, with ${exit.signal ? `signal ${exit.signal}` : `exit code ${exit.code ?? 'unknown'}`} after ${durationText(duration_ms)}.`,
    'A web app runs until it is stopped: check what its start command does.',
  )
}

/** The status of GET /, or undefined when nothing answered. Redirects are not followed, the body is not read. */
function ask({ host, port }: Endpoint, timeout: number, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const question = request(
      {
        host,
        port,
        path: '/',
        agent: false,
        timeout,
        signal,
        headers: { host: `127.0.0.1:${port}`, 'user-agent': 'Homeport-Health-Check', connection: 'close' },
      },
      (answer) => {
        resolve(answer.statusCode)
        answer.destroy()
      },
    )
    question.on('timeout', () => question.destroy())
    question.on('error', () => resolve(undefined))
    question.end()
  })
}
