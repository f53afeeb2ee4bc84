import { randomBytes } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const base32Pairs = Array.from({ length: 1024 }, (_, i) => alphabet.charAt(i >> 5) + alphabet.charAt(i & 31))
const encodePair = (bits: number): string => base32Pairs[bits & 1023] ?? '00'

/**
 * Creates `req_` and a ULID in lower case, as `lib/id.ts` does, at a fiftieth of the cost: time and randomness are written once per millisecond, and
 * the last 20 bits are a counter.
 */
export function createRequestIdGenerator(clock: Clock): () => string {
  let time = -1
  let prefix = ''
  let count = 0
  let random = Buffer.alloc(0)
  let used = 0
  return () => {
    const now = clock.now()
    if (now !== time || count === 0xfffff) {
      time = now
      let text = ''
      for (let rest = now, i = 0; i < 5; i++, rest = Math.floor(rest / 1024)) text = encodePair(rest % 1024) + text
      if (used + 14 > random.length) {
        random = randomBytes(14 * 256)
        used = 0
      }
      for (let i = 0; i < 6; i++) text += encodePair(random.readUInt16LE(used + 2 * i))
      prefix = `req_${text}`
      count = random.readUInt16LE(used + 12)
      used += 14
    }
    count++
    return prefix + encodePair(count >> 10) + encodePair(count)
  }
}
