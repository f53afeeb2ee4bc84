import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Environment } from '../lib/environment.ts'
import type { Log } from '../lib/log.ts'
import { createAuthorityDesk, type AuthorityDesk, type AuthorityStore } from './authority.ts'
import { checkNames, systemResolve } from './checks.ts'
import { createHostsFile } from './hosts-file.ts'
import type { Names } from './names.ts'
import { createRun } from './run.ts'
import { createTrustBook } from './trust.ts'
import { findTrustStores } from './trust-stores.ts'

export type { Names } from './names.ts'

export interface NamesOptions {
  store: AuthorityStore
  clock: Clock
  log: Log
  /** What people call this machine. */
  machine: string
  instance: string
  /** `root`: where the system's folders begin, when that is not `/`. */
  place: { data_dir: string; home: string; hosts_path: string; environment: Environment; root?: string }
  /** Every name of this instance that has to be found, in a steady order. */
  names(): Promise<string[]>
  isHostsFileWanted(): boolean
  https(): { url: string | null; fell_back: boolean }
}

export interface NamesDesk extends Names {
  /** What a TLS handshake shows. */
  identityFor: AuthorityDesk['identityFor']
  /** Names or settings may have changed. */
  nudge(): void
  close(): Promise<void>
}

export function createNames(options: NamesOptions): NamesDesk {
  const { platform } = process
  const { place } = options
  const desk = createAuthorityDesk(options)
  const run = createRun({ ...place.environment, HOME: place.home })
  const trust = createTrustBook({
    desk,
    platform,
    file: join(place.data_dir, 'authority.crt'),
    stores: () => findTrustStores({ platform, home: place.home, root: place.root ?? '/', run }),
  })
  const hosts = createHostsFile({
    path: place.hosts_path,
    instance: options.instance,
    data_dir: place.data_dir,
    names: options.names,
    isWanted: options.isHostsFileWanted,
    clock: options.clock,
    log: options.log,
  })

  const https: Names['https'] = async () => {
    const authority = await desk.current()
    return {
      edge_https_url: options.https().url,
      authority: authority
        ? {
            subject: authority.subject,
            fingerprint_sha256: authority.fingerprint_sha256,
            created_at: authority.created_at,
            expires_at: new Date(authority.expires_at).toISOString(),
          }
        : null,
      trust: await trust.look(),
    }
  }

  return {
    identityFor: (host) => desk.identityFor(host),
    https,
    trust: () => trust.add(),
    remove: () => trust.remove(),
    hostsFile: () => hosts.status(),
    followSetting: () => hosts.sync(),
    async checks() {
      const facts = {
        https: await https(),
        https_fell_back: options.https().fell_back,
        hosts_file: await hosts.status(),
        is_hosts_file_wanted: options.isHostsFileWanted(),
        names: await options.names(),
        own_addresses: Object.values(networkInterfaces()).flatMap((list) => list?.map((one) => one.address) ?? []),
        platform,
      }
      return checkNames(facts, systemResolve, options.clock)
    },
    nudge: () => hosts.nudge(),
    close: () => hosts.close(),
  }
}
