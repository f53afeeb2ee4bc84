import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect } from 'vitest'
import { findProcessesIn } from '../support/folder-processes.ts'
import { until } from '../support/platform.ts'
import type { KillContext } from './kill-context.ts'

export interface CurrentDeployment {
  id: string
  slug: string
  is_upstream: boolean
}

/** What serves according to the files of the dead platform. */
export function readCurrentDeployments(data: string): CurrentDeployment[] {
  const db = new Sqlite(join(data, 'homeport.db'), { readonly: true })
  try {
    return db
      .prepare<[], { id: string; slug: string; artifact: string }>(
        'SELECT d.id, p.slug, d.artifact FROM deployments d JOIN projects p ON p.id = d.project_id WHERE d.is_current = 1',
      )
      .all()
      .map(({ id, slug, artifact }) => ({ id, slug, is_upstream: (JSON.parse(artifact) as { kind: string }).kind !== 'static' }))
  } finally {
    db.close()
  }
}

export function assertIntact(data: string): void {
  for (const name of ['homeport.db', 'logs.db']) {
    const db = new Sqlite(join(data, name))
    try {
      const result = db.pragma('integrity_check', { simple: true })
      if (result !== 'ok') throw new Error(`${name} is damaged: ${String(result)}`)
    } finally {
      db.close()
    }
  }
}

/** Containers, processes and folders of dead attempts: none, once everything has ended and drained. */
export async function assertNothingLeft(context: Pick<KillContext, 'data' | 'engine'>): Promise<void> {
  const isClean = async () => expect(await leftovers(context)).toEqual([]) ?? true
  await until(isClean, { what: 'nothing to be left behind', every_ms: 250 })
}

async function leftovers(context: Pick<KillContext, 'data' | 'engine'>): Promise<string[]> {
  const current = new Set(readCurrentDeployments(context.data).map((one) => one.id))
  const kept = new Set(readDeploymentsWithArtifact(context.data))
  const found: string[] = []
  for (const name of ['work', 'sources']) found.push(...entries(join(context.data, name)).map((entry) => `folder ${name}/${entry}`))
  const caches = ['dependencies', 'frameworks'].flatMap((kind) =>
    entries(join(context.data, 'cache', kind)).map((project) => `cache/${kind}/${project}`),
  )
  for (const folder of ['toolchains', 'volumes', ...caches])
    for (const entry of entries(join(context.data, folder)))
      if (entry.startsWith('.half-') || entry.startsWith('.removed-')) found.push(`folder ${folder}/${entry}`)
  for (const entry of entries(join(context.data, 'bundles'))) if (!kept.has(entry)) found.push(`folder bundles/${entry}`)
  for (const one of findProcessesIn(context.data))
    if (![...current].some((id) => one.cwd.includes(id))) found.push(`process ${one.pid} ${one.command} in ${one.cwd}`)
  if (context.engine) {
    for (const one of await context.engine.containers())
      if (one.role !== 'app' || !current.has(one.deployment_id)) found.push(`${one.role} container ${one.id} of ${one.deployment_id}`)
    for (const one of await context.engine.images())
      if (one.role === 'app' && !kept.has(one.deployment_id)) found.push(`image ${one.id} of ${one.deployment_id}`)
  }
  return found
}

const entries = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

function readDeploymentsWithArtifact(data: string): string[] {
  const db = new Sqlite(join(data, 'homeport.db'), { readonly: true })
  try {
    return db
      .prepare<[], { id: string }>('SELECT id FROM deployments WHERE artifact IS NOT NULL')
      .all()
      .map((row) => row.id)
  } finally {
    db.close()
  }
}
