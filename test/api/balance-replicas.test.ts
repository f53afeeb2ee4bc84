import { describe, expect, test } from 'vitest'
import { selectSurplus } from '../../server/features/balance-replicas.ts'
import type { RuntimeNode } from '../../server/runtime/nodes.ts'
import { placedReplica, runtimeNode } from '../support/runtime-node.ts'

const node = (name: string, ids: string[], more: Partial<RuntimeNode> = {}): RuntimeNode =>
  runtimeNode(
    name,
    ids.map((id) => {
      const [service = '', number = '1'] = id.split('#')
      return placedReplica(id, { service, replica: Number(number) })
    }),
    more,
  )
const moved = (...nodes: RuntimeNode[]) => selectSurplus(nodes).map(({ id }) => id)

describe('selectSurplus', () => {
  test.each<[string, string[][], string[]]>([
    ['all on one node', [['web#1', 'web#2', 'web#3'], [], []], ['web#2', 'web#3']],
    ['as even as it can be', [['web#1', 'web#3'], ['web#2']], []],
    ['one too many', [['web#2', 'web#1', 'web#4'], ['web#3'], []], ['web#4']],
    ['each service by itself', [['web#1', 'api#1'], []], []],
    ['nothing runs', [[], []], []],
  ])('%s', (_, placed, expected) => {
    expect(moved(...placed.map((replicas, index) => node(`n${index}`, replicas)))).toEqual(expected)
  })

  test('nodes that take no replicas count for nothing', () => {
    const full = node('n1', ['web#1', 'web#2'])
    expect(moved(full, node('n2', [], { availability: 'cordoned' }), node('n3', [], { is_ready: false }))).toEqual([])
    expect(moved(full, node('n2', [], { availability: 'drained' }), node('n3', []))).toEqual(['web#2'])
  })

  test('a service that asks for labels is spread over the nodes that have them', () => {
    const ssd = { labels: { disk: 'ssd' } }
    const wanted = (ids: string[]) => ids.map((id, at) => placedReplica(id, { replica: at + 1, node_labels: ['disk=ssd'] }))
    expect(moved(runtimeNode('n1', wanted(['a', 'b', 'c']), ssd), runtimeNode('n2', []))).toEqual([])
    expect(moved(runtimeNode('n1', wanted(['a', 'b', 'c']), ssd), runtimeNode('n2', [], ssd))).toEqual(['c'])
    // The label was moved to another node.
    expect(moved(runtimeNode('n1', wanted(['a'])), runtimeNode('n2', [], ssd))).toEqual(['a'])
    expect(moved(runtimeNode('n1', wanted(['a', 'b'])), runtimeNode('n2', []))).toEqual([])
  })
})
