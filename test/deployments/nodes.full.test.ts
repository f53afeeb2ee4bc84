import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClusterNode } from '../../server/contract/nodes.ts'
import { hostNameApp, platformOnNode } from '../support/cluster.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { runCommand } from '../support/command.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import { until } from '../support/until.ts'

/* A platform on a swarm of three nodes, each an engine of its own. */

describe.skipIf(!requires('swarm').ok)('nodes of a cluster', () => {
  let swarm: TestSwarm
  let platform: TestPlatform
  const repository = makeRepository(hostNameApp)

  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
  const start = () => startTestPlatform({ ...platformOnNode(swarm, 1), data_dir })

  beforeAll(async () => {
    swarm = await startSwarm(3)
    platform = await start()
    for (const slug of ['three', 'one']) {
      await platform.createProject({ slug, repo_url: repository.url })
      expect(await platform.waitForEnd(slug, (await platform.deploy(slug)).id)).toMatchObject({ status: 'ready' })
    }
    await scaleThree(3)
    await waitForCounts('three', [1, 1, 1])
  }, 300_000)
  afterAll(async () => {
    await platform.remove()
    await swarm.remove()
    repository.remove()
  }, 120_000)

  const scaleThree = async (replicas: number) =>
    expect(await platform.api('PATCH', '/instance/projects/three/settings', { replicas })).toMatchObject({ status: 200 })
  const listNodes = async () => (await platform.api<{ nodes: ClusterNode[] }>('GET', '/instance/nodes')).body.nodes
  const change = (node: string, availability: string) =>
    platform.api<{ node: ClusterNode; error: string }>('PATCH', `/instance/nodes/${node}`, { availability })
  const placedOn = ({ replicas }: ClusterNode, slug: string) => replicas.filter((one) => one.project_slug === slug && one.state === 'running').length
  /** Its running replicas on each node. */
  const countOf = async (slug: string) => (await listNodes()).map((node) => placedOn(node, slug))
  const waitForCounts = (slug: string, counts: number[]) =>
    until(
      async () => {
        expect(await countOf(slug)).toEqual(counts)
        return true
      },
      { what: `${counts.join(', ')} replicas of ${slug} on the nodes` },
    )
  const waitForNode = (expected: Partial<ClusterNode>) =>
    until(
      async () => {
        const nodes = await listNodes()
        expect(nodes).toContainEqual(expect.objectContaining(expected))
        return true
      },
      { what: `a node with ${JSON.stringify(expected)}` },
    )

  /** Requests to both apps, one after the other, until the work is done; those that failed. */
  const failuresDuring = async (work: () => Promise<void>): Promise<string[]> => {
    const failures: string[] = []
    let isDone = false
    let sent = 0
    const clients = ['three', 'one', 'three', 'one'].map(async (slug) => {
      while (!isDone) {
        const { status, body } = await platform.fetchEdge(`${slug}.localhost`).catch((error: unknown) => ({ status: 0, body: String(error) }))
        sent++
        if (status !== 200) failures.push(`${slug} ${status} ${body}`)
      }
    })
    await work().finally(() => (isDone = true))
    await Promise.all(clients)
    expect(sent).toBeGreaterThan(100)
    return failures
  }

  test('are listed with what they are and what runs on them', async () => {
    const nodes = await listNodes()
    expect(nodes.map(({ address }) => address)).toEqual([1, 2, 3].map((node) => swarm.address(node)))
    expect(nodes.filter(({ is_control_plane }) => is_control_plane)).toHaveLength(1)
    expect(nodes.filter(({ is_leader }) => is_leader)).toHaveLength(1)
    for (const node of nodes) {
      expect(node).toMatchObject({ role: 'manager', is_ready: true, availability: 'active' })
      expect(node.reserved_mb).toBeGreaterThan(0)
      expect(node.memory_mb).toBeGreaterThan(node.reserved_mb)
    }
    const printed = await runCommand(platform.handle.instance, '.', ['node', 'list'])
    for (const { name, address } of nodes) expect(printed.out).toMatch(new RegExp(`${name} +${address.replaceAll('.', '\\.')} .*Active`))
  })

  test('a node is drained without a failed request, and the balance brings replicas back', async () => {
    const nodes = await listNodes()
    const drained = nodes.find((node) => placedOn(node, 'one') === 1)!
    const failures = await failuresDuring(async () => {
      expect((await change(drained.name, 'drained')).body.node).toMatchObject({ availability: 'draining' })
      await waitForNode({ name: drained.name, availability: 'drained' })
    })
    expect(failures).toEqual([])
    const after = await listNodes()
    expect(after.find(({ id }) => id === drained.id)?.replicas).toEqual([])
    expect((await countOf('three')).toSorted((a, b) => a - b)).toEqual([0, 1, 2])
    expect((await countOf('one')).toSorted((a, b) => a - b)).toEqual([0, 0, 1])
    expect(await runCommand(platform.handle.instance, '.', ['node', 'activate', drained.name])).toMatchObject({ code: 0 })
    const balanced = await failuresDuring(async () => {
      expect(await platform.api('POST', '/instance/nodes/balance')).toMatchObject({ status: 200, body: { moved: 1 } })
    })
    expect(balanced).toEqual([])
    await waitForCounts('three', [1, 1, 1])
    expect((await platform.api('POST', '/instance/nodes/balance')).body).toEqual({ moved: 0 })
  }, 240_000)

  test('a drain goes on after a crash of the platform', async () => {
    const drained = (await listNodes()).find((node) => !node.is_control_plane && placedOn(node, 'three') === 1)!
    expect((await change(drained.name, 'drained')).body.node).toMatchObject({ availability: 'draining' })
    await platform.kill()
    platform = await start()
    await waitForNode({ name: drained.name, availability: 'drained', replicas: [] })
    expect((await countOf('three')).toSorted((a, b) => a - b)).toEqual([0, 1, 2])
    await change(drained.name, 'active')
    expect(await platform.api('POST', '/instance/nodes/balance')).toMatchObject({ status: 200, body: { moved: 1 } })
    await waitForCounts('three', [1, 1, 1])
  }, 240_000)

  test('a node that is killed costs no request, and its replicas start on the others', async () => {
    const killed = (await listNodes()).find(({ is_control_plane, is_leader }) => !is_control_plane && !is_leader)!
    const number = [1, 2, 3].find((node) => swarm.address(node) === killed.address)!
    const failures = await failuresDuring(async () => {
      await swarm.run('node-kill', number)
      await until(
        async () => {
          const nodes = await listNodes()
          expect(nodes.find(({ id }) => id === killed.id)?.is_ready).toBe(false)
          expect(nodes.filter(({ is_ready }) => is_ready).reduce((sum, node) => sum + placedOn(node, 'three'), 0)).toBe(3)
          return true
        },
        { what: 'three replicas on the other nodes' },
      )
    })
    expect(failures).toEqual([])
    await swarm.run('node-start', number)
    await waitForNode({ id: killed.id, is_ready: true })
    expect(await platform.api('POST', '/instance/nodes/balance')).toMatchObject({ status: 200, body: { moved: 1 } })
    await waitForCounts('three', [1, 1, 1])
  }, 240_000)

  test('a cordoned node takes no new replicas and keeps those that run', async () => {
    const cordoned = (await listNodes()).find(({ is_control_plane }) => !is_control_plane)!
    expect((await change(cordoned.id, 'cordoned')).body.node).toMatchObject({ availability: 'cordoned', replicas: cordoned.replicas })
    await scaleThree(6)
    const expected = (await listNodes()).map(({ id }) => (id === cordoned.id ? 1 : 0))
    await until(
      async () => {
        const counts = await countOf('three')
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(6)
        expect(counts.filter((_, index) => expected[index] === 1)).toEqual([1])
        return true
      },
      { what: 'six replicas, of which one is on the cordoned node' },
    )
    await scaleThree(3)
    await change(cordoned.id, 'active')
  }, 240_000)

  test('the last node that takes apps stays, and so does one that is not empty', async () => {
    const [own, ...others] = (await listNodes()).toSorted((a, b) => Number(b.is_control_plane) - Number(a.is_control_plane))
    expect(await platform.api('DELETE', `/instance/nodes/${own!.id}`)).toMatchObject({ status: 409, body: { error: 'node_in_use' } })
    expect(await platform.api('DELETE', `/instance/nodes/${others[0]!.name}`)).toMatchObject({ status: 409, body: { error: 'node_in_use' } })
    expect(await platform.api('DELETE', '/instance/nodes/unknown')).toMatchObject({ status: 404, body: { error: 'node_not_found' } })
    for (const { name } of others) await change(name, 'cordoned')
    expect(await change(own!.name, 'drained')).toMatchObject({ status: 409, body: { error: 'node_in_use' } })
    for (const { name } of others) await change(name, 'active')
  })

  test('a project that asks for a label runs on the nodes that have it, and nowhere without one', async () => {
    const labeled = (await listNodes()).find(({ is_control_plane }) => !is_control_plane)!
    const runNode = (...args: string[]) => runCommand(platform.handle.instance, '.', ['node', ...args])
    expect(await runNode('label', labeled.name, 'disk=ssd', 'zone=a')).toMatchObject({ code: 0, out: `${labeled.name}: disk=ssd, zone=a\n` })
    const deployWith = async (node_labels: string[]) => {
      expect(await platform.api('PATCH', '/instance/projects/three/settings', { node_labels })).toMatchObject({ status: 200 })
      return platform.waitForEnd('three', (await platform.deploy('three')).id)
    }
    expect(await deployWith(['disk=ssd'])).toMatchObject({ status: 'ready' })
    const counts = (await listNodes()).map(({ id }) => (id === labeled.id ? 3 : 0))
    await waitForCounts('three', counts)
    expect((await platform.api('POST', '/instance/nodes/balance')).body).toEqual({ moved: 0 })
    expect(await deployWith(['disk=ssd', 'zone=b'])).toMatchObject({
      status: 'failed',
      error: { hint: expect.stringContaining('the labels disk=ssd, zone=b') as unknown },
    })
    await waitForCounts('three', counts)
    expect(await runNode('label', labeled.name, 'disk-', 'zone-')).toMatchObject({ code: 0, out: `${labeled.name}: no labels\n` })
    expect(await deployWith([])).toMatchObject({ status: 'ready' })
    await waitForCounts('three', [1, 1, 1])
  }, 240_000)

  test('a machine leaves, joins again by the command, and gets replicas', async () => {
    const leaving = (await listNodes()).find(({ address }) => address === swarm.address(3))!
    expect(await runCommand(platform.handle.instance, '.', ['node', 'drain', leaving.name])).toMatchObject({ code: 0 })
    expect(await runCommand(platform.handle.instance, '.', ['node', 'remove', leaving.name])).toMatchObject({ code: 0 })
    expect(await listNodes()).toHaveLength(2)
    await swarm.docker(3, ['swarm', 'leave', '--force'])
    const docker_host = `unix://${swarm.socket(3)}`
    const join = (token: string) =>
      runCommand(platform.handle.instance, '.', ['node', 'join', `${swarm.address(1)}:2377`, '--token', token, '--address', swarm.address(3)], {
        docker_host,
      })
    expect(await join('SWMTKN-1-none')).toMatchObject({ code: 1, err: expect.stringContaining('not one of this cluster') })
    const printed = await runCommand(platform.handle.instance, '.', ['node', 'token'])
    const [, address, token = ''] = /^npx homeport node join (\S+) --token (\S+)$/m.exec(printed.out) ?? []
    expect(address).toBe(`${swarm.address(1)}:2377`)
    expect(await join(token)).toMatchObject({ code: 0, out: expect.stringContaining(swarm.address(3)) })
    expect(await join(token)).toMatchObject({ code: 1, err: expect.stringContaining('part of a cluster already') })
    await waitForNode({ address: swarm.address(3), is_ready: true, role: 'worker' })
    expect((await platform.api<{ moved: number }>('POST', '/instance/nodes/balance')).body.moved).toBeGreaterThan(0)
    await waitForCounts('three', [1, 1, 1])
  }, 240_000)
})
