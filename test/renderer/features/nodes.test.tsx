import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { NodeCard } from '../../../renderer/features/nodes/node-card.tsx'
import { type ClusterNode, clusterNode, nodeReplica } from '../../../server/contract/nodes.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const replica = createExample(nodeReplica, { service: null, branch: null, replica: 1, state: 'running' })
const createNode = (own: Partial<ClusterNode> = {}) =>
  createExample(clusterNode, {
    id: 'node_2',
    name: 'harbour-2',
    address: '10.0.0.2',
    role: 'worker',
    is_ready: true,
    cpus: 4,
    memory_mb: 8192,
    reserved_mb: 2048,
    replicas: [replica],
    ...own,
  })
const openMenu = async (node: ClusterNode, answers = {}) => {
  const part = renderPart(<NodeCard node={node} />, { answers })
  await part.user.click(screen.getByRole('button', { name: 'Actions for harbour-2' }))
  return { ...part, actions: screen.getAllByRole('menuitem').map(({ textContent }) => textContent) }
}
const choose = (name: string) => screen.getByRole('menuitem', { name })

test.each<[string, Partial<ClusterNode>, string]>([
  [
    'a worker',
    {},
    '10.0.0.2 · Worker · Edge Active [Actions for harbour-2] [Reserved memory] 2.1 GB of 8.6 GB reserved · 4 CPUs · Docker 18.4 [Replicas on harbour-2] My shop [Running] Replica 1',
  ],
  [
    'the leader with Homeport, without an edge',
    { role: 'manager', is_leader: true, is_control_plane: true, edge: null, engine_version: null, cpus: 1, replicas: [] },
    '10.0.0.2 · Leader · Homeport Active [Actions for harbour-2] [Reserved memory] 2.1 GB of 8.6 GB reserved · 1 CPU Nothing runs here.',
  ],
  [
    'one that is down',
    {
      is_ready: false,
      availability: 'drained',
      edge: 'not_connected',
      labels: { disk: 'ssd' },
      replicas: [{ ...replica, branch: 'docs', service: 'web' }],
    },
    '10.0.0.2 · Worker · Edge not connected Down [Actions for harbour-2] [Labels of harbour-2] disk=ssd [Reserved memory] 2.1 GB of 8.6 GB reserved · 4 CPUs · Docker 18.4 [Replicas on harbour-2] My shop docs [Running] web 1',
  ],
])('%s', (_, own, expected) => {
  expect(renderPart(<NodeCard node={createNode(own)} />).text()).toBe(`harbour-2 ${expected}`)
})

test.each<[string, Partial<ClusterNode>, string[]]>([
  ['an active node', {}, ['Cordon', 'Drain', 'Remove…']],
  ['a cordoned node', { availability: 'cordoned' }, ['Activate', 'Drain', 'Remove…']],
  ['a drained node', { availability: 'drained' }, ['Activate', 'Remove…']],
  ['the node of Homeport', { is_control_plane: true }, ['Cordon', 'Drain']],
])('the actions of %s', async (_, own, expected) => expect((await openMenu(createNode(own))).actions).toEqual(expected))

test('is drained', async () => {
  const { user, sent } = await openMenu(createNode())
  await user.click(choose('Drain'))
  expect(sent).toEqual([{ operation: 'updateNode', params: { node: 'node_2' }, body: { availability: 'drained' } }])
})

test('a node that may not be removed stays, and the dialog says why', async () => {
  const { user, sent, text } = await openMenu(createNode(), { removeNode: problemResponse('node_in_use', 'Drain the node first.') })
  await user.click(choose('Remove…'))
  expect(text()).toContain('Remove harbour-2? It must be drained first.')
  await user.click(screen.getByRole('button', { name: 'Remove' }))
  expect(sent).toEqual([{ operation: 'removeNode', params: { node: 'node_2' } }])
  expect(await screen.findByText(/Drain the node first/)).toBeTruthy()
})
