/** The part of DER encoding that certificates need. Every value is complete: tag, length, content. */

const encodeTlv = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), encodeLength(content.length), content])
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const sequence = (...parts: Uint8Array[]): Buffer => encodeTlv(0x30, ...parts)
export const set = (...parts: Uint8Array[]): Buffer => encodeTlv(0x31, ...parts)
export const boolean = (value: boolean): Buffer => encodeTlv(0x01, Buffer.from([value ? 0xff : 0]))
export const octetString = (content: Uint8Array): Buffer => encodeTlv(0x04, content)
export const utf8String = (value: string): Buffer => encodeTlv(0x0c, Buffer.from(value, 'utf8'))
/** An explicit tag `[n]` around complete values. */
export const explicit = (n: number, ...parts: Uint8Array[]): Buffer => encodeTlv(0xa0 | n, ...parts)
/** An implicit tag `[n]` instead of a primitive value's tag. */
export const implicit = (n: number, content: Uint8Array): Buffer => encodeTlv(0x80 | n, content)

/** A bit string; the last `unused` bits of the last byte do not count. */
export const bitString = (content: Uint8Array, unused = 0): Buffer => encodeTlv(0x03, Buffer.from([unused]), content)

/** An unsigned integer in its shortest form. */
export function integer(value: number | Uint8Array): Buffer {
  const bytes = typeof value === 'number' ? Uint8Array.of(value) : value
  let at = 0
  while (at < bytes.length - 1 && bytes[at] === 0) at++
  const short = bytes.subarray(at)
  return encodeTlv(0x02, (short[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.alloc(0), short)
}

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const part = [arc & 0x7f]
    for (let left = arc >>> 7; left > 0; left >>>= 7) part.unshift((left & 0x7f) | 0x80)
    bytes.push(...part)
  }
  return encodeTlv(0x06, Buffer.from(bytes))
}

/** UTC time with seconds, in the format that X.509 requires before 2050 and after. */
export function time(at_ms: number): Buffer {
  const digits = new Date(at_ms).toISOString().replace(/[-:T]|\.\d+/g, '')
  const year = Number(digits.slice(0, 4))
  return year < 2050 ? encodeTlv(0x17, Buffer.from(digits.slice(2))) : encodeTlv(0x18, Buffer.from(digits))
}
