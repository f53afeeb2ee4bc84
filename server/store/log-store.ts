import type { SqliteDatabase, SqliteTransaction } from './sqlite.ts'
import { vacuumDatabase } from './vacuum.ts'
import type { LogChunkRow, LogTables } from './tables.ts'

/** A chunk of a log stream. Chunks are ordered, each with the number of its first record. */
export type LogChunk = Pick<LogChunkRow, 'first' | 'records' | 'lines' | 'last_line' | 'body'>

export interface LogStore {
  append(chunk: LogChunkRow): void
  /** The first chunk with a record after `record`, or undefined at the end. */
  readAfter(stream: string, record: number): LogChunk | undefined
  /** The numbers of the last record and the last line; 0 if there is none. */
  readEnd(stream: string): { record: number; line: number }
  /** The number of the record after which the last `lines` lines begin. */
  positionBeforeLast(stream: string, lines: number): number
  /** At most the last `bytes` of chunks, oldest first. */
  readTail(stream: string, bytes: number): LogChunk[]
  /** Drops the middle of a stream that is larger than head and tail together. Readers are told how much is missing. */
  trim(stream: string, keep_head_bytes: number, keep_tail_bytes: number): void
  remove(stream: string): void
  /** The ids of all streams. */
  listStreams(): string[]
  /** The size of unused pages in the file. */
  freeBytes(): number
  /** Frees unused pages if there are enough of them. Writes wait meanwhile. */
  vacuum(): Promise<void>
}

const maxRecentChunks = 16
const vacuumThreshold_bytes = 1024 * 1024

/** Chunks of a few kB to 64 kB, one insert each. The newest stay in memory, because followers read exactly those. */
export function createLogStore(db: SqliteDatabase<LogTables>): LogStore {
  const recent = new Map<string, LogChunkRow[]>()
  const columns = 'first, records, lines, last_line, body'

  return {
    append(chunk) {
      db.writeSync((tx) =>
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
      if (list.length > maxRecentChunks) list.shift()
      recent.delete(chunk.stream)
      recent.set(chunk.stream, list)
      if (recent.size > 64) {
        const oldest = recent.keys().next().value
        if (oldest !== undefined) recent.delete(oldest)
      }
    },

    readAfter(stream, record) {
      const list = recent.get(stream)
      const oldest = list?.[0]
      if (list && oldest && record + 1 >= oldest.first) return list.find((chunk) => chunk.first + chunk.records - 1 > record)
      return read((tx) => {
        const containing = tx.sqlFirst<LogChunk>(
          `SELECT ${columns} FROM chunks WHERE stream = ? AND first <= ? ORDER BY first DESC LIMIT 1`,
          stream,
          record + 1,
        )
        if (containing && containing.first + containing.records > record + 1) return containing
        return tx.sqlFirst<LogChunk>(`SELECT ${columns} FROM chunks WHERE stream = ? AND first > ? ORDER BY first LIMIT 1`, stream, record + 1)
      })
    },

    readEnd(stream) {
      const row = read((tx) =>
        tx.sqlFirst<LogChunkRow>('SELECT first, records, last_line FROM chunks WHERE stream = ? ORDER BY first DESC LIMIT 1', stream),
      )
      return row ? { record: row.first + row.records - 1, line: row.last_line } : { record: 0, line: 0 }
    },

    positionBeforeLast(stream, lines) {
      return read((tx) => {
        let remaining = lines
        let before = Number.MAX_SAFE_INTEGER
        for (;;) {
          const chunk = tx.sqlFirst<LogChunk>(
            `SELECT ${columns} FROM chunks WHERE stream = ? AND first < ? ORDER BY first DESC LIMIT 1`,
            stream,
            before,
          )
          if (!chunk) return before === Number.MAX_SAFE_INTEGER ? 0 : before - 1
          if (chunk.lines >= remaining) return recordBeforeLine(chunk, chunk.lines - remaining)
          remaining -= chunk.lines
          before = chunk.first
        }
      })
    },

    readTail(stream, bytes) {
      return read((tx) => {
        const chunks: LogChunk[] = []
        let left = bytes
        let before = Number.MAX_SAFE_INTEGER
        while (left > 0) {
          const chunk = tx.sqlFirst<LogChunkRow>(
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
      db.writeSync((tx) =>
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
      db.writeSync((tx) => tx.sqlRun('DELETE FROM chunks WHERE stream = ?', stream))
    },

    listStreams: () => read((tx) => tx.sqlAll<{ stream: string }>('SELECT DISTINCT stream FROM chunks')).map((row) => row.stream),

    freeBytes,

    async vacuum() {
      if (freeBytes() >= vacuumThreshold_bytes) await vacuumDatabase(db.raw.name)
    },
  }

  function freeBytes(): number {
    const [pages, size] = [db.raw.pragma('freelist_count', { simple: true }), db.raw.pragma('page_size', { simple: true })]
    return Number(pages) * Number(size)
  }

  function read<R>(work: (tx: SqliteTransaction<LogTables>) => R): R {
    return db.readSync(work)
  }
}

/** The number of the record before the line that follows the first `skip` lines of a chunk. */
function recordBeforeLine(chunk: LogChunk, skip: number): number {
  let position = chunk.first - 1
  let skipped = 0
  for (const record of chunk.body.split('\n')) {
    if (skipped === skip) return position
    position++
    if (record.includes('"line":')) skipped++
  }
  return position
}
