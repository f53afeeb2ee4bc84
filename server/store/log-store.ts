import { all, first, logTables, run } from './query.ts'
import type { SqliteDatabase } from './sqlite.ts'
import { vacuumDatabase } from './vacuum.ts'
import type { LogChunkRow } from './log-tables.ts'

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
  remove(stream: string): Promise<void>
  /** Removes the streams that start with a text that ends with a dot. */
  removeAll(prefix: string): Promise<void>
  /** The ids of the streams of a project: those of its environments and their services. */
  listStreamsOfProject(projectId: string): string[]
  /** The ids of all streams. */
  listStreams(): string[]
  /** The size of unused pages in the file. */
  freeBytes(): number
  /** Frees unused pages if there are enough of them. Writes wait meanwhile. */
  vacuum(): Promise<void>
}

const maxRecentChunks = 16
const vacuumThreshold_bytes = 1024 * 1024

const insertChunk = run((stream: string, first_record: number, records: number, lines: number, last_line: number, bytes: number, body: string) =>
  logTables.insertInto('chunks').values({ stream, first: first_record, records, lines, last_line, bytes, body }),
)
const chunks = logTables.selectFrom('chunks').select(['first', 'records', 'lines', 'last_line', 'bytes', 'body'])
const findLastChunkBefore = first((stream: string, record: number) =>
  chunks.where('stream', '=', stream).where('first', '<', record).orderBy('first', 'desc').limit(1),
)
const findFirstChunkAfter = first((stream: string, record: number) =>
  chunks.where('stream', '=', stream).where('first', '>', record).orderBy('first').limit(1),
)
const findEnd = first((stream: string) =>
  logTables.selectFrom('chunks').select(['first', 'records', 'last_line']).where('stream', '=', stream).orderBy('first', 'desc').limit(1),
)
const deleteMiddle = run((stream: string, headBytes: number, tailBytes: number) =>
  logTables
    .deleteFrom('chunks')
    .where('stream', '=', stream)
    .where('first', 'in', (eb) =>
      eb
        .selectFrom(
          eb
            .selectFrom('chunks')
            .select((chunk) => [
              'chunks.first',
              chunk.fn
                .sum<number>('chunks.bytes')
                .over((window) => window.orderBy('chunks.first'))
                .as('from_start'),
              chunk.fn
                .sum<number>('chunks.bytes')
                .over((window) => window.orderBy('chunks.first', 'desc'))
                .as('from_end'),
            ])
            .where('chunks.stream', '=', stream)
            .as('sums'),
        )
        .select('sums.first')
        .where('from_start', '>', headBytes)
        .where('from_end', '>', tailBytes),
    ),
)
const deleteStream = run((stream: string) => logTables.deleteFrom('chunks').where('stream', '=', stream))
const findNextStream = first((from: string, to: string) =>
  logTables.selectFrom('chunks').select('stream').where('stream', '>=', from).where('stream', '<', to).orderBy('stream').limit(1),
)
const listStreamIds = all(() => logTables.selectFrom('chunks').select('stream').distinct())

/** Chunks of a few kB to 64 kB, one insert each. The newest stay in memory, because followers read exactly those. */
export function createLogStore(db: SqliteDatabase): LogStore {
  const recent = new Map<string, LogChunkRow[]>()

  return {
    append(chunk) {
      const { stream, first: firstRecord, records, lines, last_line, bytes, body } = chunk
      db.writeSync((tx) => insertChunk(tx, stream, firstRecord, records, lines, last_line, bytes, body))
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
      return db.readSync((tx) => {
        const containing = findLastChunkBefore(tx, stream, record + 2)
        return containing && containing.first + containing.records > record + 1 ? containing : findFirstChunkAfter(tx, stream, record + 1)
      })
    },

    readEnd(stream) {
      const row = db.readSync((tx) => findEnd(tx, stream))
      return row ? { record: row.first + row.records - 1, line: row.last_line } : { record: 0, line: 0 }
    },

    positionBeforeLast(stream, lines) {
      return db.readSync((tx) => {
        let remaining = lines
        let before = Number.MAX_SAFE_INTEGER
        for (;;) {
          const chunk = findLastChunkBefore(tx, stream, before)
          if (!chunk) return before === Number.MAX_SAFE_INTEGER ? 0 : before - 1
          if (chunk.lines >= remaining) return recordBeforeLine(chunk, chunk.lines - remaining)
          remaining -= chunk.lines
          before = chunk.first
        }
      })
    },

    readTail(stream, bytes) {
      return db.readSync((tx) => {
        const chunks: LogChunk[] = []
        let left = bytes
        let before = Number.MAX_SAFE_INTEGER
        while (left > 0) {
          const chunk = findLastChunkBefore(tx, stream, before)
          if (!chunk) break
          chunks.unshift(chunk)
          left -= chunk.bytes
          before = chunk.first
        }
        return chunks
      })
    },

    trim(stream, keep_head_bytes, keep_tail_bytes) {
      db.writeSync((tx) => deleteMiddle(tx, stream, keep_head_bytes, keep_tail_bytes))
    },

    async remove(stream) {
      await db.write((tx) => {
        deleteStream(tx, stream)
        recent.delete(stream)
      })
    },

    async removeAll(prefix) {
      for (const { stream } of db.readSync((tx) => listStreamIds(tx))) if (stream.startsWith(prefix)) await this.remove(stream)
    },

    listStreamsOfProject: (projectId) =>
      db.readSync((tx) => {
        // One seek for each stream: a stream may have a hundred thousand chunks. A name never contains a space or a tilde.
        const found: string[] = []
        for (let from = projectId; ; from = `${found.at(-1)} `) {
          const next = findNextStream(tx, from, `${projectId}~`)
          if (!next) return found
          found.push(next.stream)
        }
      }),

    listStreams: () => db.readSync((tx) => listStreamIds(tx)).map((row) => row.stream),

    freeBytes,

    async vacuum() {
      if (freeBytes() >= vacuumThreshold_bytes) await vacuumDatabase(db.raw.name)
    },
  }

  /** Pragmas are not queries, so kysely does not support them. */
  function freeBytes(): number {
    const [pages, size] = [db.raw.pragma('freelist_count', { simple: true }), db.raw.pragma('page_size', { simple: true })]
    return Number(pages) * Number(size)
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
