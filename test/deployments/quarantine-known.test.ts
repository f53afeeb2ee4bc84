import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DeploymentContext } from '../../server/deployments/context.ts'
import { createQuarantine, type Quarantine } from '../../server/deployments/quarantine.ts'
import { getEnvironmentId } from '../../server/deployments/supervised-app.ts'
import { silentLog } from '../../server/lib/log.ts'
import type { ExistingReplica } from '../../server/runtime/runtime.ts'
import { openStore, type Store } from '../../server/store/store.ts'

/* Which of the replicas that a start finds belong to the database. */

let data_dir: string
let store: Store
let quarantine: Quarantine
beforeEach(async () => {
  data_dir = mkdtempSync(join(tmpdir(), 'homeport-quarantine-'))
  store = await openStore({ data_dir, after_crash: false })
  store.db.raw.pragma('foreign_keys = OFF')
  store.db.writeSync((tx) => {
    tx.statement(`INSERT INTO projects (id, account_id, name, slug, repo_is_trusted, repo_branch, node_version, install_command, build_command, root_directory,
      memory_limit_mb, status, always_warm, is_cold, caching_enabled, has_purge_token, created_at, updated_at)
      VALUES ('prj_shop', 'acc', 'Shop', 'shop', 0, 'main', 'auto', 'auto', 'auto', '.', 512, 'created', 0, 0, 1, 0, '', '')`).run()
    tx.statement(`INSERT INTO deployments (id, project_id, status, target, trigger, source, branch, is_current, runtime, created_at, source_request)
       VALUES ('dpl_known', 'prj_shop', 'ready', 'preview', 'push', 'git', 'trial', 1, 'docker', '', '{}'),
         ('dpl_deleted', 'prj_deleted', 'ready', 'production', 'push', 'git', 'main', 0, 'docker', '', '{}')`).run()
  })
  quarantine = createQuarantine({ store, log: silentLog } as unknown as DeploymentContext)
})
afterEach(async () => {
  await store.close()
  rmSync(data_dir, { recursive: true, force: true })
})

const preview = (branch: string) => getEnvironmentId({ project_id: 'prj_shop', target: 'preview', branch })

test.each([
  ['a deployment', 'prj_shop', 'dpl_known', false],
  ['production of a project that was never deployed, whose images a development server uses', 'prj_shop', 'prj_shop', false],
  ['the preview of a deployment', 'prj_shop', preview('trial'), false],
  ['production of a project that is being deleted', 'prj_deleted', 'prj_deleted', false],
  ['what a killed build left', '', '', false],
  ['another deployment', 'prj_shop', 'dpl_newer', true],
  ['another preview', 'prj_shop', preview('newer'), true],
  ['production of another project', 'prj_newer', 'prj_newer', true],
])('%s', async (_, project_id, deployment_id, isHeld) => {
  const replica = { id: 'one', project_id, deployment_id, service: null, running: true } as ExistingReplica
  expect(await quarantine.holds('docker', replica)).toBe(isHeld)
  expect(await quarantine.holds('docker', { ...replica, running: false })).toBe(false)
})
