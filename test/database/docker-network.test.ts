import type Docker from 'dockerode'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { connectServer, ensureProjectNetwork, removeProjectNetwork } from '../../server/database/docker-network.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createDockerEngine } from '../../server/runtime/docker/engine.ts'
import { loadDockerode } from '../../server/runtime/docker/load-dockerode.ts'
import { type ListeningServer, startApp } from '../support/edge.ts'

/* Responses that a real engine gives only when its address ranges are used up, or for concurrent requests. */

const engine = createDockerEngine({ instance_id: 'ins_test', data_dir: '/nowhere', log: silentLog, node_path: '', npm_cli_path: '' })
const name = engine.getDatabaseNetworkName('prj_1')
let api: ListeningServer<unknown>
let docker: Docker
let requests: { line: string; body: { IPAM?: { Config: { Subnet: string }[] } } }[]
/** The engine's responses in order; afterwards every request succeeds. */
let responses: [status: number, body: object][]

beforeAll(async () => {
  api = await startApp(async (request, response) => {
    const chunks = await request.toArray()
    const text = Buffer.concat(chunks).toString()
    requests.push({ line: `${request.method} ${request.url?.split('?')[0]}`, body: text === '' ? {} : JSON.parse(text) })
    const [status, body] = responses.shift() ?? [request.method === 'POST' ? 201 : 200, { Id: 'n1' }]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  docker = new (await loadDockerode())({ protocol: 'http', host: '127.0.0.1', port: api.port })
})
beforeEach(() => {
  requests = []
  responses = []
})
afterAll(() => api.close())

const ensure = () => ensureProjectNetwork(engine, docker, 'prj_1')
const subnets = () => requests.map(({ body }) => body.IPAM?.Config[0]?.Subnet)
const overlap: [number, object] = [403, { message: 'Pool overlaps with other one on this address space' }]

describe('the network of a project’s database', () => {
  test('is internal and has the labels of its project', async () => {
    expect(await ensure()).toBe(name)
    expect(requests).toMatchObject([
      { line: 'POST /networks/create', body: { Name: name, Internal: true, Labels: { 'homeport.role': 'database', 'homeport.project': 'prj_1' } } },
    ])
  })

  test('is created once for concurrent requests, and again for a later one', async () => {
    expect(await Promise.all([ensure(), ensure(), ensure()])).toEqual([name, name, name])
    expect(requests).toHaveLength(1)
    await ensure()
    expect(requests).toHaveLength(2)
  })

  test('an existing one is used', async () => {
    responses = [[409, { message: 'network exists' }]]
    expect(await ensure()).toBe(name)
    expect(requests).toHaveLength(1)
  })

  test('gets a range of sixteen addresses, and the next range while they overlap', async () => {
    responses = [overlap, overlap]
    expect(await ensure()).toBe(name)
    const tried = subnets()
    expect(tried).toHaveLength(3)
    const blocks = tried.map((subnet) => {
      const [, third, fourth] = /^10\.213\.(\d+)\.(\d+)\/28$/.exec(subnet ?? '') ?? []
      expect(Number(fourth) % 16).toBe(0)
      return Number(third) * 16 + Number(fourth) / 16
    })
    expect(blocks.slice(1).map((block, i) => (block - blocks[i]! + 4096) % 4096)).toEqual([31, 31])
  })

  test('is used when another process created it meanwhile', async () => {
    responses = [overlap, [409, { message: 'network exists' }]]
    expect(await ensure()).toBe(name)
    expect(requests).toHaveLength(2)
  })

  fullTest('every range in use: each is tried once, and the error says what to do', async () => {
    responses = Array.from({ length: 4096 }, () => overlap)
    await expect(ensure()).rejects.toMatchObject({ message: expect.stringContaining('no free address range') })
    expect(new Set(subnets()).size).toBe(4096)
    expect(requests).toHaveLength(4096)
  })

  test('fails with the engine’s own error otherwise', async () => {
    responses = [[500, { message: 'iptables failed' }]]
    await expect(ensure()).rejects.toThrow('iptables failed')
    responses = [overlap, [500, { message: 'iptables failed' }]]
    await expect(ensure()).rejects.toThrow('iptables failed')
  })
})

describe('the server in the network', () => {
  test('is connected under the name of its version', async () => {
    await connectServer(docker, name, 'homeport-databases-18', 18)
    expect(requests).toMatchObject([{ body: { EndpointConfig: { Aliases: ['database-18.homeport.internal'] } } }])
    requests.length = 0
    await connectServer(docker, name, 'homeport-databases', 15)
    expect(requests).toMatchObject([
      { line: `POST /networks/${name}/connect`, body: { EndpointConfig: { Aliases: ['database.homeport.internal'] } } },
    ])
  })

  test.each<[string, number, string]>([
    ['connected already', 403, 'endpoint is connected'],
    ['already connected, according to the message', 500, 'endpoint with name x already exists in network'],
  ])('%s is ignored', async (_, status, message) => {
    responses = [[status, { message }]]
    await connectServer(docker, name, 'homeport-databases', 15)
    expect(responses).toEqual([])
  })

  test('any other refusal is an error', async () => {
    responses = [[404, { message: 'network not found' }]]
    await expect(connectServer(docker, name, 'homeport-databases', 15)).rejects.toThrow('network not found')
  })
})

describe('removal', () => {
  test('disconnects running containers, then removes the network', async () => {
    responses = [[200, { Containers: { a: {}, b: {} } }]]
    await removeProjectNetwork(engine, docker, 'prj_1')
    expect(requests.map(({ line }) => line)).toEqual([
      `GET /networks/${name}`,
      `POST /networks/${name}/disconnect`,
      `POST /networks/${name}/disconnect`,
      `DELETE /networks/${name}`,
    ])
  })

  test('a missing network is ignored; any other refusal is an error', async () => {
    const gone: [number, object] = [404, { message: 'no such network' }]
    responses = [gone, gone]
    await removeProjectNetwork(engine, docker, 'prj_1')
    responses = [[500, { message: 'busy' }]]
    await expect(removeProjectNetwork(engine, docker, 'prj_1')).rejects.toThrow('busy')
  })
})
