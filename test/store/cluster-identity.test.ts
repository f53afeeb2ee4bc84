import { expect, test } from 'vitest'
import { systemClock } from '../../server/lib/clock.ts'
import { createIdentityReader } from '../../server/runtime/swarm/cluster-identity.ts'
import { createClusterIdentityStore } from '../../server/store/cluster-identity.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { openMemoryDatabase } from '../support/memory-database.ts'

test('the identity of a cluster is created once, and stored encrypted', async () => {
  const db = await openMemoryDatabase(systemClock)
  const store = createClusterIdentityStore(db, createSealer(Buffer.alloc(32, 7)))
  const read = createIdentityReader(store, systemClock)
  const [identity, same] = await Promise.all([read(), read()])
  expect(same).toBe(identity)
  expect(await createIdentityReader(store, systemClock)()).toEqual(identity)
  const [row] = await db.read((tx) => tx.statement('SELECT sealed_identity FROM cluster_identities').all() as { sealed_identity: Buffer }[])
  expect(row?.sealed_identity.includes(identity.registry_password)).toBe(false)
  expect(row?.sealed_identity.includes('PRIVATE KEY')).toBe(false)

  const stranger = createClusterIdentityStore(db, createSealer(Buffer.alloc(32, 8)))
  await expect(createIdentityReader(stranger, systemClock)()).rejects.toMatchObject({ code: 'decryption_failed' })
})
