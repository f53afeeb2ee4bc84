import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { DatabaseDump } from '../contract/databases.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Log } from '../lib/log.ts'
import { deleteDatabaseDump, insertDatabaseDump, slugOfProject } from '../store/database-dumps.ts'
import type { Db } from '../store/open.ts'
import type { DatabaseDumpRow } from '../store/tables.ts'
import type { DatabaseServer, DatabaseSpec } from './database.ts'
import type { OpenDatabase } from './databases.ts'
import { connect, endSessions, lostOrFull } from './dump.ts'
import { RestoreFailed } from './restore.ts'

/** Text of this kind shrinks to a fifth at three times the speed of the default level. */
const gzip = { level: 3 }
const half = '.part'

export type Dumps = Awaited<ReturnType<typeof createDumps>>

/** Dumps of single databases, in `dumps/` of the data folder. They stay when the database or the project goes. */
export async function createDumps({ db, data_dir, clock, log }: { db: Db; data_dir: string; clock: Clock; log: Log }) {
  const folder = join(data_dir, 'dumps')
  const ended = new AbortController()
  for (const name of await readdir(folder).catch((): string[] => [])) if (name.endsWith(half)) await rm(join(folder, name), { force: true })

  const pathOf = (row: DatabaseDumpRow) => join(folder, row.file)
  const show = (row: DatabaseDumpRow): DatabaseDump => ({
    id: row.id,
    project_slug: row.project_slug,
    db_name: row.db_name,
    reason: row.reason,
    bytes: row.bytes,
    file: row.file,
    created_at: row.created_at,
  })

  /** A new file, under another name until it is whole and on the disk. */
  const fill = async (name: string, chunks: AsyncIterable<Uint8Array>, signal: AbortSignal, packs: boolean): Promise<string> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = createWriteStream(join(folder, name + half), { flags: 'wx', mode: 0o600, flush: true })
    try {
      if (packs) await pipeline(chunks, createGzip(gzip), file, { signal })
      else await pipeline(chunks, file, { signal })
    } catch (error) {
      await rm(join(folder, name + half), { force: true })
      throw error
    }
    return join(folder, name + half)
  }

  const write = async ({ row, server, spec }: OpenDatabase, reason: DatabaseDump['reason'], wanted?: AbortSignal): Promise<DatabaseDump> => {
    const signal = wanted ? AbortSignal.any([wanted, ended.signal]) : ended.signal
    const id = newId('dmp')
    const file = `${id}.sql.gz`
    // Their end is near in any case, and one that hangs must not be in the way.
    if (reason !== 'manual') await endSessionsOf(server, spec, signal)
    const part = await fill(file, server.dump(spec, signal), signal, true)
    const { size } = await stat(part)
    await rename(part, join(folder, file))
    const dump = await db.write((tx) => {
      const made = {
        id,
        project_id: row.project_id,
        project_slug: slugOfProject(tx, row.project_id) ?? '',
        db_name: row.db_name,
        reason,
        file,
        bytes: size,
        created_at: isoTime(clock.now()),
      }
      insertDatabaseDump(tx, made)
      return show({ seq: 0, ...made })
    })
    log.info('database_dumped', { project: row.project_id, db_name: row.db_name, reason, path: join(folder, file), bytes: size })
    return dump
  }

  return {
    show,
    write,

    /** The file as it lies there; undefined: it is gone. */
    async open(row: DatabaseDumpRow): Promise<AsyncIterable<Uint8Array> | undefined> {
      const found = await stat(pathOf(row)).catch(() => undefined)
      return found?.isFile() ? read(pathOf(row)) : undefined
    },

    async remove(row: DatabaseDumpRow): Promise<void> {
      await rm(pathOf(row), { force: true })
      await db.write((tx) => deleteDatabaseDump(tx, row.id))
    },

    /** Takes a whole file in before a database is touched, so that nobody waits for a slow sender; it is gone afterwards. */
    async receive<T>(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal, work: (file: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
      const path = await fill(newId('dmp'), chunks, AbortSignal.any([signal, ended.signal]), false)
      try {
        return await work(read(path))
      } finally {
        await rm(path, { force: true })
      }
    },

    /** Puts a database back to a file, gzipped or not; what was there is in the dump that is returned. */
    async restore(opened: OpenDatabase, file: AsyncIterable<Uint8Array>, wanted: AbortSignal): Promise<DatabaseDump> {
      const signal = AbortSignal.any([wanted, ended.signal])
      const dump = await write(opened, 'restore', signal)
      await opened.server.restore(opened.spec, unpacked(file), signal)
      log.info('database_restored', { project: opened.row.project_id, db_name: opened.row.db_name, before: join(folder, dump.file) })
      return dump
    },

    close(): void {
      ended.abort(new Error('Homeport is stopping.'))
    },
  }
}

async function endSessionsOf(server: DatabaseServer, spec: DatabaseSpec, signal: AbortSignal): Promise<void> {
  const open = async () => connect({ ...spec, ...(await server.address('machine')) }, signal)
  const { client, close } = await open()
    .catch(async (error: unknown) => {
      // No such database, no such role, or another password: an app may change its own. Made good, so that it can be let go of.
      if (!(error instanceof Error && 'code' in error && /^(3D000|28000|28P01)$/.test(String(error.code)))) throw error
      await server.create(spec)
      return open()
    })
    .catch((error: unknown) => {
      throw lostOrFull(error) ?? error
    })
  await endSessions(client).finally(close)
}

/** Opened when it is first asked for something. */
async function* read(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Uint8Array>
}

async function* unpacked(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = file[Symbol.asyncIterator]()
  const first = await chunks.next()
  const whole = async function* () {
    for (let next = first; next.done !== true; next = await chunks.next()) yield next.value
  }
  if (first.done === true || first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* whole()
    return
  }
  const gunzip = createGunzip()
  const fed = pipeline(whole, gunzip).catch(() => {})
  try {
    yield* gunzip as AsyncIterable<Uint8Array>
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw new RestoreFailed('The file is gzipped, and damaged or cut off.', error)
    throw error
  } finally {
    gunzip.destroy()
    await fed
  }
}
