import { expect, test } from 'vitest'
import { layOutDiagram } from '../../renderer/features/plan/diagram-layout.ts'
import type { PlannedService } from '../../server/contract/source-plans.ts'

const service = (name: string, change: Partial<PlannedService> = {}): PlannedService => ({
  name,
  kind: 'worker',
  is_main: false,
  is_public: false,
  build: 0,
  depends_on: [],
  volumes: [],
  facts: [],
  ...change,
})

test('a service is to the left of its dependencies, and a volume next to its users', () => {
  const { nodes, edges, columns, rows } = layOutDiagram(
    [
      service('db', { kind: 'image', build: null, volumes: ['data'] }),
      service('api', { depends_on: ['db'] }),
      service('web', { kind: 'web', is_public: true, depends_on: ['api'], volumes: ['files'] }),
    ],
    [],
    [],
  )
  expect(Object.fromEntries(nodes.map(({ title, column, row }) => [title, [column, row]]))).toEqual({
    Visitors: [0, 0],
    web: [1, 0],
    api: [2, 0],
    files: [2, 1],
    db: [3, 0],
    data: [4, 0],
  })
  expect([columns, rows]).toEqual([5, 2])
  expect(edges).toContainEqual(['visitors', 'service web'])
  expect(edges).toContainEqual(['service db', 'volume data'])
})

test('a source without a public service has no visitors', () => {
  const { nodes, columns } = layOutDiagram([service('bot')], [], [])
  expect(nodes.map(({ title, column }) => [title, column])).toEqual([['bot', 0]])
  expect(columns).toBe(1)
})

test('managed services are beside the last service that is built, which leads to them', () => {
  const redis = {
    name: 'redis' as const,
    label: 'Redis',
    image: 'redis:7',
    variables: ['REDIS_URL'],
    is_listed: true,
    is_added: false,
    origin: 'homeport.yaml line 1',
  }
  const { nodes, edges } = layOutDiagram(
    [
      service('web', { kind: 'web', is_public: true, depends_on: ['api'] }),
      service('api', { depends_on: ['db'] }),
      service('db', { kind: 'image', build: null }),
    ],
    [],
    [redis, { ...redis, name: 'mail', label: 'Mail catcher', is_added: true }],
  )
  expect(nodes.filter(({ kind }) => kind === 'managed').map(({ title, subtitle, column, row }) => [title, subtitle, column, row])).toEqual([
    ['Redis', 'Managed, new', 3, 1],
    ['Mail catcher', 'Managed service', 3, 2],
  ])
  expect(edges.filter(([, to]) => to.startsWith('managed'))).toEqual([
    ['service api', 'managed redis'],
    ['service api', 'managed mail'],
  ])
})
