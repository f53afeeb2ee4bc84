import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:https'
import { type AddressInfo, isIP } from 'node:net'
import { basename, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryPort } from '../../lib/try-port.ts'
import type { Route, StatusPage } from '../edge.ts'
import type { WorkerEvent, WorkerState } from '../workers/protocol.ts'
import { tryListen } from '../listen.ts'
import { createWorkerEdge } from '../workers/worker-edge.ts'
import { createCacheLease } from './cache-lease.ts'
import { readMessages, writeMessage } from './messages.ts'
import { createNodeListeners } from './node-listeners.ts'
import {
  epochHeader,
  renewalInterval_ms,
  upgradeProtocol,
  type NodeCommand,
  type NodeEvent,
  type NodeListeners,
  type NodeSettings,
  type TcpAddress,
} from './protocol.ts'
import { createReceivedSites } from './received-sites.ts'
import { createStateFile } from './state-file.ts'
import { createSuccession } from './succession.ts'

interface KeptState {
  /** Of the latest platform. */
  epoch?: number
  listeners: NodeListeners | undefined
  state: WorkerState | undefined
  credentials: [host: string, credentials: { certificate: string; key: string }][]
}

const cleanUpInterval_ms = 300_000
/** Requests get this long to end when the program is stopped. */
const grace_ms = 5_000
/** Invalidations that are remembered for the platform while it is away. */
const maxMissed = 10_000
const connectTimeout_ms = 2_000
const portRetry_ms = 200
const maxKeptCredentials = 10_000

/** The page of a name that only the platform could wake or knows. */
const awayPage: StatusPage = { kind: 'page', page: 'control_plane_away', project_id: '', project_name: '', deployment_id: null, dashboard_url: '' }

/**
 * The edge on a node of a cluster that is not that of the platform. It follows the platform as a worker does, and continues without it: with the routes, sites
 * and certificates that it has on its disk, and without cached responses, because it would miss a purge. `onOutdated` is called when it has to be started again.
 */
export async function startNodeEdge({ host: ownHost, port: ownPort, directory, cert, key, ca, state_key }: NodeSettings, onOutdated: () => void) {
  await mkdir(join(directory, 'sites'), { recursive: true })
  const sites = createReceivedSites(join(directory, 'sites'))
  const succession = createSuccession(join(directory, 'current'))
  const file = createStateFile(join(directory, 'state'), Buffer.from(state_key, 'base64'))
  const credentials = new Map<string, { certificate: string; key: string }>()
  /** Questions to the platform that it has not answered. */
  const askedCredentials = new Map<number, string>()
  const askedHosts = new Set<string>()
  /** By project. */
  const askedWakes = new Map<string, Extract<WorkerEvent, { type: 'wake' }>>()
  let missed: WorkerEvent[] = []
  let channel: Duplex | undefined
  let epoch = 0
  const lease = createCacheLease()
  let problem: string | null = null
  let isUnsaved = false
  let saving: Promise<void> | undefined
  const closed = Promise.withResolvers<void>()

  const send = (event: NodeEvent): void => {
    if (channel) writeMessage(channel, event)
  }
  const renew = (): void => {
    if (channel) send({ type: 'renew_lease', id: lease.ask() })
  }
  const worker = createWorkerEdge({
    send(event) {
      if (event.type === 'get_credentials') askedCredentials.set(event.id, nameOf(event.host))
      if (event.type === 'resolve_host') askedHosts.add(event.host)
      if (event.type === 'wake') askedWakes.set(event.route.project_id, event)
      if (!channel) answerAlone(event)
      // What is done is also done after a restart.
      else if (event.type === 'result' && saving) void saving.then(() => send(event))
      else send(event.type === 'get_credentials' ? { ...event, host: nameOf(event.host) } : event)
    },
    canReport: () => channel !== undefined,
    isCacheCurrent: lease.isHeld,
    onClosed: closed.resolve,
  })

  const answerCredentials = (id: number, host: string): void => {
    askedCredentials.delete(id)
    const known = credentials.get(host)
    if (known) worker.handle({ type: 'credentials', id, ...known })
    else worker.handle({ type: 'no_credentials', id, message: 'The platform does not answer.', is_unknown_host: false })
  }
  const answerHost = (host: string): void => {
    askedHosts.delete(host)
    worker.handle({ type: 'host_resolved', host, page: awayPage })
  }

  /** What the platform would do, as far as it can be done without it. */
  function answerAlone(event: WorkerEvent): void {
    if (event.type === 'get_credentials') answerCredentials(event.id, nameOf(event.host))
    else if (event.type === 'resolve_host') answerHost(event.host)
    else if (event.type === 'wake') {
      const isWaking = (route: Route) => route.kind === 'asleep' && route.project_id === event.route.project_id
      for (const [host, route] of worker.getState()?.routes ?? [])
        if (isWaking(route)) worker.handle({ type: 'set_route', id: 0, host, route: awayPage, drain_ms: 0 })
    } else if (event.type === 'invalidated') missed = [...missed, event].slice(-maxMissed)
    else if (event.type === 'log') log(event.event, event.fields)
  }

  /** A site is known by its name to the platform, and by its folder here. */
  const localize = (route: Route): Route => (route.kind === 'static' ? { ...route, directory: sites.directoryOf(basename(route.directory)) } : route)
  const localizeState = (state: WorkerState): WorkerState => ({ ...state, routes: state.routes.map(([host, route]) => [host, localize(route)]) })

  const listeners = createNodeListeners({
    accept: worker.accept,
    onChange(found) {
      problem = found
      send({ type: 'listening', problem })
    },
  })

  const write = (state: WorkerState | undefined): Promise<void> => {
    const kept: KeptState = { epoch, listeners: listeners.get(), state, credentials: [...credentials].slice(-maxKeptCredentials) }
    return file.write(JSON.stringify(kept)).catch((error: unknown) => log('edge.state_not_saved', error))
  }
  const save = async (): Promise<void> => {
    while (isUnsaved) {
      isUnsaved = false
      await write(worker.getState())
    }
    saving = undefined
  }
  const scheduleSave = (): void => {
    isUnsaved = true
    saving ??= Promise.resolve().then(save)
  }

  function handle(command: NodeCommand): void {
    switch (command.type) {
      case 'listen':
        void listeners.set(command.listeners)
        return scheduleSave()
      case 'lease_renewed':
        return lease.renew(command.id)
      case 'try_addresses':
        return void findClosed(command.addresses).then((result) => send({ type: 'result', id: command.id, result }))
      case 'start':
        if (isOutdated(worker.getState(), command.state)) return void restartWith(command.state)
        worker.handle({ ...command, state: localizeState(command.state) })
        for (const event of missed.splice(0)) send(event)
        renew()
        return scheduleSave()
      case 'set_route':
        worker.handle({ ...command, route: localize(command.route) })
        return scheduleSave()
      case 'credentials': {
        const host = askedCredentials.get(command.id)
        askedCredentials.delete(command.id)
        if (host !== undefined && credentials.get(host)?.certificate !== command.certificate) {
          credentials.set(host, { certificate: command.certificate, key: command.key })
          scheduleSave()
        }
        return worker.handle(command)
      }
      case 'no_credentials':
        askedCredentials.delete(command.id)
        return worker.handle(command)
      case 'host_resolved':
        askedHosts.delete(command.host)
        return worker.handle(command)
      case 'connection':
      case 'close':
        // Of workers on the node of the platform.
        return
      default:
        worker.handle(command)
        if (savedCommands.has(command.type)) scheduleSave()
    }
  }

  async function restartWith(state: WorkerState): Promise<void> {
    await saving
    await write(state)
    onOutdated()
  }

  /** What the platform was asked on this connection is answered without it. */
  function disconnect(socket: Duplex): void {
    if (channel !== socket) return
    channel = undefined
    // The platform may lead the program that replaces this one by now.
    lease.end()
    socket.destroy()
    for (const [id, host] of askedCredentials) answerCredentials(id, host)
    for (const host of askedHosts) answerHost(host)
    for (const wake of askedWakes.values()) answerAlone(wake)
    askedWakes.clear()
  }

  function connect(socket: Duplex, head: Buffer, itsEpoch: number): void {
    if (itsEpoch < epoch) return void socket.end('HTTP/1.1 409 Conflict\r\nconnection: close\r\n\r\n')
    epoch = itsEpoch
    if (channel) disconnect(channel)
    channel = socket
    socket.on('error', () => {})
    socket.on('close', () => disconnect(socket))
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${upgradeProtocol}\r\n\r\n`)
    if (head.length > 0) socket.unshift(head)
    readMessages(socket, (message) => channel === socket && handle(message as NodeCommand))
    send({ type: 'listening', problem })
  }

  const resume = async (text: string): Promise<void> => {
    const { epoch: keptEpoch = 0, listeners: wanted, state, credentials: known } = JSON.parse(text) as KeptState
    epoch = keptEpoch
    for (const [host, one] of known) credentials.set(host, one)
    if (state) worker.handle({ type: 'start', state: localizeState(state) })
    if (wanted && state) await listeners.set(wanted)
  }
  const kept = await file.read()
  try {
    if (kept !== undefined) await resume(kept)
  } catch (error) {
    // Another version of this program has kept it. The platform sends everything again.
    log('edge.state_not_read', error)
  }

  const server = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' }, (incoming, outgoing) => {
    if (!sites.serve(incoming, outgoing)) outgoing.writeHead(404).end()
  })
  server.on('upgrade', (incoming, socket, head) => {
    if (incoming.headers.upgrade === upgradeProtocol) connect(socket, head, Number(incoming.headers[epochHeader] ?? 0))
    else socket.destroy()
  })
  // Versions before this one do not share their ports with the one that replaces them.
  for (let attempt = 1; (await tryListen(server, ownHost, ownPort, { isShared: true })) === undefined; attempt++) {
    if (attempt === 1) log('edge.waiting_for_port', `Port ${ownPort} is in use.`)
    await sleep(portRetry_ms)
  }
  await succession.announce()
  const renewing = setInterval(renew, renewalInterval_ms)
  const cleaning = setInterval(() => {
    const used = worker.getState()?.routes.flatMap(([, route]) => (route.kind === 'static' ? [basename(route.directory)] : []))
    void sites.removeUnused(new Set(used))
  }, cleanUpInterval_ms)

  return {
    port: (server.address() as AddressInfo).port,
    waitForNext: succession.waitForNext,
    async close() {
      clearInterval(renewing)
      clearInterval(cleaning)
      await saving
      channel?.destroy()
      server.close()
      await listeners.close()
      if (worker.getState()) worker.handle({ type: 'close', grace_ms })
      else closed.resolve()
      await closed.promise
    },
  }
}

async function findClosed(addresses: TcpAddress[]): Promise<TcpAddress[]> {
  const found = await Promise.all(addresses.map(async (one) => ({ one, state: await tryPort(one.host, one.port, connectTimeout_ms) })))
  return found.flatMap(({ one, state }) => (state === 'open' ? [] : [one]))
}

const savedCommands: ReadonlySet<NodeCommand['type']> = new Set([
  'remove_route',
  'settings',
  'https_port',
  'set_aliases',
  'set_caching',
  'set_challenges',
])

/** Whether an edge that runs cannot follow: these are settings of its server. */
const isOutdated = (known: WorkerState | undefined, { apps_domain, has_https }: WorkerState): boolean =>
  known !== undefined && (known.apps_domain !== apps_domain || known.has_https !== has_https)

const log = (event: string, cause: unknown): void => console.log(JSON.stringify({ event, cause: cause instanceof Error ? cause.message : cause }))

/** A client that sends no name gets the certificate of addresses, which is one for all. */
const nameOf = (host: string): string => (isIP(host) === 0 ? host : '127.0.0.1')
