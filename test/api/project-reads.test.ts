/** A request reads its project once: `resource` of the operation loads it, and the handler gets it from its context. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { insertDeployment } from '../../server/store/deployments.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { deploymentRow } from '../support/database-rows.ts'

let server: ApiServer
let statements: string[] = []
const deployment_id = newId('dpl')

beforeAll(async () => {
  server = await startApiServer({ onStatement: (sql) => statements.push(sql) })
  const { id } = await server.createProject('shop')
  await server.store.db.write((tx) => insertDeployment(tx, deploymentRow({ id: deployment_id, project_id: id }), []))
})
afterAll(() => server.close())

const readsProject = /^select\b.*\bfrom "?projects\b/i
const path = '/v1/projects/shop'

test.each([
  ['GET', path],
  ['GET', `${path}/deployments?limit=5`],
  ['GET', `${path}/deployments/${deployment_id}`],
  ['GET', `${path}/env-vars`],
  ['GET', `${path}/domains`],
  ['GET', `${path}/previews`],
  ['GET', `${path}/metrics`],
  ['GET', `${path}/cache/log`],
  ['GET', '/instance/projects/shop/watching'],
  ['GET', '/instance/projects/shop/database'],
  ['POST', `${path}/env-vars`, { key: 'A', value: '1', environment: 'preview' }],
])('%s %s', async (method, at, body?: object) => {
  statements = []
  const response = await server.fetch(at, {
    method,
    headers: { ...bearer(server.owner.token), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect([response.status, await response.text()]).toEqual([method === 'POST' ? 201 : 200, expect.any(String)])
  const reads = statements.filter((sql) => readsProject.test(sql))
  // A change is published, and the subscribers read the project by its id.
  expect(method === 'GET' ? reads : reads.filter((sql) => /\bslug\W+=/.test(sql))).toHaveLength(1)
})
