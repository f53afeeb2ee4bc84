import Docker from 'dockerode'
import { describe, expect, test } from 'vitest'
import { dropNetwork, makeNetwork } from '../../server/database/docker-network.ts'
import { createEngine } from '../../server/runtime/docker-engine.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { runtimeOptions } from '../support/runtime.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  test('a network that many ask for at once is one', async () => {
    const options = await runtimeOptions()
    const docker = new Docker({ socketPath: dockerSocket })
    const engine = createEngine(options)
    const name = engine.databaseNetwork('prj_busy')
    try {
      await Promise.all(Array.from({ length: 12 }, () => makeNetwork(engine, docker, 'prj_busy')))
      await makeNetwork(engine, docker, 'prj_busy')
      expect((await docker.listNetworks({ filters: { name: [name] } })).map((one) => one.Name)).toEqual([name])
    } finally {
      await dropNetwork(engine, docker, 'prj_busy')
      await options.remove()
    }
    expect(await docker.listNetworks({ filters: { name: [name] } })).toEqual([])
  })
})
