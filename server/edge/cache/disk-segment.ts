import { closeSync, openSync, read, write, writeSync } from 'node:fs'
import { readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CacheEntry } from './entry.ts'
import type { StoredRange } from './partial-content.ts'
import type { StoragePolicy } from './storage-policy.ts'

/** A line of an index: an answer whose bytes are written, or what was taken out of all lines before. */
export type IndexRecord =
  | {
      origin: string
      target: string
      variant: string
      status: number
      tags: readonly string[]
      terms: StoragePolicy
      stored_ms: number
      part: StoredRange | null
      offset: number
      length: number
      lines_end: number
      checksum: number
    }
  | { gone_tags: readonly string[] }
  | { gone_urls: readonly string[] }
  | { gone_origin: string; gone_target: string; gone_variant: string }

const readFileAt = promisify(read)
const writeFileAt = promisify(write)

/** Two files that only grow: bytes, and an index that names what of them is whole. Let go of as a whole. */
export class DiskSegment {
  readonly number: number
  /** When it was begun; the oldest goes first. */
  readonly created_ms: number
  /** Answers in it that still count. */
  liveCount = 0
  entries: CacheEntry[] = []
  bytes = 0
  data_bytes = 0
  readonly #path: string
  #dataFile = -1
  #indexFile = -1
  /** Reads and writes under way: a descriptor that is closed under them could be somebody else's by then. */
  #operations = 0
  #isClosing = false

  constructor(folder: string, number: number, created_ms: number) {
    this.number = number
    this.created_ms = created_ms
    this.#path = join(folder, String(number).padStart(8, '0'))
  }

  /** Begins it: nothing of this number may be there yet. */
  create(): this {
    this.#dataFile = openSync(`${this.#path}.data`, 'wx+', 0o600)
    this.#indexFile = openSync(`${this.#path}.index`, 'ax', 0o600)
    return this
  }

  /** Where they are. */
  async write(bytes: Buffer): Promise<number> {
    const offset = this.data_bytes
    await this.#whileOpen(async () => {
      for (let completed = 0; completed < bytes.length;) {
        const { bytesWritten } = await writeFileAt(this.#dataFile, bytes, completed, bytes.length - completed, offset + completed)
        completed += bytesWritten
      }
    })
    this.data_bytes += bytes.length
    this.bytes += bytes.length
    return offset
  }

  async #whileOpen<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#isClosing) throw new Error('this part of the cache is closed')
    this.#operations++
    try {
      return await operation()
    } finally {
      this.#operations--
      if (this.#isClosing) this.close()
    }
  }

  /** At once, so that nothing can come between a look at what is alive and the word about it. A few microseconds. */
  appendRecords(...records: IndexRecord[]): void {
    if (records.length === 0) return
    const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    writeSync(this.#indexFile, bytes)
    this.bytes += bytes.length
  }

  async read(offset: number, length: number): Promise<Buffer> {
    if (this.#dataFile < 0) this.#dataFile = openSync(`${this.#path}.data`, 'r')
    const bytes = Buffer.allocUnsafeSlow(length)
    await this.#whileOpen(async () => {
      for (let completed = 0; completed < length;) {
        const { bytesRead } = await readFileAt(this.#dataFile, bytes, completed, length - completed, offset + completed)
        if (bytesRead === 0) throw new Error('a stored answer is shorter than its index says')
        completed += bytesRead
      }
    })
    return bytes
  }

  /** What its index says; a last line that was cut off by a crash is no line. */
  async readRecords(): Promise<IndexRecord[]> {
    const text = await readFile(`${this.#path}.index`, 'utf8').catch(() => '')
    const records: IndexRecord[] = []
    for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      if (line === '') continue
      try {
        records.push(JSON.parse(line) as IndexRecord)
      } catch {
        break
      }
    }
    return records
  }

  /** No more is written to it. */
  seal(): void {
    if (this.#indexFile >= 0) closeSync(this.#indexFile)
    this.#indexFile = -1
  }

  close(): void {
    this.#isClosing = true
    if (this.#operations > 0) return
    this.seal()
    if (this.#dataFile >= 0) closeSync(this.#dataFile)
    this.#dataFile = -1
  }

  async remove(): Promise<void> {
    this.close()
    for (const kind of ['index', 'data']) await unlink(`${this.#path}.${kind}`).catch(() => {})
  }
}
