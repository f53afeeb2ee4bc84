import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import { removeUnusedNetwork } from '../../server/runtime/docker/networks.ts'

/** A network whose answers the test gives out, because the engine's own come at any time. */
function createFakeNetwork(containers: Set<string>) {
  const held = Promise.withResolvers<void>()
  let inspections = 0
  let isRemoved = false
  const missing = () => Promise.reject(Object.assign(new Error('missing'), { statusCode: 404 }))
  const network = {
    async inspect() {
      const seen = Object.fromEntries([...containers].map((id) => [id, {}]))
      if (inspections++ === 0) await held.promise
      return { Containers: seen }
    },
    remove: () => (containers.size > 0 ? Promise.reject(Object.assign(new Error('in use'), { statusCode: 403 })) : void (isRemoved = true)),
  }
  const getContainer = (id: string) => ({ inspect: () => (id === 'gone' ? missing() : Promise.resolve({})) })
  const docker = { getNetwork: () => network, getContainer } as unknown as Docker
  return { docker, answerFirst: () => held.resolve(), isRemoved: () => isRemoved }
}

test('a network is removed with its last container, also while the removal for another one is in progress', async () => {
  const containers = new Set(['last'])
  const { docker, answerFirst, isRemoved } = createFakeNetwork(containers)
  const first = removeUnusedNetwork(docker, 'raced')
  await Promise.resolve()
  containers.delete('last')
  const second = removeUnusedNetwork(docker, 'raced')
  answerFirst()
  await Promise.all([first, second])
  expect(isRemoved()).toBe(true)
})

test('a network that a container uses stays', async () => {
  const { docker, answerFirst, isRemoved } = createFakeNetwork(new Set(['used']))
  answerFirst()
  await removeUnusedNetwork(docker, 'used')
  expect(isRemoved()).toBe(false)
})

test('a removed container whose address is not free yet does not keep its network', async () => {
  const containers = new Set(['gone'])
  const { docker, answerFirst, isRemoved } = createFakeNetwork(containers)
  answerFirst()
  const removal = removeUnusedNetwork(docker, 'late')
  setImmediate(() => containers.delete('gone'))
  await removal
  expect(isRemoved()).toBe(true)
})
