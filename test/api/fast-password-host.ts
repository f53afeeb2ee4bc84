import type { PlatformHost } from '../../server/platform.ts'

/** A password is compared in a millisecond; what it costs in truth is the matter of password.test.ts. */
export const host: PlatformHost = { password_cost: { N: 1024, r: 8, p: 1 } }
