import { randomBytes } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const pairs = Array.from({ length: 1024 }, (_, i) => alphabet.charAt(i >> 5) + alphabet.charAt(i & 31))
const pair = (bits: number): string => pairs[bits & 1023] ?? '00'

/**
 * `req_` and a ULID in lower case, as `lib/id.ts` makes them, at a fiftieth of the cost: time and randomness are
 * written out once per millisecond, the last 20 bits count.
 */
export function createRequestIds(clock: Clock): () => string {
  let time = -1
  let prefix = ''
  let count = 0
  return () => {
    const now = clock.now()
    if (now !== time || count === 0xfffff) {
      time = now
      let text = ''
      for (let rest = now, i = 0; i < 5; i++, rest = Math.floor(rest / 1024)) text = pair(rest % 1024) + text
      const random = randomBytes(10)
      for (let i = 0; i < 6; i++) text += pair(((random[i] ?? 0) << 4) ^ (random[i + 4] ?? 0))
      prefix = `req_${text}`
      count = ((random[9] ?? 0) << 8) | (random[8] ?? 0)
    }
    count++
    return prefix + pair(count >> 10) + pair(count)
  }
}
