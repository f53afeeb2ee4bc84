import { randomBytes } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
let lastTime = 0
let lastRandom = 0n

export type IdPrefix =
  | 'prj'
  | 'uns'
  | 'dpl'
  | 'env'
  | 'dom'
  | 'tok'
  | 'evt'
  | 'dmp'
  | 'acc'
  | 'usr'
  | 'req'
  | 'ses'
  | 'own'
  | 'inv'
  | 'rem'
  | 'run'
  | 'snp'
  | 'msg'
  | 'dev'
  | 'cmd'
  | 'act'
  | 'ntt'
  | 'ntf'
  | 'dhk'
  | 'drn'

/** `prj_` and a ULID in lower case: 48 bits of milliseconds and 80 random bits, increasing within one millisecond. */
export function newId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  const now = Date.now()
  if (now > lastTime) {
    lastTime = now
    lastRandom = BigInt(`0x${randomBytes(10).toString('hex')}`) >> 1n
  } else {
    lastRandom += 1n
  }
  let value = (BigInt(lastTime) << 80n) | lastRandom
  let text = ''
  for (let i = 0; i < 26; i++) {
    text = alphabet[Number(value & 31n)] + text
    value >>= 5n
  }
  return `${prefix}_${text}`
}
