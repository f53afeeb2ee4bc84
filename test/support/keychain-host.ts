/** A platform host whose master key comes from a keychain. */
import type { PlatformHost } from '../../server/platform.ts'

export const host: PlatformHost = { masterKey: { kind: 'keychain', read: async () => Buffer.alloc(32, 7) } }
