import type { Failure } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import type { ProjectStatus } from '../contract/projects.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import type { Bus } from '../lib/bus.ts'
import type { Log } from '../lib/log.ts'
import { countOpen, findDeploymentById, findLastReady } from '../store/deployments.ts'
import { visibleAccounts } from '../store/people.ts'
import { findProject, findProjectBySlug, listRecentlyUsed } from '../store/projects.ts'
import type { Db } from '../store/open.ts'
import type { DeploymentRow, UserRow } from '../store/tables.ts'
import type { FeatureDeps } from './deps.ts'

/** A project as the tray shows it. */
export interface ProjectSeen {
  slug: string
  name: string
  status: ProjectStatus
  /** Whether there is anything that `deploy` could deploy. */
  can_deploy: boolean
}

/** A deployment that came to its end just now. */
export interface DeploymentEnd {
  id: string
  slug: string
  status: 'ready' | 'failed'
  /** The branch of a preview; null: production. */
  preview: string | null
  /** First line of the commit, or what it was made from. */
  title: string
  /** Why it failed. */
  message: string | null
}

export interface DeskNews {
  /** Those in use first, the last used first; not all of them. */
  projects: ProjectSeen[]
  /** How many there are that somebody could look at. */
  project_count: number
  /** Deployments under way. */
  builds: number
  /** Each is told once. */
  ended: DeploymentEnd[]
}

/** What a host in the same process shows of the owner's projects, and may do to them. */
export interface Desk {
  /** Tells how things stand, now and whenever something changed. */
  watch(listener: (news: DeskNews) => void): () => void
  /** Tells about once a second while requests reach apps. */
  watchVisits(listener: () => void): () => void
  /** Deploys anew: the head of the repository, or what was deployed last. Throws a `Problem`. */
  deploy(slug: string): Promise<void>
  stop(slug: string): Promise<void>
  close(): void
}

type DeskParts = Pick<FeatureDeps, 'engine'> & {
  db: Db
  bus: Bus
  clock: Clock
  log: Log
  owner: Pick<UserRow, 'id' | 'account_id'>
  gather_ms?: number
}

/** Many things change together; this is soon enough for a tray. */
const usualGather_ms = 400
const shown = 15
/** An end that was overlooked for so long (the machine slept) is no news any more. */
const freshFor_ms = 10 * 60_000
const told_max = 500

export function createDesk({ db, engine, bus, clock, log, owner, gather_ms = usualGather_ms }: DeskParts): Desk {
  const listeners = new Set<(news: DeskNews) => void>()
  const changed = new Set<string>()
  const told = new Set<string>()
  const began = clock.now()
  let timer: Timer | undefined
  let wait_ms = gather_ms
  let isClosed = false

  const off = bus.onAny((name) => {
    if (listeners.size === 0 || !/^(deployment|project|account):/.test(name)) return
    if (name.startsWith('deployment:')) changed.add(name.slice('deployment:'.length))
    timer ??= clock.setTimeout(() => void tell(), wait_ms)
  })

  async function look(ids: string[]): Promise<DeskNews> {
    const since = isoTime(Math.max(began, clock.now() - freshFor_ms))
    return db.read((tx) => {
      const accounts = visibleAccounts(tx, owner)
      const { rows, count } = listRecentlyUsed(tx, accounts, shown)
      const ended = ids.flatMap((id): DeploymentEnd[] => {
        const row = findDeploymentById(tx, id)
        if (!row || row.finished_at === null || row.finished_at < since || told.has(id)) return []
        const project = findProject(tx, row.project_id)
        return project && accounts.includes(project.account_id) ? endOf(row, project.slug) : []
      })
      return {
        projects: rows.map((row) => ({
          slug: row.slug,
          name: row.name,
          status: row.status,
          can_deploy: row.repo_url !== null || row.status !== 'created',
        })),
        project_count: count,
        builds: countOpen(tx, accounts),
        ended,
      }
    })
  }

  async function tell(): Promise<void> {
    timer = undefined
    const ids = [...changed]
    changed.clear()
    try {
      const began_ms = clock.monotonic()
      const news = await look(ids)
      // Of ten thousand projects a look takes its time, which the platform has better use for.
      wait_ms = Math.max(gather_ms, (clock.monotonic() - began_ms) * 50)
      for (const { id } of news.ended) told.add(id)
      for (const id of [...told].slice(0, Math.max(0, told.size - told_max))) told.delete(id)
      if (!isClosed) for (const listener of listeners) listener(news)
    } catch (error) {
      if (!isClosed) log.warn('desk_not_told', { error })
    }
  }

  const projectOf = async (slug: string) => {
    const project = await db.read((tx) => {
      const row = findProjectBySlug(tx, slug)
      return row && visibleAccounts(tx, owner).includes(row.account_id) ? row : undefined
    })
    if (!project) throw new Problem('project_not_found', 'There is no such project any more.')
    return project
  }

  return {
    watch(listener) {
      listeners.add(listener)
      timer ??= clock.setTimeout(() => void tell(), 0)
      return () => void listeners.delete(listener)
    },

    watchVisits: (listener) => bus.on('visits', listener),

    async deploy(slug) {
      const project = await projectOf(slug)
      if (project.repo_url !== null) return void (await engine.enqueue({ project_id: project.id, trigger: 'manual', source: { kind: 'head' } }))
      const last = await db.read((tx) => findLastReady(tx, project.id))
      if (!last)
        throw new Problem(
          'project_not_connected',
          'Nothing of this project was ever ready, and no repository is connected. Deploy a folder or an archive.',
        )
      await engine.enqueue({ project_id: project.id, trigger: 'retry', source: { kind: 'same_as', deployment_id: last.id } })
    },

    async stop(slug) {
      await engine.stop((await projectOf(slug)).id)
    },

    close() {
      isClosed = true
      timer?.cancel()
      off()
      listeners.clear()
    },
  }
}

function endOf(row: DeploymentRow, slug: string): DeploymentEnd[] {
  const { id, status } = row
  // Whoever cancels knows.
  if (status !== 'ready' && status !== 'failed') return []
  const failure = row.error === null ? null : (JSON.parse(row.error) as Failure)
  const title = row.commit_message?.split('\n')[0] ?? { git: 'From the repository', folder: 'Working folder', upload: 'Uploaded archive' }[row.source]
  return [{ id, slug, status, title, preview: row.target === 'preview' ? row.branch : null, message: failure?.message ?? null }]
}
