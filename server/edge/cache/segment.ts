import { closeSync, openSync, read, write, writeSync } from 'node:fs'
import { readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Entry } from './entry.ts'
import type { Part } from './part.ts'
import type { Terms } from './policy.ts'

/** A line of an index: an answer whose bytes are written, or what was taken out of all lines before. */
export type Line =
  | {
      origin: string
      target: string
      variant: string
      status: number
      tags: readonly string[]
      terms: Terms
      stored_ms: number
      part: Part | null
      offset: number
      length: number
      lines_end: number
      checksum: number
    }
  | { gone_tags: readonly string[] }
  | { gone_urls: readonly string[] }
  | { gone_origin: string; gone_target: string; gone_variant: string }

const readAt = promisify(read)
const writeAt = promisify(write)

/** Two files that only grow: bytes, and an index that names what of them is whole. Let go of as a whole. */
export class Segment {
  readonly number: number
  /** When it was begun; the oldest goes first. */
  readonly born: number
  /** Answers in it that still count. */
  live = 0
  entries: Entry[] = []
  bytes = 0
  data_bytes = 0
  readonly #path: string
  #data = -1
  #index = -1
  /** Reads and writes under way: a descriptor that is closed under them could be somebody else's by then. */
  #busy = 0
  #closing = false

  constructor(folder: string, number: number, born: number) {
    this.number = number
    this.born = born
    this.#path = join(folder, String(number).padStart(8, '0'))
  }

  /** Begins it: nothing of this number may be there yet. */
  create(): this {
    this.#data = openSync(`${this.#path}.data`, 'wx+', 0o600)
    this.#index = openSync(`${this.#path}.index`, 'ax', 0o600)
    return this
  }

  /** Where they are. */
  async write(bytes: Buffer): Promise<number> {
    const offset = this.data_bytes
    await this.#use(async () => {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await writeAt(this.#data, bytes, done, bytes.length - done, offset + done)
        done += bytesWritten
      }
    })
    this.data_bytes += bytes.length
    this.bytes += bytes.length
    return offset
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new Error('this part of the cache is closed')
    this.#busy++
    try {
      return await work()
    } finally {
      this.#busy--
      if (this.#closing) this.shut()
    }
  }

  /** At once, so that nothing can come between a look at what is alive and the word about it. A few microseconds. */
  note(...lines: Line[]): void {
    if (lines.length === 0) return
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    writeSync(this.#index, bytes)
    this.bytes += bytes.length
  }

  async read(offset: number, length: number): Promise<Buffer> {
    if (this.#data < 0) this.#data = openSync(`${this.#path}.data`, 'r')
    const bytes = Buffer.allocUnsafeSlow(length)
    await this.#use(async () => {
      for (let done = 0; done < length;) {
        const { bytesRead } = await readAt(this.#data, bytes, done, length - done, offset + done)
        if (bytesRead === 0) throw new Error('a stored answer is shorter than its index says')
        done += bytesRead
      }
    })
    return bytes
  }

  /** What its index says; a last line that was cut off by a crash is no line. */
  async lines(): Promise<Line[]> {
    const text = await readFile(`${this.#path}.index`, 'utf8').catch(() => '')
    const lines: Line[] = []
    for (const one of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      if (one === '') continue
      try {
        lines.push(JSON.parse(one) as Line)
      } catch {
        break
      }
    }
    return lines
  }

  /** No more is written to it. */
  seal(): void {
    if (this.#index >= 0) closeSync(this.#index)
    this.#index = -1
  }

  shut(): void {
    this.#closing = true
    if (this.#busy > 0) return
    this.seal()
    if (this.#data >= 0) closeSync(this.#data)
    this.#data = -1
  }

  async remove(): Promise<void> {
    this.shut()
    for (const kind of ['index', 'data']) await unlink(`${this.#path}.${kind}`).catch(() => {})
  }
}
