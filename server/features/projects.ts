import { Problem } from '../contract/errors.ts'
import { isMatchUncached, splitSearchWords } from '../contract/project-search.ts'
import { limits } from '../contract/limits.ts'
import { maxSearchResults } from '../contract/projects.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { paginate, decodeCursor } from '../store/pagination.ts'
import type { Tx } from '../store/store.ts'
import {
  countProjects,
  findProject,
  findProjectBySeq,
  findProjectBySlug,
  insertProject,
  listSearchableProjects,
  listProjects,
  updateProject,
} from '../store/projects.ts'
import type { ProjectRow } from '../store/tables.ts'
import { isWithinProject, listCallerAccountIds, requireAccountOwner, requireProject } from './access.ts'
import type { Caller, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import * as preconditions from './preconditions.ts'
import { plans } from '../contract/plans.ts'
import { effectivePlanOfAccount } from './plans.ts'
import { presentProject } from './presenters.ts'
import { emptyRepositoryColumns, toRepositoryColumns } from './repository-columns.ts'

type ProjectHandlers = Pick<
  OperationHandlers,
  'createProject' | 'listProjects' | 'findProjects' | 'getProject' | 'updateProject' | 'deleteProject' | 'stopProject'
>

export interface NewProject {
  name: string
  slug: string
  repo_url?: string | undefined
  repo_branch?: string | undefined
}

/** Creates a project in a transaction: the preconditions in the contract's order, then the row. */
export function insertNewProject(deps: FeatureDeps, tx: Tx, caller: Caller, input: NewProject): ProjectRow {
  if (input.repo_url !== undefined) preconditions.requireAllowedRepository(input.repo_url, caller)
  preconditions.requireVerifiedEmail(caller)
  preconditions.requireProjectCapacity(caller.plan, countProjects(tx, caller.account_id))
  preconditions.requireAvailableSlug(input.slug, findProjectBySlug(tx, input.slug) !== undefined)
  const id = newId('prj')
  const now = isoTime(deps.clock.now())
  const repository = input.repo_url === undefined ? emptyRepositoryColumns : toRepositoryColumns(deps.sealer, caller, id, input.repo_url)
  insertProject(tx, {
    id,
    account_id: caller.account_id,
    name: input.name,
    slug: input.slug,
    ...repository,
    repo_branch: input.repo_branch ?? 'main',
    node_version: 'auto',
    install_command: 'auto',
    build_command: 'auto',
    root_directory: '.',
    memory_limit_mb: Math.min(limits.memory_mb.default, plans[caller.plan].memory_mb),
    port: null,
    status: 'created',
    always_warm: 0,
    is_cold: 0,
    caching_enabled: 1,
    has_purge_token: 0,
    last_request_at: null,
    created_at: now,
    updated_at: now,
    stopped_at: null,
    crashed_at: null,
    deleted_at: null,
  })
  const project = requireProject(tx, caller, input.slug)
  tx.publish({ type: 'project_changed', id: project.id })
  return project
}

export function createProjectHandlers(deps: FeatureDeps): ProjectHandlers {
  const { db } = deps.store
  return {
    async createProject({ caller, saveResponse }, { body }) {
      return db.write((tx) => {
        const created = { project: presentProject(insertNewProject(deps, tx, caller, body)) }
        saveResponse?.(tx, created)
        return created
      })
    },

    async listProjects({ caller }, { query }) {
      const limit = query.limit ?? limits.page.default
      const list = `projects ${caller.user_id}`
      const before = parseCursor(list, query.cursor)
      const rows = await db.read((tx) =>
        listProjects(tx, { accounts: listCallerAccountIds(tx, caller), only: caller.project_id, before, limit: limit + 1 }),
      )
      const page = paginate(list, rows, limit)
      return { projects: page.rows.map(presentProject), next_cursor: page.next_cursor }
    },

    async findProjects({ caller }, { query }) {
      const searchWords = splitSearchWords(query.q)
      return db.read((tx) => {
        const searchable = listCallerAccountIds(tx, caller)
          .flatMap((account) => listSearchableProjects(tx, account))
          .filter(({ id }) => isWithinProject(caller, id))
        const matches = searchable.filter((one) => isMatchUncached(one, searchWords)).sort((a, b) => b.seq - a.seq)
        const rows = matches.slice(0, maxSearchResults).flatMap(({ seq }) => findProjectBySeq(tx, seq) ?? [])
        return { projects: rows.map(presentProject), count: matches.length, total: searchable.length }
      })
    },

    async getProject({ project }) {
      return { project: presentProject(project) }
    },

    async updateProject({ caller, project }, { body }) {
      const row = await db.write((tx) => {
        // The plan of the owning account applies, also for team members.
        const plan = effectivePlanOfAccount(tx, project.account_id, deps.clock.now())
        if (typeof body.repo_url === 'string') preconditions.requireAllowedRepository(body.repo_url, caller)
        preconditions.requireAlwaysWarmPlan(plan, body.always_warm)
        const { repo_url, memory_limit_mb, always_warm, caching_enabled, ...plain } = body
        updateProject(tx, project.id, {
          ...plain,
          // API responses have no credentials. If the same URL is sent back, the stored credentials are kept.
          ...(repo_url === null
            ? emptyRepositoryColumns
            : repo_url === undefined || repo_url === project.repo_url
              ? {}
              : toRepositoryColumns(deps.sealer, caller, project.id, repo_url)),
          ...(memory_limit_mb === undefined ? {} : { memory_limit_mb: Math.min(memory_limit_mb, plans[plan].memory_mb) }),
          ...(always_warm === undefined ? {} : { always_warm: always_warm ? 1 : 0 }),
          ...(caching_enabled === undefined ? {} : { caching_enabled: caching_enabled ? 1 : 0 }),
          updated_at: isoTime(deps.clock.now()),
        })
        tx.publish({ type: 'project_changed', id: project.id })
        return findProject(tx, project.id) ?? project
      })
      if (body.caching_enabled !== undefined) syncCachingFlag(deps, row.id)
      return { project: presentProject(row) }
    },

    async deleteProject({ caller, project }) {
      requireAccountOwner(caller, project.account_id, 'delete a project')
      await deps.deployments.removeProject(project.id)
    },

    async stopProject({ caller, project }) {
      await deps.deployments.stopProject(project.id)
      const { status } = await db.read((tx) => requireProject(tx, caller, project.slug))
      return { ok: true, status }
    },
  }
}

/** Sends the stored state to the edge, so that of two concurrent changes the later one applies. */
function syncCachingFlag(deps: FeatureDeps, projectId: string): void {
  const project = deps.store.db.readSync((tx) => findProject(tx, projectId))
  if (project) deps.cache.setEnabled(projectId, project.caching_enabled === 1)
}

/** The sequence number in a cursor. Throws a 400 for an invalid cursor. */
export function parseCursor(list: string, cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const seq = decodeCursor(list, cursor)
  if (seq === undefined)
    throw new Problem('invalid_input', 'The cursor is invalid.', {
      issues: [{ path: 'cursor', message: 'Use next_cursor of the previous page of the same list, or omit it.' }],
    })
  return seq
}
