import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import NodesPage from '../../../renderer/features/nodes/page.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { type ClusterNode, clusterNode } from '../../../server/contract/nodes.ts'
import { type Standby, standby } from '../../../server/contract/standbys.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const { user, ...others } = createExample(instanceOperations.getSession.success.json)
const createNode = (name: string, own: Partial<ClusterNode> = {}) =>
  createExample(clusterNode, { id: name, name, role: 'manager', is_ready: true, replicas: [], ...own })
const replicas = createExample(clusterNode).replicas
const managers = ['one', 'two', 'three'].map((name) => createNode(name))
const createStandby = (own: Partial<Standby> = {}) =>
  createExample(standby, { name: 'spare', is_synced: true, behind_bytes: 0, takes_over: true, ...own })
interface PageState {
  nodes?: ClusterNode[] | undefined
  standbys?: Standby[] | undefined
  is_instance_owner?: boolean
  answers?: PartOptions['answers']
}
const showPage = ({ nodes, standbys, is_instance_owner = true, answers = {} }: PageState) =>
  renderPart(<NodesPage />, {
    data: [
      [queryKeys.session, { ...others, user: { ...user, is_instance_owner } }],
      [queryKeys.nodes, nodes],
      [queryKeys.standbys, standbys],
    ],
    answers,
  })
const paragraphs = () => [...(screen.getByText(/ ready\./).parentElement?.children ?? [])].map(({ textContent }) => textContent)
const click = (name: string) => screen.getByRole('button', { name })

test.each<[string, ClusterNode[], string]>([
  ['one node', [createNode('one', { replicas })], '1 replica on 1 node, 1 of 1 manager ready.'],
  [
    'a worker',
    [createNode('one'), createNode('two', { role: 'worker' })],
    '0 replicas on 2 nodes, 1 of 1 manager ready. If one more manager stops, nothing is deployed or repaired.',
  ],
  [
    'three managers',
    managers.map((node) => ({ ...node, replicas })),
    '3 replicas on 3 nodes, 3 of 3 managers ready. If 2 more managers stop, nothing is deployed or repaired.',
  ],
  [
    'a manager that is down',
    managers.map((node, index) => ({ ...node, is_ready: index > 0 })),
    '0 replicas on 3 nodes, 2 of 3 managers ready. If one more manager stops, nothing is deployed or repaired.',
  ],
])('a cluster with %s', (_, nodes, expected) => {
  showPage({ nodes, standbys: [] })
  expect(paragraphs()).toEqual([expected])
  expect(
    within(screen.getByRole('list', { name: 'Nodes' }))
      .getAllByRole('heading')
      .map(({ textContent }) => textContent),
  ).toEqual(nodes.map(({ name }) => name))
  expect(document.title).toBe('Nodes · Homeport')
})

test.each<[string, Partial<Standby>, string]>([
  ['that is in step', { takes_over: false }, 'The standby on spare is in step.'],
  ['that takes over', {}, 'The standby on spare is in step, and leads if this instance stops responding.'],
  ['that is behind', { is_synced: false, behind_bytes: 2_000_000 }, 'The standby on spare is 2.0 MB behind.'],
])('a standby %s', (_, own, expected) => {
  showPage({ nodes: managers, standbys: [createStandby(own)] })
  expect(paragraphs()[1]).toBe(expected)
})

test.each<[string, PageState, string]>([
  ['while nodes are loaded', { standbys: [] }, 'Loading'],
  ['while standbys are loaded', { nodes: managers }, 'Loading'],
  [
    'without a cluster',
    { nodes: [], standbys: [] },
    'Apps run on this machine Connect this instance to a cluster to run them on several. How it works',
  ],
  ['for others than the owner', { nodes: managers, standbys: [], is_instance_owner: false }, 'Only the instance owner can see nodes.'],
])('the page %s', (_, state, expected) => expect(showPage(state).text().endsWith(expected)).toBe(true))

test('nodes that cannot be loaded are explained', async () => {
  showPage({ standbys: [], answers: { listNodes: problemResponse('internal_error', 'The swarm does not answer.') } })
  expect((await screen.findByRole('alert')).textContent).toContain('The swarm does not answer.')
  expect(screen.queryByRole('button', { name: 'Balance' })).toBeNull()
})

test.each([
  [0, 'The replicas are spread as evenly as they can be.'],
  [1, 'Moved 1 replica.'],
  [2, 'Moved 2 replicas.'],
])('balancing that moves %d', async (moved, expected) => {
  const part = showPage({ nodes: managers, standbys: [], answers: { balanceNodes: { moved } } })
  await part.user.click(click('Balance'))
  expect(part.sent).toEqual([{ operation: 'balanceNodes', params: {} }])
  await waitFor(() => expect(useUi.getState().toasts.map(({ text }) => text)).toEqual([expected]))
})

test('a node is added with a command', async () => {
  const token = { address: '10.0.0.1:2377', token: 'SWMTKN-1', registry: null }
  const part = showPage({ nodes: managers, standbys: [], answers: { createJoinToken: token } })
  await part.user.click(click('Add a node'))
  await part.user.click(screen.getByRole('radio', { name: 'Manager' }))
  expect(part.text()).toContain('The command contains a secret')
  await part.user.click(click('Show command'))
  expect(part.sent).toEqual([{ operation: 'createJoinToken', params: {}, body: { role: 'manager' } }])
  expect(await screen.findByText('npx homeport node join 10.0.0.1:2377 --token SWMTKN-1')).toBeTruthy()
  expect(part.text()).not.toContain('The command contains a secret')
  await part.user.click(screen.getByRole('radio', { name: 'Worker' }))
  expect(part.text()).toContain('The command contains a secret')
  await part.user.click(click('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
})
