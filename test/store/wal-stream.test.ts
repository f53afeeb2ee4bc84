import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { copyDatabaseFile } from '../../server/store/database-copy.ts'
import { openSqlite, type SqliteDatabase } from '../../server/store/sqlite.ts'
import { createWalStream, type WalPosition, type WalStream } from '../../server/store/wal-stream.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

describe('the changes of a database', () => {
  let folder = ''
  let db: SqliteDatabase
  let stream: WalStream
  let checkpoint = () => {}
  const sizes: number[] = []

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-wal-'))
    db = openSqlite({ path: join(folder, 'a.db'), durable: false })
    db.raw.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)')
    stream = await createWalStream({
      ...db,
      takeOverCheckpoints: async (run) => {
        checkpoint = run
        return () => {}
      },
    })
  })
  afterEach(async () => {
    stream.close()
    await db.close()
    rmSync(folder, { recursive: true })
  })

  const write = (text: string) => db.writeSync((tx) => void tx.statement('INSERT INTO notes (text) VALUES (?)').run(text))
  const readNotes = (raw: Sqlite.Database) => raw.prepare('SELECT text FROM notes ORDER BY id').pluck().all()

  /** A copy as a standby keeps it: a file, and the log beside it. */
  const copyPath = () => join(folder, 'copy.db')
  const startCopy = async (): Promise<WalPosition> => {
    const position = stream.start()
    await copyDatabaseFile(join(folder, 'a.db'), copyPath())
    const raw = new Sqlite(copyPath())
    raw.pragma('journal_mode = WAL')
    raw.close()
    return position
  }
  const follow = (from: WalPosition): WalPosition => {
    for (let position = from; ;) {
      const found = stream.read(position, 10_000)
      if (!found) throw new Error('The position is not known.')
      if (position.offset === 0) writeFileSync(`${copyPath()}-wal`, '')
      appendFileSync(`${copyPath()}-wal`, found.bytes)
      sizes.push(found.bytes.length)
      if (found.next.generation !== position.generation) {
        const raw = new Sqlite(copyPath())
        raw.pragma('wal_checkpoint(TRUNCATE)')
        raw.close()
      } else if (found.bytes.length === 0) return position
      position = found.next
    }
  }
  const readCopy = () => {
    const raw = new Sqlite(copyPath())
    try {
      return { notes: readNotes(raw), check: raw.pragma('integrity_check', { simple: true }) }
    } finally {
      raw.close()
    }
  }
  const expectCopy = () => expect(readCopy()).toEqual({ notes: readNotes(db.raw), check: 'ok' })

  test('bring a copy of the file to the same content', async () => {
    write('before')
    const position = await startCopy()
    write('after')
    follow(position)
    expectCopy()
  })

  test('end with what is committed: a transaction that is rolled back is in the log, and in no copy', async () => {
    const position = await startCopy()
    db.raw.pragma('cache_size = 5')
    expect(() =>
      db.writeSync((tx) => {
        for (let i = 0; i < 200; i++) tx.statement('INSERT INTO notes (text) VALUES (?)').run('x'.repeat(1_000))
        throw new Error('rolled back')
      }),
    ).toThrow('rolled back')
    const between = follow(position)
    write('after it')
    follow(between)
    expectCopy()
    expect(readCopy().notes).toEqual(['after it'])
  })

  test('go on over checkpoints, also those that it has not seen the end of', async () => {
    const random = createSeededRandom(7)
    let position = await startCopy()
    for (let round = 0; round < 60; round++) {
      for (let i = random.between(0, 5); i > 0; i--) write(`${round} ${'y'.repeat(random.between(0, 9_000))}`)
      if (random.chance(0.2)) db.writeSync((tx) => void tx.statement('DELETE FROM notes WHERE id % 3 = 0').run())
      if (random.chance(0.4)) checkpoint()
      if (random.chance(0.5)) position = follow(position)
    }
    follow(position)
    expectCopy()
    expect(sizes.every((size) => size <= 10_000)).toBe(true)
  })

  test('go on when a reader has kept the log from its beginning', async () => {
    const position = await startCopy()
    const reader = new Sqlite(join(folder, 'a.db'), { readonly: true })
    reader.exec('BEGIN')
    readNotes(reader)
    write('while it reads')
    checkpoint()
    write('after the checkpoint')
    reader.close()
    write('in the same log')
    checkpoint()
    write('in the next')
    follow(position)
    expectCopy()
  })

  test('a copy that is too far behind, or of another run, starts again', async () => {
    const position = await startCopy()
    for (let i = 0; i < 10; i++) {
      write('more')
      checkpoint()
    }
    write('more')
    expect(stream.read(position, 10_000)).toBeUndefined()
    expect(stream.read({ generation: 'another', offset: 0 }, 10_000)).toBeUndefined()
  })

  test('a log that another program has moved into the file is not taken for a complete one', async () => {
    const position = await startCopy()
    write('one')
    follow(position)
    write('two')
    db.raw.pragma('wal_checkpoint(TRUNCATE)')
    write('three')
    expect(stream.read(position, 10_000)).toBeUndefined()
  })

  test('a copy whose last bytes did not reach its disk is what was committed before them', async () => {
    const position = await startCopy()
    write('first')
    const between = follow(position)
    write('z'.repeat(20_000))
    const end = follow(between)
    truncateSync(`${copyPath()}-wal`, end.offset - 100)
    expect(readCopy()).toEqual({ notes: ['first'], check: 'ok' })
  })
})
