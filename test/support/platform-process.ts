/**
 * A whole platform in a process of its own, so that a test and the platform under test never share an event loop. Started by
 * `startTestPlatform` with its options in the first argument; answers calls by Node's IPC channel and ends with its parent.
 */
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { startPlatform } from '../../server/index.ts'
import { createLog } from '../../server/lib/log.ts'
import { readOptions } from '../../server/options.ts'
import type { PlatformHost } from '../../server/platform.ts'
import type { PlatformSettings } from './platform.ts'
import { chromiumPath } from './requirements.ts'
import { createTestClock } from './test-clock.ts'

const settings = JSON.parse(process.argv[2] ?? '') as PlatformSettings & { log_file: string }
const { data_dir } = settings
const logFile = openSync(settings.log_file, 'a')
const clock = createTestClock()
if (settings.ahead_ms) await clock.advance(settings.ahead_ms)
let lanAddresses = settings.lan_addresses

// What only a test brings (a camera, a keychain) is a module that it names: functions don't cross the border of a process.
const host = settings.host_module === undefined ? {} : ((await import(settings.host_module)) as { host: PlatformHost }).host

const platform = await startPlatform(
  {
    ...readOptions({ data: data_dir, port: String(settings.port ?? 0), 'edge-port': String(settings.edge_port ?? 0), runtime: settings.runtime }),
    chromium: settings.screenshots ? (chromiumPath ?? 'auto') : 'off',
    stripe: settings.stripe ?? null,
    registrar: settings.registrar ?? { name: 'local' },
    smtp_url: settings.smtp_url ?? null,
  },
  {
    log: createLog((line) => void writeSync(logFile, `${line}\n`)),
    // Never the hosts file and the certificates of this machine.
    names: { hosts_path: join(data_dir, 'hosts'), root: join(data_dir, 'system'), home: join(data_dir, 'home') },
    clock,
    ...(lanAddresses === undefined ? {} : { lan_addresses: () => lanAddresses ?? [] }),
    ...(settings.docker_candidates === undefined ? {} : { docker_candidates: settings.docker_candidates }),
    ...host,
  },
)

const calls = {
  signInUrl: () => platform.signInUrl(),
  advance: (ms: number) => clock.advance(ms),
  setLanAddresses: (addresses: string[]) => void (lanAddresses = addresses),
  resync: () => platform.resync(),
  stop: () => platform.stop(),
}
export type PlatformCalls = typeof calls

process.on('message', ({ id, name, args }: { id: number; name: keyof PlatformCalls; args: never[] }) => {
  void (async () => {
    try {
      const call: (...args: never[]) => unknown = calls[name]
      process.send?.({ id, value: await call(...args) })
    } catch (error) {
      process.send?.({ id, error: String(error) })
    }
    if (name === 'stop') process.disconnect()
  })()
})
process.on('disconnect', () => void platform.stop().finally(() => process.exit()))
const { api_url, edge_url, dashboard_url, version, notices, instance } = platform
process.send?.({ ready: { api_url, edge_url, dashboard_url, version, notices, instance } })
