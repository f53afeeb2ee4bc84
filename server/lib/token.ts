import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `svc_` for the API, `hpp_` for the purge webhook of one project, `hpd_` for a deploy hook. */
type TokenPrefix = 'svc' | 'hpp' | 'hpd'

/** The prefix, 43 random characters (256 bits) and a checksum of 6, so that secret scanners can recognize real tokens. */
export function newToken(prefix: TokenPrefix = 'svc'): string {
  const body = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)
  return `${prefix}_${body}${checksum(body)}`
}

/** Whether a text has the format of a token, checksum included. Does not say whether the token is known. */
export function isToken(text: string, prefix: TokenPrefix = 'svc'): boolean {
  return text.startsWith(`${prefix}_`) && /^[a-z]{3}_[0-9A-Za-z]{49}$/.test(text) && checksum(text.slice(4, 47)) === text.slice(47)
}

/** A random secret for links and cookies: 256 bits, URL-safe. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** The stored form of a token or secret. */
export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** Compares in constant time, regardless of length. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
}

const checksum = (body: string): string => base62(BigInt(crc32(body)), 6)

function base62(value: bigint, length: number): string {
  let text = ''
  for (let i = 0; i < length; i++) {
    text = alphabet[Number(value % 62n)] + text
    value /= 62n
  }
  return text
}
