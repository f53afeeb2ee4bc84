import { hkdfSync } from 'node:crypto'
import { type RuntimeName, runtimeNames, runtimes as traits } from '../contract/runtimes.ts'
import { findDockerHostAddress } from '../runtime/docker/host-address.ts'
import { createTraceReceiver } from '../tracing/trace-receiver.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformRuntimes } from './start-runtimes.ts'

/** Creates the receiver of traces, which listens once an app is deployed. */
export async function createPlatformTraceReceiver(context: PlatformContext, { docker }: PlatformRuntimes) {
  const { data_dir, store, masterKey, clock, log, identity, onClose } = context
  const key = new Uint8Array(hkdfSync('sha256', await masterKey.read(), '', 'otlp-environment-tokens', 32))
  const findHostAddress = async (runtime: RuntimeName, isNeeded: boolean) =>
    traits[runtime].uses_host_network ? { host: '127.0.0.1', bind: null } : findDockerHostAddress(docker, isNeeded)
  const { instance_id } = identity
  const receiver = createTraceReceiver({ store, key, clock, log, data_dir, instance_id, findHostAddress, runtimes: runtimeNames })
  onClose(() => receiver.close())
  return receiver
}
