import type { Authenticator } from '../features/authenticate.ts'
import { createRemoteTokens } from '../features/remote-tokens.ts'
import type { Clock } from '../lib/clock.ts'
import type { Lan } from '../lan/lan.ts'
import type { PlatformOptions } from '../options.ts'
import { createRemotes } from '../remote/remotes.ts'
import type { Sealer } from '../store/sealed.ts'
import type { Rounds } from '../upkeep/rounds.ts'

interface RemoteParts {
  options: Pick<PlatformOptions, 'names'>
  /** That of the API is known once it listens. */
  urls: { api: string }
  sealer: Sealer
  encryption: 'keychain' | 'file_key'
  lan(): Lan | undefined
  authenticator: Authenticator
  rounds: Pick<Rounds, 'add'>
  clock: Clock
}

/** Other instances, told apart from this very one by the names that it answers to. */
export function openRemotes({ options, urls, sealer, encryption, lan, authenticator, rounds, clock }: RemoteParts) {
  const remoteTokens = createRemoteTokens({ sealer, encryption })
  rounds.add('remote_tokens', () => remoteTokens.sweep(authenticator.credentialAlive))
  const isOwn = (url: URL): boolean => {
    const own = new URL(urls.api)
    const isHere = url.hostname === 'localhost' || url.hostname.endsWith('.localhost') || url.hostname.startsWith('127.') || url.hostname === '[::1]'
    if (url.host === own.host || (isHere && portOf(url) === portOf(own))) return true
    return [...options.names, ...(lan()?.hosts() ?? [])].some((name) => [url.host, url.hostname].includes(name.toLowerCase()))
  }
  return { remotes: createRemotes({ isOwn, clock }), remoteTokens }
}

const portOf = (url: URL) => (url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port)
