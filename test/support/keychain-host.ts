/** For the process of a platform: a master key that comes from a keychain. */
import type { PlatformHost } from '../../server/platform.ts'

export const host: PlatformHost = { masterKey: { kind: 'keychain', read: async () => Buffer.alloc(32, 7) } }
