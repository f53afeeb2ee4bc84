import { parsePublicKey } from '../../main/update-signature.ts'

/** What the person who builds says by variables. */

/** Where the desktop looks for updates, if anywhere. Throws for an address that anybody between could answer. */
export function readUpdateFeed(env: NodeJS.ProcessEnv): string | undefined {
  const url = env.HOMEPORT_UPDATE_URL
  if (!url) return undefined
  const { protocol, hostname, username } = new URL(url)
  const isLoopback = hostname === '127.0.0.1' || hostname === 'localhost'
  if (username !== '' || !(protocol === 'https:' || (protocol === 'http:' && isLoopback)))
    throw new Error('HOMEPORT_UPDATE_URL is an https address without a name or password in it.')
  return url
}

/** With which the feed of Linux is signed, if anywhere. Throws for what could never prove anything. */
export function readUpdateKey(env: NodeJS.ProcessEnv): string | undefined {
  const key = env.HOMEPORT_UPDATE_KEY
  if (!key) return undefined
  try {
    parsePublicKey(key)
  } catch {
    throw new Error('HOMEPORT_UPDATE_KEY is the public key that `node resources/package/sign-updates.ts new-key FILE` printed.')
  }
  return key
}

/** Whether Apple's notary can be asked: by an API key, an account, or a profile in the keychain. */
export function hasNotaryCredentials(env: NodeJS.ProcessEnv): boolean {
  const has = (...names: string[]) => names.every((name) => env[name])
  return (
    has('APPLE_API_KEY', 'APPLE_API_KEY_ID', 'APPLE_API_ISSUER') ||
    has('APPLE_ID', 'APPLE_APP_SPECIFIC_PASSWORD', 'APPLE_TEAM_ID') ||
    has('APPLE_KEYCHAIN_PROFILE')
  )
}

/**
 * The rights of the desktop's own process. Without a signature of Apple's its parts have no team in common, and macOS would let none of
 * them load the other: library validation has to be off then.
 */
export const selectEntitlements = (env: NodeJS.ProcessEnv): string =>
  `resources/package/entitlements.mac${hasNotaryCredentials(env) ? '' : '.inherit'}.plist`
