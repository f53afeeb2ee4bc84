import type { Page } from '@playwright/test'
import type { ClusterNode, NodeReplica } from '../../server/contract/nodes.ts'
import type { Standby } from '../../server/contract/standbys.ts'
import { waitForDialog } from './screen-actions.ts'
import type { Screen } from './screen.ts'

const replicas = (project_slug: string, project_name: string, numbers: number[], more: Partial<NodeReplica> = {}): NodeReplica[] =>
  numbers.map((replica) => ({
    project_slug,
    project_name,
    deployment_id: `dpl_${project_slug}`,
    branch: null,
    service: null,
    replica,
    state: 'running',
    ...more,
  }))

const node = (name: string, address: string, more: Partial<ClusterNode>): ClusterNode => ({
  id: name,
  name,
  address,
  role: 'manager',
  is_leader: false,
  is_control_plane: false,
  is_ready: true,
  availability: 'active',
  cpus: 8,
  memory_mb: 32_000,
  reserved_mb: 1_536,
  engine_version: '28.5.2',
  edge: null,
  labels: {},
  replicas: [],
  ...more,
})

const nodes: ClusterNode[] = [
  node('amsterdam-1', '10.0.0.1', {
    is_leader: true,
    is_control_plane: true,
    replicas: [...replicas('harbour-shop', 'Harbour shop', [1, 4]), ...replicas('tide-api', 'Tide API', [1], { service: 'web' })],
  }),
  node('amsterdam-2', '10.0.0.2', {
    availability: 'draining',
    edge: 'serving',
    replicas: [
      ...replicas('harbour-shop', 'Harbour shop', [2], { state: 'stopping' }),
      ...replicas('tide-api', 'Tide API', [1], { service: 'worker' }),
    ],
  }),
  node('amsterdam-3', '10.0.0.3', {
    reserved_mb: 19_200,
    edge: 'not_listening',
    labels: { disk: 'ssd', zone: 'eu-west-1a' },
    replicas: [
      ...replicas('harbour-shop', 'Harbour shop', [3]),
      ...replicas('harbour-shop', 'Harbour shop', [2], { state: 'starting' }),
      ...replicas('harbour-shop', 'Harbour shop', [1], { branch: 'new-checkout' }),
      ...replicas('tide-api', 'Tide API', [2, 3, 4, 5], { service: 'web' }),
    ],
  }),
  node('worker-with-a-long-name.internal.example.com', '10.0.0.14', {
    role: 'worker',
    is_ready: false,
    edge: 'not_connected',
    cpus: 2,
    memory_mb: 4_000,
    reserved_mb: 0,
  }),
]

/** A cluster of four nodes, which needs several engines. */
async function answerNodes(page: Page): Promise<void> {
  await page.route('**/instance/session', async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { instance: { runtime: { name: string } } }
    body.instance.runtime.name = 'swarm'
    await route.fulfill({ response, json: body })
  })
  // Not the page, whose path is `/app/instance/nodes`.
  const answered = Promise.withResolvers<void>()
  await page.route(
    ({ pathname }) => pathname === '/instance/nodes',
    (route) => route.fulfill({ json: { nodes } }).then(answered.resolve),
  )
  const standbys: Standby[] = [{ name: 'amsterdam-2', is_synced: true, behind_bytes: 0, seen_at: new Date().toISOString(), takes_over: true }]
  // After the nodes could be shown, which must not move then.
  await page.route('**/instance/standbys', async (route) => {
    await answered.promise
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    await route.fulfill({ json: { standbys } })
  })
  const registry = `10.0.0.1:5000@sha256:${'51f7c2a9'.repeat(8)}`
  await page.route('**/instance/nodes/join-token', (route) =>
    route.fulfill({ json: { address: '10.0.0.1:2377', token: 'SWMTKN-1-51f7k2w9x', registry } }),
  )
}

export const nodeScreens: Screen[] = [
  { name: 'nodes', path: 'instance/nodes', before: answerNodes, alters_page: true },
  { name: 'settings-cluster', path: 'projects/harbour-shop/settings', before: answerNodes, alters_page: true },
  {
    name: 'node-add',
    path: 'instance/nodes',
    before: answerNodes,
    alters_page: true,
    async act(page) {
      await page.getByRole('button', { name: 'Add a node' }).click()
      await waitForDialog(page)
      await page.getByRole('button', { name: 'Show command' }).click()
      await page.getByText('Run this on the machine that joins').waitFor()
    },
  },
]
