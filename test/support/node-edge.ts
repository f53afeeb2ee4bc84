/* The edge of another node of a cluster, a process of its own, and the platform that it follows. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeEndpoint } from '../../server/edge/nodes/node-link.ts'
import type { NodeSettings } from '../../server/edge/nodes/protocol.ts'
import { createStateFile, type StateFile } from '../../server/edge/nodes/state-file.ts'
import { createEdgeWorkers, type EdgeWorkers } from '../../server/edge/workers/edge-workers.ts'
import { findFreePort } from '../../server/lib/free-port.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createAuthorityCertificate, createLeafCertificate } from '../../server/tls/certificate.ts'
import { get, startApp } from './edge.ts'
import { buildProgram } from './programs.ts'
import { createTestAuthority } from './tls.ts'
import { until } from './until.ts'

type Options = Parameters<typeof createEdgeWorkers>[0]

const cleanups: (() => unknown)[] = []
/** Ends and removes what a test has started. */
export async function cleanUpNodes(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
}

export const host = 'app.localhost'
export const authority = createAuthorityCertificate({ machine: 'test', now: Date.now() })
const sites = createTestAuthority()

export const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-node-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface TestNode {
  endpoint: NodeEndpoint
  listeners: { address: string; port: number; https_port: number }
  process(): ChildProcess
  /** What it keeps on its disk. */
  state: StateFile
  /** Ends the program and starts it again on the same folder. */
  restart(): Promise<void>
  /** Starts the program beside the one that runs, which it replaces. Returns that one. */
  startNext(): ChildProcess
}

/** The program of a node. */
export async function startNode(program?: string): Promise<TestNode> {
  const folder = createFolder()
  const now = Date.now()
  const { certificate, key } = createLeafCertificate(authority, { host: 'homeport-edge', now })
  const client = createLeafCertificate(authority, { host: 'homeport', now, usage: 'client' })
  const port = await findFreePort()
  const settings: NodeSettings = {
    host: '127.0.0.1',
    port,
    directory: join(folder, 'state'),
    cert: certificate,
    key,
    ca: authority.certificate,
    state_key: Buffer.alloc(32, 7).toString('base64'),
  }
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
  const script = program ?? (await buildProgram('node-edge'))
  const spawn = () => fork(script, [join(folder, 'settings.json')], { env: {}, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  let child = spawn()
  const end = async (one: ChildProcess): Promise<void> => {
    const ended = once(one, 'exit')
    one.kill('SIGCONT')
    if (one.exitCode === null && one.kill('SIGKILL')) await ended
  }
  cleanups.push(() => end(child))
  return {
    endpoint: {
      node: 'two',
      epoch: 1,
      host: '127.0.0.1',
      port,
      tls: { ca: authority.certificate, cert: client.certificate, key: client.key, servername: 'homeport-edge' },
    },
    listeners: { address: '127.0.0.1', port: await findFreePort(), https_port: await findFreePort() },
    process: () => child,
    state: createStateFile(join(folder, 'state', 'state'), Buffer.from(settings.state_key, 'base64')),
    async restart() {
      await end(child)
      child = spawn()
    },
    startNext() {
      const before = child
      cleanups.push(() => end(before))
      child = spawn()
      return before
    },
  }
}

/** The edge of a platform with one worker. */
export async function startPlatformEdge(options: Partial<Options> = {}): Promise<EdgeWorkers> {
  const program = { node_path: process.execPath, script: await buildProgram('edge-worker'), env: {} }
  const edge = createEdgeWorkers({
    log: silentLog,
    program,
    workers: 1,
    cache: { directory: null, memory_bytes: () => 2 ** 24, disk_bytes: () => 0 },
    getTlsCredentials: (name) => sites.identityFor(name),
    ...options,
  })
  cleanups.push(() => edge.close())
  await edge.isRunning()
  return edge
}

export async function follow(edge: EdgeWorkers, node: TestNode) {
  const led = edge.addNode(node.endpoint, node.listeners)
  await until(() => (led.getStatus().is_connected ? true : undefined), { what: 'the node to follow' })
  return led
}

export async function startTestApp(answer: Parameters<typeof startApp>[0]) {
  const app = await startApp(answer)
  cleanups.push(() => app.close())
  return app
}

/** An app that counts its requests. */
export function startCounter(headers: Record<string, string> = {}) {
  let count = 0
  return startTestApp((incoming, response) => {
    incoming.resume()
    response.writeHead(200, headers)
    response.end(`answer ${++count}`)
  })
}

export const getAt = (node: TestNode, path = '/', name = host) => get(node.listeners.port, path, { host: name })
/** The answer of a node as soon as it listens. */
export const waitForAnswer = (node: TestNode, name = host) =>
  until(() => getAt(node, '/', name).catch(() => undefined), { what: 'the node to listen' })
export async function authorityOfSites(): Promise<string> {
  await sites.identityFor(host)
  return (await sites.current())?.certificate ?? ''
}

export function createSite(files: Record<string, string>): string {
  const directory = createFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  return directory
}
