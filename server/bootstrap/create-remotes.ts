import type { Authenticator } from '../features/authenticator.ts'
import { createRemoteTokenStore } from '../features/remote-tokens.ts'
import { createRemoteClient } from '../remotes/remote-client.ts'
import type { PeriodicJobs } from '../maintenance/periodic-jobs.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformLan } from './create-lan.ts'

interface RemoteParts {
  lan: Pick<PlatformLan, 'hosts'>
  authenticator: Authenticator
  jobs: Pick<PeriodicJobs, 'add'>
}

/** Creates the client for other instances. The client recognizes this instance by the names that it answers to. */
export function createPlatformRemotes({ options, urls, sealer, masterKey, clock }: PlatformContext, { lan, authenticator, jobs }: RemoteParts) {
  const remoteTokens = createRemoteTokenStore({ sealer, encryption: masterKey.kind })
  jobs.add('remote_tokens', () => remoteTokens.deleteInactive(authenticator.isCredentialActive))
  const isOwn = (url: URL): boolean => {
    const own = new URL(urls.api)
    const isHere = url.hostname === 'localhost' || url.hostname.endsWith('.localhost') || url.hostname.startsWith('127.') || url.hostname === '[::1]'
    if (url.host === own.host || (isHere && effectivePort(url) === effectivePort(own))) return true
    return [...options.hostnames, ...lan.hosts()].some((name) => [url.host, url.hostname].includes(name.toLowerCase()))
  }
  return { remotes: createRemoteClient({ isOwn, clock }), remoteTokens }
}

const effectivePort = (url: URL) => (url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port)
