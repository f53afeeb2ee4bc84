import type { DeploymentFailure } from '../contract/deployments.ts'
import { nameSource } from '../contract/labels.ts'
import { Problem } from '../contract/errors.ts'
import type { ProjectStatus } from '../contract/projects.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import type { DomainEvent } from '../contract/domain-events.ts'
import type { EventBus } from '../lib/event-bus.ts'
import type { Log } from '../lib/log.ts'
import { linkedRepository } from '../deployments/service.ts'
import { countOpenDeployments, findDeploymentById, findLastReadyDeployment } from '../store/deployments.ts'
import { listVisibleAccountIds } from '../store/users.ts'
import { findProject, findProjectBySlug, listRecentlyUsedProjects } from '../store/projects.ts'
import type { Db } from '../store/store.ts'
import type { DeploymentRow, UserRow } from '../store/tables.ts'
import type { FeatureDeps } from './deps.ts'

/** A project in the tray menu. */
export interface DesktopProject {
  slug: string
  name: string
  status: ProjectStatus
  /** Whether `deploy` has a source. */
  can_deploy: boolean
}

/** A deployment that has just finished. */
export interface DesktopDeploymentResult {
  id: string
  slug: string
  status: 'ready' | 'failed'
  /** The branch of a preview; null for production. */
  preview: string | null
  /** First line of the commit message, or the kind of source. */
  title: string
  /** The failure message. */
  message: string | null
}

export interface DesktopUpdate {
  /** The most recently used projects; not all of them. */
  projects: DesktopProject[]
  /** Number of all projects. */
  project_count: number
  /** Number of running deployments. */
  active_deployments: number
  /** Each is reported once. */
  finished_deployments: DesktopDeploymentResult[]
}

/** The owner's projects for a desktop shell in the same process. */
export interface DesktopFeed {
  /** Reports the state now and after every change. */
  subscribe(listener: (update: DesktopUpdate) => void): () => void
  /** Reports about once a second while requests reach apps. */
  subscribeToRequests(listener: () => void): () => void
  /** Deploys the latest commit of the repository, or the last source again. Throws a `Problem`. */
  deploy(slug: string): Promise<void>
  stop(slug: string): Promise<void>
  close(): void
}

type DesktopFeedOptions = Pick<FeatureDeps, 'deployments'> & {
  db: Db
  events: EventBus<DomainEvent>
  clock: Clock
  log: Log
  owner: Pick<UserRow, 'id' | 'account_id'>
  batch_ms?: number
}

/** Batches changes for the tray. */
const defaultBatch_ms = 400
const maxProjects = 15
/** Deployments that finished longer ago (the machine slept) are not reported. */
const maxResultAge_ms = 10 * 60_000
const maxReportedIds = 500

export function createDesktopFeed({ db, deployments, events, clock, log, owner, batch_ms = defaultBatch_ms }: DesktopFeedOptions): DesktopFeed {
  const listeners = new Set<(update: DesktopUpdate) => void>()
  const changedDeploymentIds = new Set<string>()
  const reportedIds = new Set<string>()
  const startedAt_ms = clock.now()
  let timer: Timer | undefined
  let delay_ms = batch_ms
  let isClosed = false

  const unsubscribe = events.subscribe((event) => {
    if (listeners.size === 0) return
    if (event.type === 'deployment_changed') changedDeploymentIds.add(event.id)
    else if (event.type !== 'project_changed' && event.type !== 'account_changed') return
    timer ??= clock.setTimeout(() => void publish(), delay_ms)
  })

  async function readUpdate(ids: string[]): Promise<DesktopUpdate> {
    const since = isoTime(Math.max(startedAt_ms, clock.now() - maxResultAge_ms))
    return db.read((tx) => {
      const accounts = listVisibleAccountIds(tx, owner)
      const { rows, count } = listRecentlyUsedProjects(tx, accounts, maxProjects)
      const finished = ids.flatMap((id): DesktopDeploymentResult[] => {
        const row = findDeploymentById(tx, id)
        if (!row || row.finished_at === null || row.finished_at < since || reportedIds.has(id)) return []
        const project = findProject(tx, row.project_id)
        return project && accounts.includes(project.account_id) ? toDeploymentResults(row, project.slug) : []
      })
      return {
        projects: rows.map((row) => ({
          slug: row.slug,
          name: row.name,
          status: row.status,
          can_deploy: row.repo_url !== null || row.status !== 'created',
        })),
        project_count: count,
        active_deployments: countOpenDeployments(tx, accounts),
        finished_deployments: finished,
      }
    })
  }

  async function publish(): Promise<void> {
    timer = undefined
    const ids = [...changedDeploymentIds]
    changedDeploymentIds.clear()
    try {
      const readStartedAt_ms = clock.monotonic()
      const update = await readUpdate(ids)
      // With many projects this query is slow, so it runs at most once per interval.
      delay_ms = Math.max(batch_ms, (clock.monotonic() - readStartedAt_ms) * 50)
      for (const { id } of update.finished_deployments) reportedIds.add(id)
      for (const id of [...reportedIds].slice(0, Math.max(0, reportedIds.size - maxReportedIds))) reportedIds.delete(id)
      if (!isClosed) for (const listener of listeners) listener(update)
    } catch (error) {
      if (!isClosed) log.warn('desktop_feed_failed', { error })
    }
  }

  const findVisibleProject = async (slug: string) => {
    const project = await db.read((tx) => {
      const row = findProjectBySlug(tx, slug)
      return row && listVisibleAccountIds(tx, owner).includes(row.account_id) ? row : undefined
    })
    if (!project) throw new Problem('project_not_found', 'This project no longer exists.')
    return project
  }

  return {
    subscribe(listener) {
      listeners.add(listener)
      timer ??= clock.setTimeout(() => void publish(), 0)
      return () => void listeners.delete(listener)
    },

    subscribeToRequests: (listener) => events.subscribeTo({ type: 'requests_recorded' }, listener),

    async deploy(slug) {
      const project = await findVisibleProject(slug)
      if (project.repo_url !== null)
        return void (await deployments.enqueue({ project_id: project.id, trigger: 'manual', source: linkedRepository(project) }))
      const last = await db.read((tx) => findLastReadyDeployment(tx, project.id))
      if (!last)
        throw new Problem('project_not_connected', 'This project has no successful deployment and no repository. Deploy a folder or an archive.')
      await deployments.enqueue({ project_id: project.id, trigger: 'retry', source: { of: last.id } })
    },

    async stop(slug) {
      await deployments.stopProject((await findVisibleProject(slug)).id)
    },

    close() {
      isClosed = true
      timer?.cancel()
      unsubscribe()
      listeners.clear()
    },
  }
}

function toDeploymentResults(row: DeploymentRow, slug: string): DesktopDeploymentResult[] {
  const { id, status } = row
  // A canceled deployment is not reported, because the user canceled it.
  if (status !== 'ready' && status !== 'failed') return []
  const failure = row.error === null ? null : (JSON.parse(row.error) as DeploymentFailure)
  const title = row.commit_message?.split('\n')[0] ?? nameSource(row)
  return [{ id, slug, status, title, preview: row.target === 'preview' ? row.branch : null, message: failure?.message ?? null }]
}
