import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../server/lib/id.ts'
import { openStore } from '../../server/store/store.ts'
import { findInstanceOwner } from '../../server/store/users.ts'
import { startInstance } from '../support/instance-process.ts'

export const storeSize = { projects: 10_000, deployments: 210_000 } as const

/** The project with most of the deployments, whose list has many pages. */
export const bigProject = 'project-0'

/**
 * A data folder after years of use: 10 000 projects with a deployment each, and one of them with 200 000 more,
 * with their steps, all owned by the instance owner. Written by Homeport's own store, in a few large transactions.
 */
export async function createBenchStore(options: { deployments?: number } = {}): Promise<{ data: string; seconds: number }> {
  const deployments = options.deployments ?? storeSize.deployments
  const data = mkdtempSync(join(tmpdir(), 'homeport-bench-store-'))
  // The first start creates the owner, the key and the settings.
  const first = await startInstance({ data })
  await first.fetch('/instance/settings', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rate_limit_authenticated: 1_000_000 }),
  })
  await first.stop()

  const begun = performance.now()
  const store = await openStore({ data_dir: data, after_crash: false })
  // Durability is not needed, because an incomplete one is discarded.
  store.db.raw.pragma('synchronous = OFF')
  try {
    const account = store.db.readSync((tx) => findInstanceOwner(tx)?.account_id ?? '')
    const projects = Array.from({ length: storeSize.projects }, () => newId('prj'))
    const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
    store.db.writeSync((tx) => {
      for (const [n, id] of projects.entries()) {
        tx.statement(`INSERT INTO projects (id, account_id, name, slug, repo_url, repo_branch, node_version, install_command, build_command, root_directory, memory_limit_mb, status,
             always_warm, caching_enabled, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, 'main', 'auto', 'auto', 'auto', '.', 512, 'inactive', 0, 1, ?, ?)`).run(
          id,
          account,
          `Project ${n}`,
          `project-${n}`,
          `https://git.example.com/team/project-${n}.git`,
          at(n),
          at(n),
        )
      }
    })
    const chunk = 10_000
    for (let from = 0; from < deployments; from += chunk) {
      store.db.writeSync((tx) => {
        for (let n = from; n < Math.min(from + chunk, deployments); n++) {
          const id = newId('dpl')
          const project = projects[n < storeSize.projects ? n : 0] ?? ''
          tx.statement(`INSERT INTO deployments (id, project_id, status, target, trigger, source, branch, commit_sha, commit_message, commit_author, url, framework, runtime,
               image_bytes, queued_ms, build_ms, deploy_ms, created_at, started_at, finished_at, source_request, attempt)
             VALUES (?, ?, 'ready', 'production', 'manual', 'git', 'main', ?, ?, 'An Author', ?, 'express', 'docker', 305000000, 3, 4200, 800, ?, ?, ?, ?, 1)`).run(
            id,
            project,
            n.toString(16).padStart(40, '0'),
            `Change number ${n}`,
            `http://project-${n % storeSize.projects}.localhost:4680`,
            at(n),
            at(n),
            at(n + 1),
            JSON.stringify({ kind: 'git', url: 'https://git.example.com/team/project.git', branch: 'main', commit_sha: null }),
          )
          for (const [position, name] of steps.entries()) {
            tx.statement(
              "INSERT INTO deployment_steps (deployment_id, position, name, status, started_at, finished_at) VALUES (?, ?, ?, 'done', ?, ?)",
            ).run(id, position, name, at(n), at(n + 1))
          }
        }
      })
      await delay(0)
    }
    store.db.raw.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    await store.close()
  }
  return { data, seconds: (performance.now() - begun) / 1000 }
}

const steps = ['clone', 'detect', 'install', 'build', 'start', 'health_check', 'route']

if (import.meta.main) console.log(await createBenchStore())
