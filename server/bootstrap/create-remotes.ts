import type { Authenticator } from '../features/authenticator.ts'
import { createRemoteTokenStore } from '../features/remote-tokens.ts'
import type { Clock } from '../lib/clock.ts'
import type { LanAccess } from '../network/lan.ts'
import type { PlatformOptions } from '../options.ts'
import { createRemoteClient } from '../remotes/remote-client.ts'
import type { Sealer } from '../store/sealer.ts'
import type { PeriodicJobs } from '../maintenance/periodic-jobs.ts'

interface PlatformRemotesOptions {
  options: Pick<PlatformOptions, 'hostnames'>
  /** `urls.api` is set once the API listens. */
  urls: { api: string }
  sealer: Sealer
  encryption: 'keychain' | 'file_key'
  lan(): LanAccess | undefined
  authenticator: Authenticator
  rounds: Pick<PeriodicJobs, 'add'>
  clock: Clock
}

/** Creates the client for other instances. The client recognizes this instance by the names that it answers to. */
export function createPlatformRemotes({ options, urls, sealer, encryption, lan, authenticator, rounds, clock }: PlatformRemotesOptions) {
  const remoteTokens = createRemoteTokenStore({ sealer, encryption })
  rounds.add('remote_tokens', () => remoteTokens.deleteInactive(authenticator.isCredentialActive))
  const isOwn = (url: URL): boolean => {
    const own = new URL(urls.api)
    const isHere = url.hostname === 'localhost' || url.hostname.endsWith('.localhost') || url.hostname.startsWith('127.') || url.hostname === '[::1]'
    if (url.host === own.host || (isHere && effectivePort(url) === effectivePort(own))) return true
    return [...options.hostnames, ...(lan()?.hosts() ?? [])].some((name) => [url.host, url.hostname].includes(name.toLowerCase()))
  }
  return { remotes: createRemoteClient({ isOwn, clock }), remoteTokens }
}

const effectivePort = (url: URL) => (url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port)
