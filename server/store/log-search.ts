import { all, first, logTables, run } from './query.ts'
import type { SqliteDatabase } from './sqlite.ts'

/** A part of a log that may have lines with certain words. */
export interface LogCandidate {
  /** Chunks of all logs are numbered in the order in which they were written. */
  id: number
  stream: string
}

/** Which parts of which logs have which words. What was written last is not indexed yet: all of it is a candidate. */
export interface LogSearch {
  /** Up to `limit` candidates before one, newest first. `match`: a query of FTS5, or null for all. */
  listCandidates(match: string | null, before: number, limit: number): LogCandidate[]
  /** The records of a candidate, and the number of its first one. Undefined if it was removed. */
  read(id: number): { first: number; body: string } | undefined
  /** Adds the words of the oldest part that is not indexed. False if there is none. */
  indexNext(toText: (chunk: { body: string }) => string): boolean
}

const findLastIndexed = first(() => logTables.selectFrom('chunk_words').select('rowid').orderBy('rowid', 'desc').limit(1))
const findUnindexed = first((after: number) => logTables.selectFrom('chunks').select(['id', 'body']).where('id', '>', after).orderBy('id').limit(1))
const insertWords = run((rowid: number, text: string) => logTables.insertInto('chunk_words').values({ rowid, text } as never))
const findChunk = first((id: number) => logTables.selectFrom('chunks').select(['first', 'body']).where('id', '=', id))
const listBetween = all((after: number, before: number, limit: number) =>
  logTables.selectFrom('chunks').select(['id', 'stream']).where('id', '>', after).where('id', '<', before).orderBy('id', 'desc').limit(limit),
)
const listMatching = all((match: string, before: number, limit: number) =>
  logTables
    .selectFrom('chunk_words')
    .innerJoin('chunks', 'chunks.id', 'chunk_words.rowid')
    .select(['chunks.id', 'chunks.stream'])
    .where('chunk_words', 'match', match)
    .where('chunk_words.rowid', '<', before)
    .orderBy('chunk_words.rowid', 'desc')
    .limit(limit),
)

export function createLogSearch(db: SqliteDatabase): LogSearch {
  return {
    listCandidates: (match, before, limit) =>
      db.readSync((tx) => {
        const indexed = findLastIndexed(tx)?.rowid ?? 0
        const recent = listBetween(tx, match === null ? 0 : indexed, before, limit)
        if (match === null || recent.length === limit) return recent
        return [...recent, ...listMatching(tx, match, Math.min(before, indexed + 1), limit - recent.length)]
      }),

    read: (id) => db.readSync((tx) => findChunk(tx, id)),

    indexNext: (toText) =>
      db.writeSync((tx) => {
        const chunk = findUnindexed(tx, findLastIndexed(tx)?.rowid ?? 0)
        if (chunk) insertWords(tx, chunk.id, toText(chunk))
        return chunk !== undefined
      }),
  }
}
