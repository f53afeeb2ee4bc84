import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseServer, DatabaseSpec } from '../../server/database/database-server.ts'
import { createEmbeddedDatabaseServer, type EmbeddedDatabaseOptions } from '../../server/database/embedded-server.ts'
import { createLog } from '../../server/lib/log.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

export const spec: DatabaseSpec = { db_name: 'p_one', db_user: 'p_one', password: 'first-password' }

/** Embedded servers on a data folder that no other user may enter, like root's home folder, and on a frozen clock. */
export function createEmbeddedServers() {
  const root = mkdtempSync(join(tmpdir(), 'homeport-postgres-'))
  const closed = join(root, 'closed')
  const data_dir = join(closed, 'data')
  mkdirSync(data_dir, { recursive: true, mode: 0o700 })
  const log: string[] = []
  const clock = createTestClock({ frozen_at: '2026-01-31' })
  const open = new Set<DatabaseServer>()
  const runNpm = () => Promise.reject(new Error('These programs are installed.'))
  const cluster = (folder = data_dir) => join(folder, 'postgres-18', 'cluster')
  return {
    root,
    closed,
    data_dir,
    clock,
    log,
    cluster,
    start(folder = data_dir, more: Partial<EmbeddedDatabaseOptions> = {}): DatabaseServer {
      const server = createEmbeddedDatabaseServer({
        runtime: 'process',
        version: 18,
        runNpm,
        data_dir: folder,
        clock,
        log: createLog((line) => log.push(line)),
        ...more,
      })
      open.add(server)
      return server
    },
    pidOf: () => Number(readFileSync(join(cluster(), 'postmaster.pid'), 'utf8').split('\n')[0]),
    async remove() {
      for (const server of open) await server.close(true)
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

export const urlOf = async (server: DatabaseServer, one = spec) => {
  const { host, port } = await server.address('machine')
  return `postgresql://${one.db_user}:${one.password}@${host}:${port}/${one.db_name}`
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export const waitForExit = (pid: number) => until(() => (isAlive(pid) ? undefined : true), { what: `the end of process ${pid}` })
