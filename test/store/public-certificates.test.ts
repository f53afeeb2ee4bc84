import { beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../server/lib/clock.ts'
import { createAcmeAccountStore, createPublicCertificateStore } from '../../server/store/public-certificates.ts'
import { createSealer } from '../../server/store/sealer.ts'
import type { Db } from '../../server/store/store.ts'
import { openMemoryDatabase } from '../support/memory-database.ts'

const directory = 'https://ca.example/dir'
const sealer = createSealer(Buffer.alloc(32, 7))
const stranger = createSealer(Buffer.alloc(32, 8))
const record = {
  name: 'www.example.com',
  certificate: 'the chain',
  key: 'the private key',
  failures: 2,
  last_error: 'No record.',
  last_attempt_at: '2026-03-01T12:00:00.000Z',
  next_attempt_at: '2026-03-01T12:15:00.000Z',
}

let db: Db
beforeEach(async () => {
  db = await openMemoryDatabase(systemClock)
})

test('certificates are kept for each authority, with sealed keys', async () => {
  const store = createPublicCertificateStore(db, sealer, directory)
  await store.write({ ...record, certificate: null, key: null })
  await store.write(record)
  await store.write({ ...record, name: 'another.example.com', certificate: null, key: null })
  expect(await store.list()).toEqual([{ ...record, name: 'another.example.com', certificate: null, key: null }, record])
  expect(await createPublicCertificateStore(db, sealer, 'https://staging.example/dir').list()).toEqual([])
  const rows = await db.read(
    (tx) => tx.statement('SELECT sealed_key FROM public_certificates ORDER BY name').all() as { sealed_key: Buffer | null }[],
  )
  expect(rows.map(({ sealed_key }) => sealed_key?.includes('private') ?? null)).toEqual([null, false])
  await store.remove(record.name)
  expect((await store.list()).map(({ name }) => name)).toEqual(['another.example.com'])
})

test('with another master key, certificates and accounts count as missing', async () => {
  await createPublicCertificateStore(db, sealer, directory).write(record)
  expect(await createPublicCertificateStore(db, stranger, directory).list()).toEqual([{ ...record, certificate: null, key: null }])
  const account = { directory, key: 'the account key', url: null }
  await createAcmeAccountStore(db, sealer).write(account)
  await createAcmeAccountStore(db, sealer).write({ ...account, url: 'https://ca.example/account/1' })
  expect(await createAcmeAccountStore(db, sealer).read(directory)).toEqual({ ...account, url: 'https://ca.example/account/1' })
  expect(await createAcmeAccountStore(db, stranger).read(directory)).toBeUndefined()
  expect(await createAcmeAccountStore(db, sealer).read('https://staging.example/dir')).toBeUndefined()
})

test('attempts are kept until they no longer count', async () => {
  const store = createPublicCertificateStore(db, sealer, directory)
  const attempt = (at: number) => ({ name: 'www.example.com', kind: 'new' as const, at })
  await store.addAttempt(attempt(1_000), 0)
  await store.addAttempt(attempt(2_000), 0)
  await store.addAttempt(attempt(3_000), 1_500)
  expect(await store.listAttempts()).toEqual([attempt(2_000), attempt(3_000)])
  expect(await createPublicCertificateStore(db, sealer, 'https://staging.example/dir').listAttempts()).toEqual([])
})
