import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Environment } from '../lib/environment.ts'
import type { Log } from '../lib/log.ts'
import { createCertificateAuthority, replacementTime, type CertificateAuthority, type AuthorityStore } from './certificate-authority.ts'
import { checkNames, resolveBySystem } from './name-checks.ts'
import { createHostsFileSync } from './hosts-file-sync.ts'
import type { LocalHttps } from './local-https.ts'
import { createProgramRunner } from './run-program.ts'
import { createTrustStoreManager } from './trust-store-manager.ts'
import { findTrustStores } from './trust-stores.ts'

export type { LocalHttps } from './local-https.ts'

export interface LocalHttpsOptions {
  store: AuthorityStore
  clock: Clock
  log: Log
  /** The machine's name, as people know it. */
  machine: string
  instance: string
  /** `root`: the root of the system's folders, if it is not `/`. */
  system: { data_dir: string; home: string; hosts_path: string; environment: Environment; root?: string }
  /** Every local hostname of this instance, in a stable order. */
  names(): Promise<string[]>
  isHostsFileEnabled(): boolean
  https(): { url: string | null; fell_back: boolean }
}

export interface LocalHttpsService extends LocalHttps {
  /** The identity for a TLS handshake. */
  identityFor: CertificateAuthority['identityFor']
  /** When the authority is replaced by one that has to be trusted again, in milliseconds since 1970; undefined before it is needed. */
  findAuthorityReplacement(): Promise<number | undefined>
  /** Called when hostnames or settings may have changed. */
  scheduleHostsFileSync(): void
  close(): Promise<void>
}

export function createLocalHttps(options: LocalHttpsOptions): LocalHttpsService {
  const { platform } = process
  const { system } = options
  const certificateAuthority = createCertificateAuthority(options)
  const run = createProgramRunner({ ...system.environment, HOME: system.home })
  const trust = createTrustStoreManager({
    certificateAuthority,
    platform,
    file: join(system.data_dir, 'authority.crt'),
    stores: () => findTrustStores({ platform, home: system.home, root: system.root ?? '/', run }),
  })
  const hostsFileSync = createHostsFileSync({
    path: system.hosts_path,
    instance: options.instance,
    data_dir: system.data_dir,
    names: options.names,
    isEnabled: options.isHostsFileEnabled,
    clock: options.clock,
    log: options.log,
  })

  const https: LocalHttps['getHttpsStatus'] = async () => {
    const authority = await certificateAuthority.current()
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
      trust: await trust.listStatuses(),
    }
  }

  return {
    identityFor: (host) => certificateAuthority.identityFor(host),
    async findAuthorityReplacement() {
      const authority = await certificateAuthority.current()
      return authority && replacementTime(authority)
    },
    getHttpsStatus: https,
    trustAuthority: () => trust.add(),
    removeAuthority: () => trust.remove(),
    getHostsFileStatus: () => hostsFileSync.status(),
    applyHostsFileSetting: () => hostsFileSync.sync(),
    async runChecks() {
      const facts = {
        https: await https(),
        https_fell_back: options.https().fell_back,
        hosts_file: await hostsFileSync.status(),
        is_hosts_file_enabled: options.isHostsFileEnabled(),
        names: await options.names(),
        own_addresses: Object.values(networkInterfaces()).flatMap((list) => list?.map((entry) => entry.address) ?? []),
        platform,
      }
      return checkNames(facts, resolveBySystem, options.clock)
    },
    scheduleHostsFileSync: () => hostsFileSync.scheduleSync(),
    close: () => hostsFileSync.close(),
  }
}
