import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'

const deriveKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

export interface PasswordCost {
  N: number
  r: number
  p: number
}

/** 64 MB and about 0.2 s per attempt (N · r · 128 bytes). */
const defaultCost: PasswordCost = { N: 65_536, r: 8, p: 1 }
const maxmem = 160 * 1024 * 1024
const key_bytes = 32

/** Too many passwords are being checked, so that another would wait for seconds. */
export class PasswordQueueFullError extends Error {}

/** Runs password checks one after the other, because parallel ones would use up the machine's memory and every thread of the pool. */
function createPasswordQueue() {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= maxWaiting) return Promise.reject(new PasswordQueueFullError('too many passwords at once'))
    waiting++
    const result = last.then(work).finally(() => waiting--)
    last = result.catch(() => {})
    return result
  }
}

const maxWaiting = 16
/** Separate queues, so that sign-ins on this machine do not wait for those from the network. */
const queuesByOrigin = { near: createPasswordQueue(), far: createPasswordQueue() }

/** The stored form of a password: `scrypt$N$r$p$salt$key`. */
export async function hashPassword(password: string, cost = defaultCost): Promise<string> {
  const salt = randomBytes(16)
  const key = await queuesByOrigin.near(() => deriveKey(normalizePassword(password), salt, key_bytes, { ...cost, maxmem }))
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64'), key.toString('base64')].join('$')
}

const dummySalt = randomBytes(16)
const dummyKey = randomBytes(key_bytes)

/** Takes equally long without a stored password, so that the duration does not reveal who has one. */
export async function verifyPassword(
  password: string,
  stored: string | undefined,
  from: keyof typeof queuesByOrigin,
  cost = defaultCost,
): Promise<boolean> {
  const [, N, r, p, salt, key] = stored?.split('$') ?? []
  const parsed = key !== undefined && salt !== undefined ? { salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') } : undefined
  const storedCost = parsed === undefined ? cost : { N: Number(N), r: Number(r), p: Number(p) }
  const derived = await queuesByOrigin[from](() =>
    deriveKey(normalizePassword(password), parsed?.salt ?? dummySalt, key_bytes, { ...storedCost, maxmem }),
  )
  return timingSafeEqual(derived, parsed?.key ?? dummyKey) && parsed !== undefined
}

/** The same characters may be entered as different code points on different keyboards. */
const normalizePassword = (password: string) => password.normalize('NFKC')
