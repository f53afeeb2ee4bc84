import { type RuntimeName, runtimeNames, runtimes as traits } from '../contract/runtimes.ts'
import { createMailCatcher } from '../mail-catcher/mail-catcher.ts'
import { findDockerHostAddress } from '../runtime/docker/host-address.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformRuntimes } from './start-runtimes.ts'

/** Creates the mail catcher, which listens once a project uses it. */
export function createPlatformMailCatcher({ data_dir, store, sealer, clock, log, identity, onClose }: PlatformContext, { docker }: PlatformRuntimes) {
  const findHostAddress = async (runtime: RuntimeName, isNeeded: boolean) =>
    traits[runtime].uses_host_network ? { host: '127.0.0.1', bind: null } : findDockerHostAddress(docker, isNeeded)
  const { instance_id } = identity
  const catcher = createMailCatcher({ db: store.db, sealer, clock, log, data_dir, instance_id, findHostAddress, runtimes: runtimeNames })
  onClose(() => catcher.close())
  return catcher
}
