import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

export interface PasswordCost {
  N: number
  r: number
  p: number
}

/** 64 MB and about a fifth of a second for each guess (N · r · 128 bytes). */
const standardCost: PasswordCost = { N: 65_536, r: 8, p: 1 }
const maxmem = 160 * 1024 * 1024
const length = 32

/** So many passwords are being looked at that another would wait for seconds. */
export class PasswordsBusy extends Error {}

/** Looks wait for one another: side by side they would take the memory of the machine and every thread of the pool. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= maxWaiting) return Promise.reject(new PasswordsBusy('too many passwords at once'))
    waiting++
    const turn = last.then(work).finally(() => waiting--)
    last = turn.catch(() => {})
    return turn
  }
}

const maxWaiting = 16
/** Who sits at this machine does not stand behind the network. */
const queues = { near: createQueue(), far: createQueue() }

/** What is stored of a password: `scrypt$N$r$p$salt$key`. */
export async function hashPassword(password: string, cost = standardCost): Promise<string> {
  const salt = randomBytes(16)
  const key = await queues.near(() => derive(normal(password), salt, length, { ...cost, maxmem }))
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64'), key.toString('base64')].join('$')
}

const noSalt = randomBytes(16)
const noKey = randomBytes(length)

/** Takes as long when there is nothing to compare with, so that the time does not tell who has a password. */
export async function isPassword(password: string, stored: string | undefined, from: keyof typeof queues, cost = standardCost): Promise<boolean> {
  const [, N, r, p, salt, key] = stored?.split('$') ?? []
  const known = key !== undefined && salt !== undefined ? { salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') } : undefined
  const by = known === undefined ? cost : { N: Number(N), r: Number(r), p: Number(p) }
  const made = await queues[from](() => derive(normal(password), known?.salt ?? noSalt, length, { ...by, maxmem }))
  return timingSafeEqual(made, known?.key ?? noKey) && known !== undefined
}

/** The same signs typed on another keyboard may come as other code points. */
const normal = (password: string) => password.normalize('NFKC')
