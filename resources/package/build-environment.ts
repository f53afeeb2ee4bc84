import { parsePublicKey } from '../../main/update-signature.ts'

/** Build settings from environment variables. */

/** The URL of the update feed, if any. Throws if the URL is not secure. */
export function readUpdateFeed(env: NodeJS.ProcessEnv): string | undefined {
  const url = env.HOMEPORT_UPDATE_URL
  if (!url) return undefined
  const { protocol, hostname, username } = new URL(url)
  const isLoopback = hostname === '127.0.0.1' || hostname === 'localhost'
  if (username !== '' || !(protocol === 'https:' || (protocol === 'http:' && isLoopback)))
    throw new Error('HOMEPORT_UPDATE_URL must be an https address without a user name or password.')
  return url
}

/** The public key for the update feed of Linux, if any. Throws if it is invalid. */
export function readUpdateKey(env: NodeJS.ProcessEnv): string | undefined {
  const key = env.HOMEPORT_UPDATE_KEY
  if (!key) return undefined
  try {
    parsePublicKey(key)
  } catch {
    throw new Error('HOMEPORT_UPDATE_KEY must be the public key printed by `node resources/package/sign-updates.ts new-key FILE`.')
  }
  return key
}

/** Whether there are credentials for Apple's notary service: an API key, an account, or a keychain profile. */
export function hasNotaryCredentials(env: NodeJS.ProcessEnv): boolean {
  const has = (...names: string[]) => names.every((name) => env[name])
  return (
    has('APPLE_API_KEY', 'APPLE_API_KEY_ID', 'APPLE_API_ISSUER') ||
    has('APPLE_ID', 'APPLE_APP_SPECIFIC_PASSWORD', 'APPLE_TEAM_ID') ||
    has('APPLE_KEYCHAIN_PROFILE')
  )
}

/**
 * The entitlements of the desktop process. Without an Apple signature its parts have no common team, so macOS would not let them load each other
 * unless library validation is disabled.
 */
export const selectEntitlements = (env: NodeJS.ProcessEnv): string =>
  `resources/package/entitlements.mac${hasNotaryCredentials(env) ? '' : '.inherit'}.plist`
