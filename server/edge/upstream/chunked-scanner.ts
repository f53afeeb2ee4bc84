import { edgeLimits } from '../limits.ts'
import { isTokenChar, isFieldValueChar } from '../header-characters.ts'

const size_first = 0
const size_digits = 1
const extension = 2
const size_lf = 3
const data = 4
const data_cr = 5
const data_lf = 6
const line_start = 7
const name = 8
const value = 9
const line_lf = 10
const last_lf = 11

/** More input is needed. */
export const needMore = -1
/** The body is not correctly chunked. */
export const malformed = -2

/** Parses a chunked body strictly, without copying it, to find its end. */
export class ChunkedBodyScanner {
  /** The trailer section, `name: value\r\n` each. */
  trailers = ''
  /** Bytes of body data so far. */
  body_bytes = 0
  #state = size_first
  #remaining = 0
  #digits = 0
  #overhead = 0
  #line = ''

  /** Returns the index after the last byte of the body, `needMore` or `malformed`. `onData` receives each range of data within the bytes. */
  scan(bytes: Uint8Array, start: number, end: number, onData: ((from: number, to: number) => void) | null): number {
    let at = start
    while (at < end) {
      if (this.#state === data) {
        const count = Math.min(this.#remaining, end - at)
        if (onData) onData(at, at + count)
        at += count
        this.body_bytes += count
        this.#remaining -= count
        if (this.#remaining === 0) this.#state = data_cr
        continue
      }
      const byte = bytes[at++] ?? 0
      switch (this.#state) {
        case size_first:
        case size_digits: {
          const digit = hexDigit(byte)
          if (digit >= 0) {
            // 12 hex digits are 256 TB, which a double represents exactly.
            if (++this.#digits > 12) return malformed
            this.#remaining = this.#remaining * 16 + digit
            this.#state = size_digits
          } else if (this.#state === size_first) return malformed
          else if (byte === 13) this.#state = size_lf
          else if (byte === 59) this.#state = extension
          else return malformed
          break
        }
        case extension:
          if (++this.#overhead > edgeLimits.trailer_bytes) return malformed
          if (byte === 13) this.#state = size_lf
          else if (!isFieldValueChar[byte]) return malformed
          break
        case size_lf:
          if (byte !== 10) return malformed
          this.#digits = 0
          this.#state = this.#remaining === 0 ? line_start : data
          break
        case data_cr:
          if (byte !== 13) return malformed
          this.#state = data_lf
          break
        case data_lf:
          if (byte !== 10) return malformed
          this.#state = size_first
          break
        case line_start:
          if (byte === 13) this.#state = last_lf
          else {
            if (!isTokenChar[byte]) return malformed
            this.#line = String.fromCharCode(byte)
            this.#state = name
          }
          break
        case name:
          if (byte === 58) {
            if (
              /^(?:content-length|transfer-encoding|host|connection|trailer|content-encoding|content-type|authorization|set-cookie)$/i.test(
                this.#line,
              )
            )
              return malformed
            this.#state = value
          } else if (!isTokenChar[byte]) return malformed
          this.#line += String.fromCharCode(byte)
          break
        case value:
          if (byte === 13) this.#state = line_lf
          else {
            if (!isFieldValueChar[byte]) return malformed
            this.#line += String.fromCharCode(byte)
          }
          break
        case line_lf:
          if (byte !== 10) return malformed
          this.trailers += `${this.#line}\r\n`
          this.#state = line_start
          break
        case last_lf:
          return byte === 10 ? at : malformed
      }
      if (this.#line.length + this.trailers.length > edgeLimits.trailer_bytes) return malformed
    }
    return needMore
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lowercase = byte | 32
  return lowercase >= 97 && lowercase <= 102 ? lowercase - 87 : -1
}
