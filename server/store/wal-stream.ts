import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import type { SqliteDatabase } from './sqlite.ts'

/**
 * A position in the changes of a database. `generation`: the write-ahead log from one checkpoint to the next; `offset`: in bytes of that log.
 */
export interface WalPosition {
  generation: string
  offset: number
}

/**
 * The committed changes of a database as the bytes of its write-ahead log, for a copy on another machine. A copy of the database file that was made since
 * `generation` began, followed by these bytes, is the database.
 */
export interface WalStream {
  /** The beginning of the current generation. */
  start(): WalPosition
  /** The end of what is committed. */
  end(): WalPosition
  /** Up to `max_bytes` of changes; none at the end. `next` may begin a new generation, before which the copy moves its log into its file. undefined: the position is no longer known. */
  read(position: WalPosition, max_bytes: number): { bytes: Uint8Array; next: WalPosition } | undefined
  close(): void
}

/** SQLite's file format, section 4.1. */
const header_bytes = 32
const frameHeader_bytes = 24
/** Logs of earlier generations that are remembered, each of a little more than the size at which a checkpoint is due. */
const keptGenerations = 8

export async function createWalStream({
  raw,
  checkpoint,
  takeOverCheckpoints,
}: Pick<SqliteDatabase, 'raw' | 'checkpoint' | 'takeOverCheckpoints'>): Promise<WalStream> {
  const path = `${raw.name}-wal`
  const run = randomUUID()
  let count = 1
  /** Of the current generation. undefined: nothing has been written. */
  let salts: string | undefined
  let committed = 0
  /** The log at the latest checkpoint: nothing is written between that and the next generation. */
  let atCheckpoint: Buffer = Buffer.alloc(0)
  const earlier = new Map<string, Buffer>()

  const generation = () => `${run}-${count}`

  const startGeneration = (): void => {
    // Otherwise another program has moved the log into the file, and its end is gone.
    if (atCheckpoint.length === committed) earlier.set(generation(), atCheckpoint)
    else earlier.clear()
    for (const key of earlier.keys()) if (earlier.size > keptGenerations) earlier.delete(key)
    count++
    salts = undefined
    committed = 0
    atCheckpoint = Buffer.alloc(0)
  }

  /** Finds what was committed, and whether SQLite has begun its log anew. */
  const update = (file: number): void => {
    const header = Buffer.alloc(header_bytes)
    const isWritten = readSync(file, header, 0, header_bytes, 0) === header_bytes
    const found = isWritten ? header.toString('hex', 16, 24) : undefined
    if (salts !== undefined && found !== salts) startGeneration()
    salts = found
    if (found === undefined) return
    const frame_bytes = frameHeader_bytes + header.readUInt32BE(8)
    const frame = Buffer.alloc(frameHeader_bytes)
    const size = fstatSync(file).size
    let at = Math.max(committed, header_bytes)
    // The rest of the file can be of an earlier generation, or of a transaction that was rolled back.
    while (at + frame_bytes <= size && readSync(file, frame, 0, frameHeader_bytes, at) === frameHeader_bytes) {
      if (frame.toString('hex', 8, 16) !== found) break
      at += frame_bytes
      if (frame.readUInt32BE(4) > 0) committed = at
    }
  }

  const withLog = <R>(work: (file: number) => R): R => {
    const file = openSync(path, 'r')
    try {
      update(file)
      return work(file)
    } finally {
      closeSync(file)
    }
  }

  const release = await takeOverCheckpoints(() => {
    withLog(() => {
      atCheckpoint = readFileSync(path).subarray(0, committed)
      checkpoint()
    })
  })

  return {
    start: () => withLog(() => ({ generation: generation(), offset: 0 })),
    end: () => withLog(() => ({ generation: generation(), offset: committed })),
    read: (position, max_bytes) =>
      withLog((file) => {
        if (position.generation === generation()) {
          const bytes = Buffer.alloc(Math.max(0, Math.min(max_bytes, committed - position.offset)))
          readSync(file, bytes, 0, bytes.length, position.offset)
          return position.offset > committed ? undefined : { bytes, next: { ...position, offset: position.offset + bytes.length } }
        }
        const log = earlier.get(position.generation)
        if (!log || position.offset > log.length) return undefined
        const bytes = log.subarray(position.offset, position.offset + max_bytes)
        const offset = position.offset + bytes.length
        const following = [...earlier.keys(), generation()]
        const next = following[following.indexOf(position.generation) + 1] ?? generation()
        return { bytes, next: offset < log.length ? { ...position, offset } : { generation: next, offset: 0 } }
      }),
    close: release,
  }
}
