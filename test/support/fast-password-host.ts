import type { PlatformHost } from '../../server/platform.ts'

/** Passwords are compared in a millisecond; test/api/password-sign-in.test.ts covers the real cost. */
export const host: PlatformHost = { password_cost: { N: 1024, r: 8, p: 1 } }
