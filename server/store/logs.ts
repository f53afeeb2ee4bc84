import type { Database, Transaction } from './database.ts'
import { shrinkDatabase } from './shrink.ts'
import type { ChunkRow, LogTables } from './tables.ts'

/** What follows a log: chunks in order, each with the number of its first record. */
export type Chunk = Pick<ChunkRow, 'first' | 'records' | 'lines' | 'last_line' | 'body'>

export interface LogStore {
  append(chunk: ChunkRow): void
  /** The first chunk that holds a record after `record`, or undefined at the end. */
  after(stream: string, record: number): Chunk | undefined
  /** Number of the last record and of the last line; 0 when there is none. */
  end(stream: string): { record: number; line: number }
  /** The record after which the last `lines` lines stand. */
  beforeLast(stream: string, lines: number): number
  /** At most the last `bytes` of chunks, oldest first. */
  tail(stream: string, bytes: number): Chunk[]
  /** Drops the middle, once there is more than this head and this tail; readers are told how much they miss. */
  trim(stream: string, keep_head_bytes: number, keep_tail_bytes: number): void
  remove(stream: string): void
  /** All that there are. */
  streams(): string[]
  /** Room in the file that nothing is in. */
  freeBytes(): number
  /** Gives that room back to the disk, where it is worth it. Lines that are written meanwhile wait. */
  shrink(): Promise<void>
}

const recentChunks = 16
const worthShrinking_bytes = 1024 * 1024

/** Chunks of a few kB to 64 kB, one insert each; the newest stay in memory because followers ask for just those. */
export function createLogStore(db: Database<LogTables>): LogStore {
  const recent = new Map<string, ChunkRow[]>()
  const columns = 'first, records, lines, last_line, body'

  return {
    append(chunk) {
      db.writeNow((tx) =>
        tx.sqlRun(
          'INSERT INTO chunks (stream, first, records, lines, last_line, bytes, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
          chunk.stream,
          chunk.first,
          chunk.records,
          chunk.lines,
          chunk.last_line,
          chunk.bytes,
          chunk.body,
        ),
      )
      const list = recent.get(chunk.stream) ?? []
      list.push(chunk)
      if (list.length > recentChunks) list.shift()
      recent.delete(chunk.stream)
      recent.set(chunk.stream, list)
      if (recent.size > 64) {
        const oldest = recent.keys().next().value
        if (oldest !== undefined) recent.delete(oldest)
      }
    },

    after(stream, record) {
      const list = recent.get(stream)
      const oldest = list?.[0]
      if (list && oldest && record + 1 >= oldest.first) return list.find((chunk) => chunk.first + chunk.records - 1 > record)
      return read((tx) => {
        const holder = tx.sqlFirst<Chunk>(
          `SELECT ${columns} FROM chunks WHERE stream = ? AND first <= ? ORDER BY first DESC LIMIT 1`,
          stream,
          record + 1,
        )
        if (holder && holder.first + holder.records > record + 1) return holder
        return tx.sqlFirst<Chunk>(`SELECT ${columns} FROM chunks WHERE stream = ? AND first > ? ORDER BY first LIMIT 1`, stream, record + 1)
      })
    },

    end(stream) {
      const row = read((tx) =>
        tx.sqlFirst<ChunkRow>('SELECT first, records, last_line FROM chunks WHERE stream = ? ORDER BY first DESC LIMIT 1', stream),
      )
      return row ? { record: row.first + row.records - 1, line: row.last_line } : { record: 0, line: 0 }
    },

    beforeLast(stream, lines) {
      return read((tx) => {
        let wanted = lines
        let before = Number.MAX_SAFE_INTEGER
        for (;;) {
          const chunk = tx.sqlFirst<Chunk>(`SELECT ${columns} FROM chunks WHERE stream = ? AND first < ? ORDER BY first DESC LIMIT 1`, stream, before)
          if (!chunk) return before === Number.MAX_SAFE_INTEGER ? 0 : before - 1
          if (chunk.lines >= wanted) return placeOfLine(chunk, chunk.lines - wanted)
          wanted -= chunk.lines
          before = chunk.first
        }
      })
    },

    tail(stream, bytes) {
      return read((tx) => {
        const chunks: Chunk[] = []
        let left = bytes
        let before = Number.MAX_SAFE_INTEGER
        while (left > 0) {
          const chunk = tx.sqlFirst<ChunkRow>(
            `SELECT ${columns}, bytes FROM chunks WHERE stream = ? AND first < ? ORDER BY first DESC LIMIT 1`,
            stream,
            before,
          )
          if (!chunk) break
          chunks.unshift(chunk)
          left -= chunk.bytes
          before = chunk.first
        }
        return chunks
      })
    },

    trim(stream, keep_head_bytes, keep_tail_bytes) {
      db.writeNow((tx) =>
        tx.sqlRun(
          `DELETE FROM chunks WHERE stream = ? AND first IN (
             SELECT first FROM (
               SELECT first, sum(bytes) OVER (ORDER BY first) AS from_start, sum(bytes) OVER (ORDER BY first DESC) AS from_end
               FROM chunks WHERE stream = ?)
             WHERE from_start > ? AND from_end > ?)`,
          stream,
          stream,
          keep_head_bytes,
          keep_tail_bytes,
        ),
      )
    },

    remove(stream) {
      recent.delete(stream)
      db.writeNow((tx) => tx.sqlRun('DELETE FROM chunks WHERE stream = ?', stream))
    },

    streams: () => read((tx) => tx.sqlAll<{ stream: string }>('SELECT DISTINCT stream FROM chunks')).map((row) => row.stream),

    freeBytes,

    async shrink() {
      if (freeBytes() >= worthShrinking_bytes) await shrinkDatabase(db.raw.name)
    },
  }

  function freeBytes(): number {
    const [pages, size] = [db.raw.pragma('freelist_count', { simple: true }), db.raw.pragma('page_size', { simple: true })]
    return Number(pages) * Number(size)
  }

  function read<R>(work: (tx: Transaction<LogTables>) => R): R {
    return db.readNow(work)
  }
}

/** The record before the line that comes after `skip` lines of a chunk. */
function placeOfLine(chunk: Chunk, skip: number): number {
  let place = chunk.first - 1
  let skipped = 0
  for (const record of chunk.body.split('\n')) {
    if (skipped === skip) return place
    place++
    if (record.includes('"line":')) skipped++
  }
  return place
}
