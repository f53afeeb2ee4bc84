/** An upload that arrives during the retention run after the previous deployment. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { getArchiveFile } from '../../server/deployments/source-archives.ts'
import { pruneProject } from '../../server/deployments/cleanup.ts'
import type { DeploymentContext } from '../../server/deployments/context.ts'
import { openStore, type Store } from '../../server/store/store.ts'

let data_dir: string
let store: Store
beforeEach(async () => {
  data_dir = mkdtempSync(join(tmpdir(), 'homeport-prune-'))
  store = await openStore({ data_dir, after_crash: false })
  store.db.raw.pragma('foreign_keys = OFF')
})
afterEach(async () => {
  await store.close()
  rmSync(data_dir, { recursive: true, force: true })
})

/** Like `enqueue`: the archive, then its row. */
function upload(id: string, status: string): void {
  mkdirSync(join(data_dir, 'archives', 'prj'), { recursive: true })
  writeFileSync(getArchiveFile(data_dir, 'prj', id), id)
  store.db.writeSync((tx) =>
    tx
      .statement(`INSERT INTO deployments (id, project_id, status, target, trigger, source, branch, is_current, runtime, created_at, source_request)
       VALUES (?, 'prj', ?, 'production', 'upload', 'upload', 'main', 0, 'process', '', ?)`)
      .run(id, status, JSON.stringify({ kind: 'archive' })),
  )
}

test.each([0, 1, 2])('keeps the archive of an upload that arrives after %i of the reads', async (looks) => {
  for (const id of ['one', 'two', 'three']) upload(id, 'failed')
  let left = looks
  const read: Store['db']['read'] = (work) =>
    store.db.read(work).then((found) => {
      if (--left === 0) upload('new', 'queued')
      return found
    })
  if (looks === 0) upload('new', 'queued')
  const deps: Partial<DeploymentContext> = {
    data_dir,
    store: { ...store, db: { ...store.db, read } },
    settings: () => ({ keep_deployments: 2 }) as ReturnType<DeploymentContext['settings']>,
  }
  await pruneProject(deps as DeploymentContext, 'prj')
  expect(['one', 'two', 'three', 'new'].filter((id) => existsSync(getArchiveFile(data_dir, 'prj', id)))).toEqual(['two', 'three', 'new'])
})
