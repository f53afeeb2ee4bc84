/**
 * A whole record of handlers over a small table in memory, so that the gate can be tried before and without the features.
 * It keeps projects by account and says 404 as they will.
 */
import { Problem } from '../../server/contract/errors.ts'
import type { Handlers } from '../../server/contract/index.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import type { EventStream } from '../../server/contract/operation.ts'
import type { Caller, Context } from '../../server/features/context.ts'
import type { PurgeScope } from '../../server/features/purge.ts'
import { createGate } from '../../server/http/index.ts'
import type { GateOptions } from '../../server/http/index.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { createLog } from '../../server/lib/log.ts'
import { newToken } from '../../server/lib/token.ts'
import { createBillingHandlers } from './double-billing.ts'
import { createDatabaseHandlers } from './double-databases.ts'
import { createDomainHandlers } from './double-domains.ts'
import { createEdgeHandlers } from './double-edge.ts'
import { createEnvVarHandlers } from './double-env-vars.ts'
import { createPeopleHandlers, doubleJoining } from './double-people.ts'
import { createPreviewHandlers } from './double-previews.ts'
import { createRemoteHandlers } from './double-remotes.ts'
import { createTokenHandlers } from './double-tokens.ts'
import { createUpkeepHandlers } from './double-upkeep.ts'

export const purgeToken = 'hpp_token_of_every_project'
export const cookieName = 'homeport_test'

export interface Double {
  url: string
  port: number
  /** Bearer tokens and session secrets of two people; `owner` owns the instance. */
  owner: { token: string; session: string; caller: Caller }
  stranger: { token: string; session: string; caller: Caller }
  projects: Map<string, Project & { account_id: string }>
  /** What a stream operation yields next; replaced by a test. */
  stream: (context: Context) => EventStream
  /** Sees the query of every stream that is opened. */
  onStreamQuery: (query: { last_event_id?: string | undefined }) => void
  /** Lines of the platform's log. */
  log: Record<string, unknown>[]
  revoked: Set<string>
  codes: Set<string>
  /** What the webhook was asked to purge, and of which project; `purgeToken` opens all. */
  purges: [string, PurgeScope][]
  gate: ReturnType<typeof createGate>
  fetch(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

export async function startDouble(overrides: Partial<GateOptions> & { host?: string; port?: number; fallback?: boolean } = {}): Promise<Double> {
  const owner = person('owner@example.com', true)
  const stranger = person('stranger@example.com', false)
  const people = [owner, stranger]
  const log: Record<string, unknown>[] = []
  const revoked = new Set<string>()
  const codes = new Set<string>(['good-code'])
  const projects: Double['projects'] = new Map()
  const purges: Double['purges'] = []
  const made = { stream: async function* () {} as Double['stream'], onStreamQuery: (() => {}) as Double['onStreamQuery'] }
  const live = (found: typeof owner | undefined) => (found && !revoked.has(found.caller.credential_id) ? found : undefined)

  const gate = createGate({
    handlers: createHandlers(projects, (context, query) => {
      made.onStreamQuery(query)
      return made.stream(context)
    }),
    resolve: async (context, id, params) => {
      if (params.slug !== undefined && id !== 'createProject') visible(projects, context, params.slug)
    },
    authenticate: {
      byToken: async (token) => live(people.find((one) => one.token === token))?.caller,
      bySession: async (secret) => {
        const found = live(people.find((one) => one.session === secret))
        return found && { ...found.caller, via: 'session' as const }
      },
    },
    credentialAlive: async (id) => !revoked.has(id),
    signIn: async (code) => (codes.delete(code) ? { secret: owner.session, max_age_s: 3600 } : undefined),
    signInByPassword: async ({ email, password }) => {
      if (password === 'too often') return { wait_s: 7 }
      return email === 'owner@example.com' && password === 'correct horse' ? { session: { secret: owner.session, max_age_s: 3600 } } : { wrong: true }
    },
    joining: doubleJoining(owner.session),
    owner_email: 'owner@example.com',
    cookie_name: cookieName,
    health: async () => ({ status: 'ok', version: '0.1.0', runtime: null, uptime_s: 1, checks: { database: 'ok' } }),
    dashboard_dir: null,
    has_card_form: false,
    billingHook: async () => {},
    purgeHook: {
      projectOf: async (slug, token) => (projects.has(slug) && token === purgeToken ? slug : undefined),
      purge: async (projectId, what) => {
        purges.push([projectId, what])
        return purges.length
      },
    },
    rateLimits: () => ({ authenticated: 1_000_000, anonymous: 1_000_000 }),
    clock: systemClock,
    log: createLog((line) => log.push(JSON.parse(line) as Record<string, unknown>)),
    ...overrides,
  })
  const port = await gate.listen({ host: overrides.host ?? '127.0.0.1', port: overrides.port ?? 0, fallback: overrides.fallback ?? false })
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    owner,
    stranger,
    projects,
    get stream() {
      return made.stream
    },
    set stream(next) {
      made.stream = next
    },
    get onStreamQuery() {
      return made.onStreamQuery
    },
    set onStreamQuery(next) {
      made.onStreamQuery = next
    },
    log,
    revoked,
    codes,
    purges,
    gate,
    fetch: (path, init) => fetch(url + path, { redirect: 'manual', ...init }),
    close: () => gate.close({ grace_ms: 500 }),
  }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

function person(email: string, isOwner: boolean) {
  const caller: Caller = {
    user_id: newId('usr'),
    account_id: newId('acc'),
    email,
    email_verified: true,
    plan: 'pro',
    is_instance_owner: isOwner,
    via: 'token',
    credential_id: newId('tok'),
  }
  return { token: newToken(), session: `session-of-${caller.user_id}`, caller }
}

function visible(projects: Double['projects'], context: Pick<Context, 'caller'>, slug: string): Project {
  const found = projects.get(slug)
  if (!found || found.account_id !== context.caller.account_id)
    throw new Problem('project_not_found', 'There is no such project. List yours with GET /v1/projects.')
  return withoutAccount(found)
}

function withoutAccount(row: Project & { account_id: string }): Project {
  const { account_id: _, ...project } = row
  return project
}

const now = '2026-01-31T12:00:00.000Z'

export function sampleProject(slug: string, name = slug): Project {
  return {
    id: newId('prj'),
    name,
    slug,
    repo_url: null,
    repo_branch: 'main',
    is_connected: false,
    node_version: 'auto',
    install_command: 'auto',
    build_command: 'auto',
    root_directory: '.',
    memory_limit_mb: 512,
    port: null,
    status: 'created',
    always_warm: false,
    is_cold: false,
    caching_enabled: true,
    has_purge_token: false,
    last_request_at: null,
    created_at: now,
    updated_at: now,
  }
}

export function sampleDeployment(project_id: string): Deployment {
  return {
    id: newId('dpl'),
    project_id,
    status: 'queued',
    target: 'production',
    trigger: 'manual',
    source: 'git',
    branch: 'main',
    commit_sha: null,
    commit_message: null,
    commit_author: null,
    is_dirty: false,
    parent_id: null,
    is_current: false,
    can_rollback: false,
    url: null,
    queue_position: 1,
    error: null,
    framework: null,
    runtime: 'process',
    image_bytes: null,
    queued_ms: null,
    build_ms: null,
    deploy_ms: null,
    screenshots: { desktop: false, mobile: false },
    created_at: now,
    started_at: null,
    finished_at: null,
  }
}

function createHandlers(
  projects: Double['projects'],
  stream: (context: Context, query: { last_event_id?: string | undefined }) => EventStream,
): Handlers<Context> {
  const queued = (context: Context, slug: string) => {
    const deployment = sampleDeployment(visible(projects, context, slug).id)
    return { deployment_id: deployment.id, status: deployment.status, deployment }
  }
  const runtime = { name: 'process' as const, version: null, reason: 'a double' }
  const user = (caller: Caller) => ({
    id: caller.user_id,
    account_id: caller.account_id,
    email: caller.email,
    email_verified: true,
    is_instance_owner: caller.is_instance_owner,
    created_at: now,
  })
  const account = (caller: Caller) => ({ id: caller.account_id, plan: caller.plan, has_payment_method: true, created_at: now })
  const settings = {
    on_exit: 'default' as const,
    build_concurrency: null,
    keep_deployments: 5,
    rate_limit_authenticated: 300,
    rate_limit_anonymous: 30,
    build_memory_mb: 1024,
    build_timeout_s: 600,
    sleep_after_s: 900,
    frozen_for_s: 3600,
    frozen_budget_mb: 2048,
    cache_memory_mb: 128,
    cache_disk_mb: 1024,
    metrics: true,
    https_redirect: false,
    hosts_file: false,
    screenshots: true,
    lan: false,
    sign_up: 'invited' as const,
    platform_ip: null,
    dns_resolvers: null,
    dns_server: null,
    plan: 'pro' as const,
    email_verified: true,
    payment_method: true,
    trial_days: null,
  }
  return {
    async createProject({ caller }, { body }) {
      if (body.name === 'throw') throw new TypeError('an inner detail with /secret/path')
      if (projects.has(body.slug)) throw new Problem('slug_taken', 'Another project has that slug. Choose another.')
      const project = { ...sampleProject(body.slug, body.name), repo_url: body.repo_url ?? null }
      projects.set(body.slug, { ...project, account_id: caller.account_id })
      return { project }
    },
    async listProjects({ caller }, { query }) {
      const mine = [...projects.values()].filter((one) => one.account_id === caller.account_id).slice(0, query.limit ?? 50)
      return { projects: mine.map(withoutAccount), next_cursor: null }
    },
    getProject: async (context, { params }) => ({ project: visible(projects, context, params.slug) }),
    async updateProject(context, { params, body }) {
      const project = { ...visible(projects, context, params.slug), ...body }
      projects.set(params.slug, { ...project, account_id: context.caller.account_id })
      return { project }
    },
    async deleteProject(context, { params }) {
      visible(projects, context, params.slug)
      projects.delete(params.slug)
    },
    async stopProject(context, { params }) {
      visible(projects, context, params.slug)
      return { ok: true, status: 'inactive' }
    },
    deployProject: async (context, { params }) => queued(context, params.slug),
    async uploadProject(context, { params, upload }) {
      const answer = queued(context, params.slug)
      let bytes = 0
      for await (const chunk of upload) bytes += chunk.length
      if (bytes === 0) throw new Problem('invalid_archive', 'The body is empty. Send a .zip or a .tar.gz.')
      return answer
    },
    retryDeployment: async (context, { params }) => queued(context, params.slug),
    async cancelDeployment(context, { params }) {
      visible(projects, context, params.slug)
      return { ok: true }
    },
    rollbackDeployment: async (context, { params }) => queued(context, params.slug),
    async listDeployments(context, { params }) {
      return { deployments: [sampleDeployment(visible(projects, context, params.slug).id)], next_cursor: null }
    },
    async getDeployment(context, { params }) {
      const deployment = sampleDeployment(visible(projects, context, params.slug).id)
      return {
        deployment: {
          ...deployment,
          build_log: '',
          build_log_truncated: false,
          build_log_lines: 0,
          steps: [{ name: 'clone', status: 'done', started_at: now, finished_at: now }],
        },
      }
    },
    async getScreenshot(context, { params }) {
      visible(projects, context, params.slug)
      return new Uint8Array([0x89, 0x50, 0x4e, 0x47])
    },
    async streamBuildLog(context, { params, query }) {
      visible(projects, context, params.slug)
      return stream(context, query)
    },
    async streamRuntimeLog(context, { params, query }) {
      visible(projects, context, params.slug)
      return stream(context, query)
    },
    ...createEdgeHandlers((context, slug) => visible(projects, context, slug)),
    ...createBillingHandlers(),
    ...createDatabaseHandlers((context, slug) => visible(projects, context, slug)),
    ...createDomainHandlers((context, slug) => visible(projects, context, slug)),
    ...createEnvVarHandlers((context, slug) => visible(projects, context, slug)),
    ...createPreviewHandlers((context, slug) => visible(projects, context, slug)),
    ...createRemoteHandlers(),
    ...createTokenHandlers(),
    ...createUpkeepHandlers((context, slug) => visible(projects, context, slug)),
    ...createPeopleHandlers(),
    getSession: async ({ caller }) => ({
      user: user(caller),
      account: account(caller),
      instance: {
        version: '0.1.0',
        api_url: '',
        edge_url: '',
        edge_https_url: null,
        dashboard_url: '',
        runtime,
        encryption: 'file_key',
        is_local: true,
      },
    }),
    followInstance: async (context) => stream(context, {}),
    async deployFolder(_, { body }) {
      const project = sampleProject(body.slug ?? 'folder')
      return { project, deployment: sampleDeployment(project.id) }
    },
    doctor: async () => ({ checks: [] }),
    getSettings: async () => ({ settings }),
    updateSettings: async (_, { body }) => ({ settings: { ...settings, ...body } }),
    createSignInLink: async () => ({ url: 'http://localhost/sign-in?code=x', expires_at: now }),
    signOut: async () => ({ ok: true }),
    getLan: async () => ({
      lan: {
        open: false,
        has_owner_password: false,
        sign_in_email: 'owner@example.com',
        encrypted: false,
        warning: null,
        dashboard_urls: [],
        projects: [],
      },
    }),
    createSetupCode: async () => ({ setup_code: 'ABCDE-FGHJK', expires_at: now }),
    setOwnerPassword: async () => ({ ok: true }),
    listUsers: async ({ caller }) => ({ users: [{ ...user(caller), account: account(caller) }] }),
    addUser: async ({ caller }) => ({ user: user(caller), account: account(caller), token: newToken() }),
    async verifyUser({ caller }, { params }) {
      if (params.email !== caller.email) throw new Problem('user_not_found', 'There is nobody with that address.')
      return { user: user(caller) }
    },
    async removeUser() {},
    addTeamMember: async () => ({ ok: true }),
    removeTeamMember: async () => ({ ok: true }),
  }
}
