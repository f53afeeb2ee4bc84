import { version } from '../contract/index.ts'
import type { RuntimeStatus } from '../contract/instance.ts'
import { createSignInCode } from '../features/authenticator.ts'
import { isoTime } from '../lib/clock.ts'
import { type InstanceFile, writeInstanceFile } from '../lib/instance-file.ts'
import type { PlatformContext } from './context.ts'

const signInLinkLifetime_ms = 24 * 3600_000

/** Writes `instance.json`, by which the command line finds this instance. The API listens by now. */
export async function writeInstance({ data_dir, store, identity, urls, clock, log }: PlatformContext, runtime: RuntimeStatus) {
  const signInUrl = async (): Promise<string> => {
    const { code } = await createSignInCode({ db: store.db, clock }, identity.owner.id, signInLinkLifetime_ms)
    return `${urls.api}/sign-in?code=${code}`
  }
  const instance: InstanceFile = {
    version,
    pid: process.pid,
    api_url: urls.api,
    edge_url: urls.edge,
    edge_https_url: urls.edge_https,
    dashboard_url: urls.dashboard,
    sign_in_url: await signInUrl(),
    token: identity.run_token,
    runtime: { name: runtime.name, version: runtime.version, reason: runtime.reason },
    started_at: isoTime(clock.now()),
  }
  writeInstanceFile(data_dir, instance)
  log.info('ready', { pid: process.pid, instance_id: identity.instance_id, api_url: urls.api, edge_url: urls.edge, runtime: runtime.name })
  return { instance, signInUrl }
}
