import { closeSync, openSync, read, write, writeSync } from 'node:fs'
import { readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { StoredRange } from './partial-content.ts'
import type { StoragePolicy } from './storage-policy.ts'

/** A line of an index: a response whose bytes are written, or a removal that applies to all lines before it. */
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

/** Two append-only files: the data, and an index of the responses that are completely written. A segment is deleted as a whole. */
export class DiskSegment<Entry> {
  readonly number: number
  /** When the segment was created. The oldest segment is evicted first. */
  readonly created_ms: number
  /** Number of responses in the segment that are still valid. */
  liveCount = 0
  entries: Entry[] = []
  bytes = 0
  data_bytes = 0
  readonly #path: string
  #dataFile = -1
  #indexFile = -1
  /** Active reads and writes. Closing waits for them, because a closed descriptor may be reused for another file. */
  #operations = 0
  #isClosing = false

  constructor(folder: string, number: number, created_ms: number) {
    this.number = number
    this.created_ms = created_ms
    this.#path = join(folder, String(number).padStart(8, '0'))
  }

  /** Creates the files. Fails if this number already exists. */
  create(): this {
    this.#dataFile = openSync(`${this.#path}.data`, 'wx+', 0o600)
    this.#indexFile = openSync(`${this.#path}.index`, 'ax', 0o600)
    return this
  }

  /** Appends bytes and resolves with their offset. */
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
    if (this.#isClosing) throw new Error('this cache segment is closed')
    this.#operations++
    try {
      return await operation()
    } finally {
      this.#operations--
      if (this.#isClosing) this.close()
    }
  }

  /** Synchronous, so that nothing can happen between the check of what is valid and its record. Takes a few microseconds. */
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
        if (bytesRead === 0) throw new Error('a stored response is shorter than its index record')
        completed += bytesRead
      }
    })
    return bytes
  }

  /** Reads the index. A last line that a crash cut off is ignored. */
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

  /** Closes the segment for writing. */
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
