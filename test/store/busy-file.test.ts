/** The thread that moves a write-ahead log into its file holds the file for a moment. What a request deletes waits for that. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openStore, type Store } from '../../server/store/store.ts'
import { metricsReading } from '../support/metrics-reading.ts'
import { requestRow } from '../support/request-rows.ts'

const chunk = { stream: 'prj_a.service', first: 1, records: 1, lines: 1, last_line: 1, bytes: 4, body: 'said' }

test.each<[string, string, (store: Store) => Promise<void>, (store: Store) => unknown]>([
  ['captures', 'requests.db', ({ requests }) => requests.removeCaptures('prj_a'), ({ requests }) => requests.findCapture('req_1')],
  ['a log', 'logs.db', ({ logs }) => logs.remove(chunk.stream), ({ logs }) => logs.listStreams()[0]],
  ['metrics', 'metrics.db', ({ metrics }) => metrics.remove('prj_a'), ({ metrics }) => metrics.readFirst('prj_a')],
  ['usage', 'metrics.db', ({ usage }) => usage.remove('prj_a'), ({ usage }) => usage.readFirst('prj_a')],
  ['the logs of services', 'logs.db', ({ logs }) => logs.removeAll('prj_a.'), ({ logs }) => logs.listStreams()[0]],
])('%s are deleted once another thread has released the file', async (_, file, remove, find) => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-busy-'))
  const store = await openStore({ data_dir: folder, after_crash: false })
  await store.requests.add([requestRow({ id: 'req_1', sealed_exchange: Buffer.alloc(10, 7) })])
  store.logs.append(chunk)
  store.metrics.add([metricsReading('prj_a', 1, [1])])
  store.usage.add([{ project_id: 'prj_a', service: '', replica: 0, ts: 1, cpu_percent: 1, memory_mb: 1 }])
  const other = new Sqlite(join(folder, file))
  other.exec('BEGIN IMMEDIATE')
  const removed = remove(store)
  expect(find(store)).toBeDefined()
  other.close()
  await removed
  expect(find(store)).toBeUndefined()
  await store.close()
  rmSync(folder, { recursive: true })
})

test('a log that is written to while its deletion waits has no line left in memory either', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-busy-'))
  const store = await openStore({ data_dir: folder, after_crash: false })
  store.logs.append(chunk)
  const other = new Sqlite(join(folder, 'logs.db'))
  other.exec('BEGIN IMMEDIATE')
  const removed = store.logs.remove(chunk.stream)
  other.close()
  store.logs.append({ ...chunk, first: 2, last_line: 2 })
  await removed
  expect([store.logs.readAfter(chunk.stream, 1), store.logs.readEnd(chunk.stream)]).toEqual([undefined, { record: 0, line: 0 }])
  await store.close()
  rmSync(folder, { recursive: true })
})
