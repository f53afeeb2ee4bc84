import { request } from 'node:http'
import { limits } from '../contract/limits.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import { durationText } from '../runtime/build-failures.ts'
import { raceAbort } from '../runtime/signals.ts'
import { BuildFailure, CommandFailure, type CheckResult, type Exit, type Instance } from '../runtime/runtime.ts'

export interface HealthCheck {
  instance: Instance
  /** Resolves when the instance ends before it answers. */
  ended: Promise<Exit>
  signal: AbortSignal
  clock: Clock
  timeout_ms?: number
  /** Called once when it listens on another port than the one it was given. */
  note(line: string): void
}

/** An app that listens elsewhere by now will not change its mind: no need to wait out the whole minute. */
const elsewhere_ms = 8_000

/**
 * Resolves at the first answer to `GET /` with a status under 500, asked from outside of the app; where the image has a HEALTHCHECK,
 * once anything answers and that check passes. Throws a failure that
 * says what it did instead: ended, listened elsewhere, answered with an error, or nothing at all.
 */
export async function untilHealthy(check: HealthCheck): Promise<void> {
  const { instance, clock } = check
  const timeout = check.timeout_ms ?? limits.health_check_ms
  const begun = clock.monotonic()
  let exit: Exit | undefined
  void check.ended.then((value) => {
    exit = value
  })
  let lastStatus: number | undefined
  let lastCheck: CheckResult | undefined
  let elsewhere: { port: number; loopback_only: boolean } | undefined

  for (;;) {
    check.signal.throwIfAborted()
    if (exit) throw endedEarly(exit, clock.monotonic() - begun)
    // A container that just ended takes connections into nothing: its end is quicker news than a timeout.
    const status = await Promise.race([ask(instance, Math.min(10_000, timeout), check.signal), check.ended.then(() => undefined)])
    if (exit) continue
    if (status !== undefined && instance.ownCheck) {
      // What answers is asked no more than that: the Dockerfile says itself when its app is well.
      lastCheck = await raceAbort(Promise.race([instance.ownCheck(), check.ended.then(() => undefined)]), check.signal)
      if (exit) continue
      if (lastCheck?.passed) return
    } else if (status !== undefined && status < 500) return
    if (status !== undefined) lastStatus = status
    const spent = clock.monotonic() - begun
    if (status === undefined && spent > 1_000) {
      const ports = await instance.listeningPorts()
      const right = ports.find((found) => found.port === instance.port)
      const found = right ? (right.loopback_only ? right : undefined) : (ports.find((other) => !other.loopback_only) ?? ports[0])
      if (found && !elsewhere) check.note(elsewhereSentence(found, instance.port))
      elsewhere = found
    }
    if (spent > timeout || (elsewhere && spent > elsewhere_ms)) throw unhealthy({ instance, lastStatus, lastCheck, elsewhere, timeout })
    // Often at first, and never much later than it could have been: a visitor may wait for this.
    const wait = Math.min(500, Math.max(5, spent / 40))
    await Promise.race([sleep(clock, wait, check.signal), check.ended])
  }
}

/** What a process of this machine listens on besides loopback, open to the network whatever the edge does; undefined: the system does not tell. */
export async function widePortsOf(instance: Instance): Promise<number[] | undefined> {
  if (instance.on_machine !== true) return []
  const ports = await instance.listeningPorts()
  return ports.length === 0 ? undefined : ports.filter(({ loopback_only }) => !loopback_only).map(({ port }) => port)
}

export const wideWarning = (ports: number[]): string =>
  `Warning: the app listens on all addresses of this machine (port ${ports.join(', ')}), so other machines on your network may reach it. Let it listen on the address in the variable HOST, which is 127.0.0.1 here.`

function elsewhereSentence(found: { port: number; loopback_only: boolean }, expected: number): string {
  return found.port === expected
    ? `listening on 127.0.0.1:${expected} alone, expected 0.0.0.0:${expected}`
    : `listening on ${found.port}, expected ${expected}`
}

function unhealthy(facts: {
  instance: Instance
  lastStatus: number | undefined
  lastCheck: CheckResult | undefined
  elsewhere: { port: number; loopback_only: boolean } | undefined
  timeout: number
}): BuildFailure {
  const { port } = facts.instance
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
  if (facts.elsewhere)
    return new BuildFailure(
      'port_not_detected',
      `The app is ${elsewhereSentence(facts.elsewhere, port)}.`,
      facts.elsewhere.port === port
        ? 'Let it listen on 0.0.0.0 (the variable HOST says so).'
        : `Let it listen on the port in the variable PORT (process.env.PORT), which is ${port} here.`,
    )
  return new BuildFailure(
    'port_not_detected',
    `The app did not listen on port ${port} within ${Math.round(facts.timeout / 1000)} s.`,
    'Let it listen on the address in the variable HOST and the port in the variable PORT. If it is a worker without HTTP, it cannot be deployed here.',
  )
}

function endedEarly(exit: Exit, duration_ms: number): BuildFailure {
  if (exit.out_of_memory)
    return new BuildFailure(
      'out_of_memory',
      'The app ran out of memory while it started.',
      'Raise the memory limit in the project’s settings, or find what needs so much.',
    )
  return new CommandFailure(
    'start_failed',
    `The app ended while it started, with ${exit.signal ? `signal ${exit.signal}` : `exit code ${exit.code ?? 'unknown'}`} after ${durationText(duration_ms)}.`,
    'A web app runs until it is stopped: check what its start command does.',
  )
}

/** The status of GET /, or undefined when nothing answered. Redirects are not followed, the body is not read. */
function ask(instance: Instance, timeout: number, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const question = request(
      {
        host: instance.host,
        port: instance.port,
        path: '/',
        agent: false,
        timeout,
        signal,
        headers: { host: `127.0.0.1:${instance.port}`, 'user-agent': 'Homeport-Health-Check', connection: 'close' },
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
