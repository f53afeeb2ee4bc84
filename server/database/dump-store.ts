import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { DatabaseDump } from '../contract/databases.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Log } from '../lib/log.ts'
import { openFileStream } from '../lib/open-file-stream.ts'
import { deleteDatabaseDump, findDatabaseDump, findProjectSlug, insertDatabaseDump, renameDatabaseDump } from '../store/database-dumps.ts'
import type { Db } from '../store/store.ts'
import type { DatabaseDumpRow } from '../store/database-tables.ts'
import type { DumpSource } from './dump-source.ts'
import { DatabaseRestoreError } from './restore-database.ts'

/** SQL compresses to a fifth, three times as fast as at the default level. */
const gzipOptions = { level: 3 }
const partSuffix = '.part'

export type DumpStore = Awaited<ReturnType<typeof createDumpStore>>

/** Dumps of single databases, in `dumps/` of the data folder. They are kept when the database or the project is deleted. */
export async function createDumpStore({ db, data_dir, clock, log }: { db: Db; data_dir: string; clock: Clock; log: Log }) {
  const folder = join(data_dir, 'dumps')
  const closing = new AbortController()
  for (const name of await readdir(folder).catch((): string[] => [])) if (name.endsWith(partSuffix)) await rm(join(folder, name), { force: true })

  const pathOf = (row: DatabaseDumpRow) => join(folder, row.file)
  const presentDump = (row: DatabaseDumpRow): DatabaseDump => ({
    id: row.id,
    project_slug: row.project_slug,
    db_name: row.db_name,
    service: row.service === '' ? null : row.service,
    name: row.name === '' ? null : row.name,
    reason: row.reason,
    bytes: row.bytes,
    file: row.file,
    created_at: row.created_at,
  })

  /** Writes a new file under a temporary name until it is complete and synced. */
  const writePartFile = async (name: string, chunks: AsyncIterable<Uint8Array>, signal: AbortSignal, isCompressed: boolean): Promise<string> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = createWriteStream(join(folder, name + partSuffix), { flags: 'wx', mode: 0o600, flush: true })
    try {
      if (isCompressed) await pipeline(chunks, createGzip(gzipOptions), file, { signal })
      else await pipeline(chunks, file, { signal })
    } catch (error) {
      await rm(join(folder, name + partSuffix), { force: true })
      throw error
    }
    return join(folder, name + partSuffix)
  }

  const write = async (source: DumpSource, reason: DatabaseDump['reason'], callerSignal?: AbortSignal, name = ''): Promise<DatabaseDump> => {
    const signal = callerSignal ? AbortSignal.any([callerSignal, closing.signal]) : closing.signal
    const id = newId('dmp')
    const file = `${id}.sql.gz`
    // These sessions are about to end anyway, and one that hangs must not block the dump.
    if (reason === 'drop' || reason === 'restore') await source.endSessions(signal)
    const part = await writePartFile(file, source.dump(signal), signal, true)
    const { size } = await stat(part)
    await rename(part, join(folder, file))
    const dump = await db.write((tx) => {
      const dumpRow = {
        id,
        project_id: source.project_id,
        project_slug: findProjectSlug(tx, source.project_id) ?? '',
        service: source.service,
        db_name: source.db_name,
        name,
        reason,
        file,
        bytes: size,
        created_at: isoTime(clock.now()),
      }
      insertDatabaseDump(tx, dumpRow)
      tx.publish({ type: 'project_changed', id: source.project_id })
      return presentDump({ seq: 0, ...dumpRow })
    })
    log.info('database_dumped', { project: source.project_id, db_name: source.db_name, reason, path: join(folder, file), bytes: size })
    return dump
  }

  return {
    show: presentDump,
    write,

    /** The file as stored; undefined when it does not exist. */
    open: (row: DatabaseDumpRow): Promise<AsyncIterable<Uint8Array> | undefined> => openFileStream(pathOf(row)),

    async rename(row: DatabaseDumpRow, name: string): Promise<DatabaseDump> {
      await db.write((tx) => {
        renameDatabaseDump(tx, row.id, name)
        tx.publish({ type: 'project_changed', id: row.project_id })
      })
      return presentDump({ ...row, name })
    },

    async remove(row: DatabaseDumpRow): Promise<void> {
      await rm(pathOf(row), { force: true })
      await db.write((tx) => {
        deleteDatabaseDump(tx, row.id)
        tx.publish({ type: 'project_changed', id: row.project_id })
      })
    },

    /** Receives a whole file before a database is touched, so that a slow upload blocks nothing; the file is deleted afterwards. */
    async receive<T>(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal, work: (file: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
      const path = await writePartFile(newId('dmp'), chunks, AbortSignal.any([signal, closing.signal]), false)
      try {
        return await work(readChunks(path))
      } finally {
        await rm(path, { force: true })
      }
    },

    /** Restores a database from a file, gzipped or not; the returned dump contains the previous content. */
    async restore(source: DumpSource, file: AsyncIterable<Uint8Array>, callerSignal: AbortSignal): Promise<DatabaseDump> {
      const signal = AbortSignal.any([callerSignal, closing.signal])
      const dump = await write(source, 'restore', signal)
      await source.restore(decompress(file), signal)
      log.info('database_restored', { project: source.project_id, db_name: source.db_name, before: join(folder, dump.file) })
      return dump
    },

    /** Restores a dump that was made for this purpose, without dumping the current content. */
    async rewind(source: DumpSource, dumpId: string, callerSignal: AbortSignal): Promise<void> {
      const row = await db.read((tx) => findDatabaseDump(tx, dumpId))
      if (!row) throw new Error(`The dump ${dumpId} was deleted.`)
      const signal = AbortSignal.any([callerSignal, closing.signal])
      await source.restore(decompress(readChunks(pathOf(row))), signal)
    },

    close(): void {
      closing.abort(new Error('Homeport is shutting down.'))
    },
  }
}

/** Opens the file at the first read. */
async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Uint8Array>
}

async function* decompress(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = file[Symbol.asyncIterator]()
  const first = await chunks.next()
  const replayChunks = async function* () {
    for (let next = first; next.done !== true; next = await chunks.next()) yield next.value
  }
  if (first.done === true || first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* replayChunks()
    return
  }
  const gunzip = createGunzip()
  const pumping = pipeline(replayChunks, gunzip).catch(() => {})
  try {
    yield* gunzip as AsyncIterable<Uint8Array>
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw new DatabaseRestoreError('The gzip file is damaged or truncated.', error)
    throw error
  } finally {
    gunzip.destroy()
    await pumping
  }
}
