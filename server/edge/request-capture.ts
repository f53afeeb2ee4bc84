import { limits } from '../contract/limits.ts'
import type { CaptureRule } from './capture-rule.ts'

const { body_bytes, pending_bytes } = limits.request_capture

/** The bytes of all bodies that are captured and not stored yet, so that open requests cannot fill the memory. */
export class CaptureBudget {
  #used = 0

  take(bytes: number): boolean {
    if (this.#used + bytes > pending_bytes) return false
    this.#used += bytes
    return true
  }

  release(bytes: number): void {
    this.#used -= bytes
  }
}

/** A chunked body is kept with its framing, which needs room of its own. */
const framing_bytes = 8 * 1024

/** The start of a body, copied from buffers that are reused. */
export class CapturedBody {
  bytes = 0
  isTruncated = false
  /** Whether the parts contain chunk framing. */
  isChunked = false
  /** The body of an event stream is not kept. */
  isIgnored = false
  parts: Buffer[] = []
  readonly #budget: CaptureBudget

  constructor(budget: CaptureBudget) {
    this.#budget = budget
  }

  add(bytes: Buffer, start = 0, end = bytes.length): void {
    if (this.isIgnored || this.isTruncated) return
    const room = body_bytes + (this.isChunked ? framing_bytes : 0) - this.bytes
    const count = Math.min(end - start, room)
    if (count < end - start) this.isTruncated = true
    if (count <= 0) return
    if (!this.#budget.take(count)) {
      this.isTruncated = true
      return
    }
    this.bytes += count
    this.parts.push(Buffer.from(bytes.subarray(start, start + count)))
  }

  clear(): void {
    this.#budget.release(this.bytes)
    this.parts = []
    this.bytes = 0
    this.isTruncated = false
  }
}

/** Headers and bodies of one request, as received and sent. Secrets are masked before anything is stored. */
export class RequestCapture {
  readonly rule: CaptureRule
  /** Names and values in turn. */
  requestHeaders: readonly string[] = []
  readonly requestBody: CapturedBody
  /** `Name: value\r\n` each. */
  responseLines = ''
  readonly responseBody: CapturedBody

  constructor(rule: CaptureRule, budget: CaptureBudget) {
    this.rule = rule
    this.requestBody = new CapturedBody(budget)
    this.responseBody = new CapturedBody(budget)
  }

  /** The head of the response, which may replace that of another response. */
  setResponseHead(lines: string, isChunked: boolean): void {
    this.responseBody.clear()
    this.responseLines = lines
    this.responseBody.isChunked = isChunked
    this.responseBody.isIgnored = /^content-type:[ \t]*text\/event-stream/im.test(lines)
  }

  /** Frees the bodies. */
  release(): void {
    this.requestBody.clear()
    this.responseBody.clear()
  }
}
