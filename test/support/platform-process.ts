import type { RegistrarChoice } from '../../server/optional/registrar/index.ts'
import { type StripeOptions, readOptions } from '../../server/options.ts'
/**
 * A whole platform in its own process, so that a test and the platform never share an event loop. Started by `startTestPlatform` with its options in
 * the first argument. It answers calls over Node's IPC channel and ends with its parent.
 */
import { openSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PostgresVersion } from '../../server/contract/postgres-versions.ts'
import { startPlatform } from '../../server/index.ts'
import { createLog } from '../../server/lib/log.ts'
import type { PlatformHost } from '../../server/platform.ts'
import { instanceIdOf, createDockerView } from './docker.ts'
import { chromiumPath } from './requirements.ts'
import { createTestClock } from './test-clock.ts'

export interface PlatformSettings {
  runtime: 'process' | 'docker' | 'swarm'
  data_dir: string
  port?: number
  edge_port?: number
  /** Where it listens; by default on loopback. */
  host?: string
  /** Edge workers, which have the clock of the system. */
  edge_workers?: number
  /** Whether screenshots are taken, with this machine's Chromium. */
  screenshots?: boolean
  /** Replaces this machine's network addresses, with some of 127.0.0.0/8, which Linux accepts completely. */
  lan_addresses?: string[]
  /** A payment processor, such as `startStripe().options`. */
  stripe?: StripeOptions
  /** The registrar, such as `startPorkbun().options`; otherwise the local registrar. */
  registrar?: RegistrarChoice
  /** A mail server; without one nothing is sent. */
  smtp_url?: string
  /** Addresses where a Docker engine is looked for, such as that of `createEngineGate`. */
  docker_candidates?: string[]
  /** The engines of the nodes of a swarm, such as `swarm.node_socket`. */
  node_socket?: string
  /** The registry of the swarm. */
  registry?: string
  /** The version of new databases, in place of the current one. */
  database_version?: PostgresVersion
  /** The initial offset of the platform's clock from the system's. */
  ahead_ms?: number
  /** URL of a module whose export `host` is a `PlatformHost`, for values that cannot be serialized, such as a screenshotter or a keychain. */
  host_module?: string
}

const settings = JSON.parse(process.argv[2] ?? '') as PlatformSettings & { log_file: string; is_temporary: boolean; keeps_log: boolean }
const { data_dir, log_file } = settings
const logFile = openSync(log_file, 'a')
const clock = createTestClock()
if (settings.ahead_ms) await clock.advance(settings.ahead_ms)
let lanAddresses = settings.lan_addresses

// Objects with functions, such as a screenshotter or a keychain, come from a module, because functions cannot be sent to another process.
const host = settings.host_module === undefined ? {} : ((await import(settings.host_module)) as { host: PlatformHost }).host

const platform = await startPlatform(
  {
    ...readOptions({
      data: data_dir,
      port: String(settings.port ?? 0),
      'edge-port': String(settings.edge_port ?? 0),
      runtime: settings.runtime,
      ...(settings.host && { host: settings.host }),
    }),
    chromium: settings.screenshots ? (chromiumPath ?? 'auto') : 'off',
    stripe: settings.stripe ?? null,
    registrar: settings.registrar ?? { name: 'local' },
    smtp_url: settings.smtp_url ?? null,
    registry: settings.registry ?? null,
    // In the process of the platform, whose clock the tests move.
    edge_workers: settings.edge_workers ?? 0,
  },
  {
    log: createLog((line) => void writeSync(logFile, `${line}\n`)),
    // Never uses this machine's hosts file and trust stores.
    names: { hosts_path: join(data_dir, 'hosts'), root: join(data_dir, 'system'), home: join(data_dir, 'home') },
    clock,
    ...(lanAddresses === undefined ? {} : { lan_addresses: () => lanAddresses ?? [] }),
    ...(settings.docker_candidates === undefined ? {} : { docker_candidates: settings.docker_candidates }),
    ...(settings.node_socket === undefined ? {} : { node_socket: settings.node_socket }),
    ...(settings.database_version === undefined ? {} : { database_version: settings.database_version }),
    ...host,
  },
)

const calls = {
  signInUrl: () => platform.signInUrl(),
  advance: (ms: number) => clock.advance(ms),
  jump: (ms: number) => clock.jump(ms),
  now: () => clock.now(),
  setLanAddresses: (addresses: string[]) => void (lanAddresses = addresses),
  resync: () => platform.resync(),
  stop: () => platform.stop(),
}
export type PlatformCalls = typeof calls

let isStopped = false
process.on('message', ({ id, name, args }: { id: number; name: keyof PlatformCalls; args: never[] }) => {
  void (async () => {
    try {
      const call: (...args: never[]) => unknown = calls[name]
      process.send?.({ id, value: await call(...args) })
    } catch (error) {
      process.send?.({ id, error: String(error) })
    }
    if (name !== 'stop') return
    isStopped = true
    process.disconnect()
  })()
})
process.on('disconnect', () => void end().finally(() => process.exit()))
// Ctrl-C reaches the whole process group. This process ends after the runner has cleaned up and exited.
process.on('SIGINT', () => {})

async function end(): Promise<void> {
  if (isStopped || !settings.is_temporary) return platform.stop()
  const owner = await removeEverything()
  await platform.stop()
  if (settings.runtime === 'docker') await createDockerView(instanceIdOf(owner)).removeAll()
  for (const folder of [data_dir, ...(settings.keeps_log ? [] : [dirname(log_file)])]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Removes all accounts and projects, so that no app keeps running. Returns the id of the instance owner. */
async function removeEverything(): Promise<string> {
  const ask = async <Body>(method: string, path: string): Promise<Body> => {
    const answer = await fetch(platform.api_url + path, { method, headers: { authorization: `Bearer ${platform.instance.token}` } })
    const text = await answer.text()
    return (text === '' ? {} : JSON.parse(text)) as Body
  }
  const { users } = await ask<{ users: { id: string; email: string; is_instance_owner: boolean }[] }>('GET', '/instance/users')
  for (const user of users) if (!user.is_instance_owner) await ask('DELETE', `/instance/users/${encodeURIComponent(user.email)}`)
  const { projects } = await ask<{ projects: { slug: string }[] }>('GET', '/v1/projects?limit=100')
  for (const { slug } of projects) await ask('DELETE', `/v1/projects/${slug}`)
  return users.find((user) => user.is_instance_owner)?.id ?? ''
}

const { api_url, edge_url, dashboard_url, version, notices, instance } = platform
process.send?.({ ready: { api_url, edge_url, dashboard_url, version, notices, instance } })
