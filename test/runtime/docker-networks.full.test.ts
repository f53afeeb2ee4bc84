import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDockerEngine } from '../../server/runtime/docker/engine.ts'
import { ensureSmallNetwork, removeNetwork } from '../../server/runtime/docker/networks.ts'
import { requires } from '../support/requirements.ts'
import { runProgram, runtimeOptions } from '../support/runtime.ts'

const count = 200

describe.skipIf(!requires('docker').ok)('networks of many environments', () => {
  let options: Awaited<ReturnType<typeof runtimeOptions>>
  beforeAll(async () => void (options = await runtimeOptions()))
  afterAll(() => options.remove())

  test('200 environments get networks concurrently, each its own, and all can be removed', async () => {
    const engine = createDockerEngine(options)
    const { docker } = await engine.connection()
    const names = Array.from({ length: count }, (_, index) => engine.createName('services', `env-${index}`))
    const listMine = async () => {
      const lines = await runProgram('docker', ['network', 'ls', '-q', '--filter', `label=homeport.instance=${options.instance_id}`])
      return lines.trim().split('\n').filter(Boolean)
    }
    try {
      // Each is requested twice, as by two services that start at once.
      await Promise.all(
        [...names, ...names].map((Name) => ensureSmallNetwork(docker, { Name, Internal: false, Labels: engine.createLabels('network') })),
      )
      const ids = await listMine()
      expect(ids).toHaveLength(count)
      const found = JSON.parse(await runProgram('docker', ['network', 'inspect', ...ids])) as { IPAM: { Config: { Subnet: string }[] } }[]
      expect(new Set(found.map(({ IPAM }) => IPAM.Config[0]?.Subnet)).size).toBe(count)
    } finally {
      for (const name of names) await removeNetwork(docker, name)
    }
    expect(await listMine()).toEqual([])
  })
})
