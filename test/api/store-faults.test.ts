import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allOperations } from '../../server/contract/index.ts'
import { newId } from '../../server/lib/id.ts'
import { insertDeployment } from '../../server/store/deployments.ts'
import { updateProject } from '../../server/store/projects.ts'
import type { DeploymentRow } from '../../server/store/tables.ts'
import type { Db, Tx } from '../../server/store/store.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { createTarGz } from '../support/archives.ts'
import { deploymentRow } from '../support/database-rows.ts'
import { isFullTier } from '../support/tier.ts'

/** How many writes succeed before the one that fails. Only writes of the armed request count. */
interface Fault {
  writes_before: number
  code: 'SQLITE_FULL' | 'SQLITE_IOERR_FSYNC'
  is_hit: boolean
  is_over: boolean
}
const currentFault = new AsyncLocalStorage<Fault | undefined>()
let armed: Fault | undefined

let server: ApiServer
let count = 0

beforeAll(async () => {
  server = await startApiServer({
    overrides: ({ handlers }, store) => {
      failWrites(store.db)
      return {
        handlers: Object.fromEntries(
          Object.entries(handlers).map(([name, handle]) => [
            name,
            (...args: never[]) => {
              const fault = armed
              armed = undefined
              return currentFault.run(fault, async () => {
                try {
                  return await (handle as (...all: never[]) => unknown)(...args)
                } finally {
                  // Background jobs retry on their own.
                  if (fault) fault.is_over = true
                }
              })
            },
          ]),
        ) as typeof handlers,
      }
    },
  })
})
afterAll(() => server.close())

/** Throws in place of the armed write, inside the real transaction, which the real code rolls back. */
function failWrites(db: Db): void {
  const strike = () => {
    const fault = currentFault.getStore()
    if (!fault || fault.is_hit || fault.is_over) return
    if (fault.writes_before-- > 0) return
    fault.is_hit = true
    throw new Sqlite.SqliteError(`injected ${fault.code}`, fault.code)
  }
  const failing =
    <R>(work: (tx: Tx) => R) =>
    (tx: Tx): R => {
      const run = (query: Parameters<Tx['run']>[0]) => (strike(), tx.run(query))
      const statement = (sql: string) =>
        new Proxy(tx.statement(sql), {
          get(target, name: 'run' | 'get' | 'all') {
            return (...args: unknown[]) => {
              if (name === 'run') strike()
              return target[name](...args)
            }
          },
        })
      const result = work({ ...tx, run, statement })
      strike()
      return result
    }
  const { write, writeSync: writeNow } = db
  db.write = (work) => write(failing(work))
  db.writeSync = (work) => writeNow(failing(work))
}

/** A body of bytes is an archive. */
async function ask<Body>(method: string, path: string, body?: unknown, token = server.owner.token): Promise<{ status: number; body: Body }> {
  const isArchive = Buffer.isBuffer(body)
  const init: RequestInit = { method, headers: { ...bearer(token), 'content-type': isArchive ? 'application/gzip' : 'application/json' } }
  if (body !== undefined) init.body = isArchive ? new Uint8Array(body) : JSON.stringify(body)
  const response = await server.fetch(path, init)
  const text = await response.text()
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body }
}

async function create<Body>(method: string, path: string, body: unknown = {}): Promise<Body> {
  const response = await ask<Body>(method, path, body)
  expect([path, response.status < 300, response.body]).toEqual([path, true, response.body])
  return response.body
}

/** Every row of every table; for one project, only its rows, because others have background jobs. The repository watcher's state is excluded. */
function rows(project_id = ''): Record<string, string[]> {
  const { raw } = server.store.db
  const tables = raw.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'watches'").pluck().all() as string[]
  const all = (table: string) =>
    raw
      .prepare(`SELECT * FROM "${table}"`)
      .all()
      .map((row) => JSON.stringify(row))
  return Object.fromEntries(tables.map((table) => [table, all(table).filter((row) => row.includes(project_id))]))
}

const fresh = () => `faults-${++count}`
async function project() {
  const { slug, id: project_id } = await server.createProject(fresh())
  return { slug, project_id }
}
async function deployment(row: Partial<DeploymentRow>) {
  const { slug, project_id } = await project()
  const id = newId('dpl')
  await server.store.db.write((tx) => insertDeployment(tx, { ...deploymentRow({ id, project_id }), ...row }, []))
  return { slug, project_id, id }
}

/** Stored sources of projects, and uploads that are not checked yet. */
const files = () =>
  ['archives', 'quarantine']
    .map((folder) => join(server.data_dir, folder))
    .flatMap((folder) => (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()

interface Request {
  project_id?: string
  slug?: string
  id?: string
  email?: string
  body?: object
  /** Of the caller; without it, of the owner. */
  token?: string
}
const cases: Record<string, () => Promise<Request> | Request> = {
  createProject: () => ({ body: { name: 'n', slug: fresh() } }),
  updateProject: async () => ({ ...(await project()), body: { name: 'renamed', always_warm: true } }),
  deleteProject: project,
  stopProject: project,
  createPurgeToken: project,
  purgeAll: project,
  purgeTags: async () => ({ ...(await project()), body: { tags: ['a'] } }),
  deployProject: async () => {
    const { slug, project_id } = await project()
    await server.store.db.write((tx) => updateProject(tx, project_id, { repo_url: 'https://git.invalid/a.git' }))
    return { slug, project_id }
  },
  retryDeployment: () => deployment({ status: 'failed', commit_sha: 'a'.repeat(40) }),
  cancelDeployment: () => deployment({ status: 'building' }),
  createEnvVars: async () => ({
    ...(await project()),
    body: {
      vars: [
        { key: 'A', value: '1' },
        { key: 'B', value: '2' },
      ],
    },
  }),
  updateEnvVar: async () => ({ ...(await variable()), body: { value: 'v' } }),
  deleteEnvVar: variable,
  addDomain: async () => ({ ...(await project()), body: { hostname: `${fresh()}.example.com` } }),
  deleteDomain: domain,
  createToken: () => ({ body: { name: fresh() } }),
  revokeToken: async () => ({ id: (await create<{ api_token: { id: string } }>('POST', '/v1/tokens', { name: fresh() })).api_token.id }),
  updateSettings: () => ({ body: { keep_deployments: 5 + (count++ % 9) } }),
  createSignInLink: () => ({ body: {} }),
  addUser: () => ({ body: { email: `${fresh()}@example.com` } }),
  removeUser: user,
  createInvitation: () => ({ body: { email: `${fresh()}@example.com` } }),
  revokeInvitation: async () => ({ id: (await invitation()).id }),
  acceptInvitation: async () => ({ token: (await person()).token, body: { code: (await invitation()).code } }),
  addTeamMember: team,
  removeTeamMember: async () => {
    const { body } = await team()
    await create('POST', '/instance/team', body)
    return { body }
  },
  removeMember: async () => ({ id: (await member()).user.id }),
  leaveTeam: async () => ({ token: (await member()).token, body: { account_id: server.owner.account_id } }),
  verifyUser: user,
  createVerificationLink: () => ({ body: { email: `${fresh()}@example.com` } }),
  setOwnerPassword: () => ({ body: { password: `correct horse ${fresh()}` } }),
  updateWatching: async () => ({ ...(await project()), body: { previews: true, deploys_pushes: true } }),
  uploadProject: async () => ({ ...(await project()), body: createTarGz([{ name: 'index.html', data: 'hello' }]) }),
}

async function person() {
  const one = await create<{ user: { id: string; email: string }; token: string }>('POST', '/instance/users', { email: `${fresh()}@example.com` })
  // The first use of a token updates its row.
  await ask('GET', '/instance/session', undefined, one.token)
  return one
}
async function team() {
  return { body: { owner_email: (await person()).user.email, member_email: (await person()).user.email } }
}
async function invitation() {
  const made_one = await create<{ invitation: { id: string }; url: string }>('POST', '/instance/team/invitations', {
    email: `${fresh()}@example.com`,
  })
  return { id: made_one.invitation.id, code: new URL(made_one.url).searchParams.get('code') ?? '' }
}
async function member() {
  const one = await person()
  await create('POST', '/instance/team', { owner_email: server.owner.email, member_email: one.user.email })
  return one
}

async function variable() {
  const { slug, project_id } = await project()
  const { created } = await create<{ created: { id: string }[] }>('POST', `/v1/projects/${slug}/env-vars`, { key: 'A', value: 'b' })
  return { slug, project_id, id: created[0]!.id }
}
async function domain() {
  const { slug, project_id } = await project()
  return {
    slug,
    project_id,
    id: (await create<{ domain: { id: string } }>('POST', `/v1/projects/${slug}/domains`, { hostname: `${slug}.example.com` })).domain.id,
  }
}
async function user() {
  return { email: (await person()).user.email }
}

const answers = { SQLITE_FULL: [507, 'storage_full'], SQLITE_IOERR_FSYNC: [503, 'database_busy'] } as const

/** Each write of a password takes a hash of 64 MB. */
const tested = Object.keys(cases).filter((name) => isFullTier || name !== 'setOwnerPassword')

test.each(tested)('%s leaves no partial state when any of its writes fails with a full disk or an I/O error', async (name) => {
  const { method, path } = allOperations[name as keyof typeof allOperations]
  for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_FSYNC'] as const) {
    let request = await cases[name]!()
    for (let writes_before = 0; ; writes_before++) {
      const before = [rows(request.project_id), files()]
      const fault: Fault = { writes_before, code, is_hit: false, is_over: false }
      armed = fault
      const url = path.replace(/\{(slug|id|email)\}/g, (_, key: 'slug' | 'id' | 'email') => request[key] ?? '')
      const response = await ask<{ error: string }>(method, url, request.body, request.token)
      if (!fault.is_hit) {
        expect([response.status < 300, response.body]).toEqual([true, response.body])
        expect(writes_before).toBeGreaterThan(0)
        break
      }
      if (response.status < 300) {
        // The response does not depend on this write: its failure is logged.
        expect(JSON.stringify(server.log)).toContain(`injected ${code}`)
        request = await cases[name]!()
      } else {
        expect([response.status, response.body.error]).toEqual(answers[code])
        expect([rows(request.project_id), files()]).toEqual(before)
      }
    }
  }
})
