/**
 * The least that could respond like the API: node:http and prepared statements on the same rows, the same JSON; no
 * authentication, no limits, no validation. `node raw-server.ts DATA`; prints its port.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { presentDeployment, presentProject } from '../../server/features/presenters.ts'
import { openSqlite } from '../../server/store/sqlite.ts'
import { paginate, decodeCursor } from '../../server/store/pagination.ts'
import type { DeploymentRow, ProjectRow } from '../../server/store/tables.ts'

const path = join(process.argv[2] ?? '', 'homeport.db')
const raw = new Sqlite(path, { readonly: true })
const owner = raw.prepare<[], { account_id: string }>('SELECT account_id FROM users WHERE is_instance_owner = 1').get()?.account_id ?? ''
const projects = raw.prepare<[string, number, number], ProjectRow>(
  'SELECT * FROM projects WHERE account_id = ? AND deleted_at IS NULL AND seq < ? ORDER BY seq DESC LIMIT ?',
)
const project = raw.prepare<[string], ProjectRow>('SELECT * FROM projects WHERE slug = ? AND deleted_at IS NULL')
const deployments = raw.prepare<[string, number, number], DeploymentRow>(
  'SELECT * FROM deployments WHERE project_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
)
/** For the fields of a deployment that come from other tables, read by the statements that the platform prepares too. */
const { readSync: readNow } = openSqlite({ path, durable: false })

const handleRequest = (target: string): object => {
  const url = new URL(target, 'http://raw')
  const [, , , slug, what] = url.pathname.split('/')
  const before = decodeCursor(url.pathname, url.searchParams.get('cursor') ?? '') ?? Number.MAX_SAFE_INTEGER
  const limit = Number(url.searchParams.get('limit') ?? 50)
  if (slug === undefined) {
    const page = paginate(url.pathname, projects.all(owner, before, limit + 1), limit)
    return { projects: page.rows.map(presentProject), next_cursor: page.next_cursor }
  }
  const found = project.get(slug)
  if (!found) throw new Error(`no project ${slug}`)
  if (what === undefined) return { project: presentProject(found) }
  const page = paginate(url.pathname, deployments.all(found.id, before, limit + 1), limit)
  return readNow((tx) => ({ deployments: page.rows.map((row) => presentDeployment(tx, row)), next_cursor: page.next_cursor }))
}

const server = createServer((request, response) => {
  const body = JSON.stringify(handleRequest(request.url ?? ''))
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }).end(body)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.on('SIGTERM', () => process.exit(0))
