import type { DomainEvent } from '../../server/contract/domain-events.ts'
import type { Clock } from '../../server/lib/clock.ts'
import { migrate } from '../../server/store/migrate.ts'
import { migrations } from '../../server/store/migrations/index.ts'
import { openSqlite } from '../../server/store/sqlite.ts'
import type { Db } from '../../server/store/store.ts'

/** A migrated main database in memory. */
export async function openMemoryDatabase(clock: Clock, onEvent?: (event: DomainEvent) => void): Promise<Db> {
  const db = openSqlite({ path: ':memory:', durable: false, clock, ...(onEvent ? { onEvent } : {}) })
  await migrate(db, migrations)
  return db
}
