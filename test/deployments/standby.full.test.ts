import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DoctorCheck } from '../../server/contract/instance.ts'
import type { Standby } from '../../server/contract/standbys.ts'
import { type InstanceFile, readInstanceFile } from '../../server/lib/instance-file.ts'
import { deployWithReplicas, hostNameApp, platformOnNode, waitForNodeEdge, withNodeEdges } from '../support/cluster.ts'
import { findFailuresDuring, getAtEdge } from '../support/edge-requests.ts'
import { type RunningCommand, runHomeport, startHomeport } from '../support/instance-process.ts'
import { type Client, createClient, startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import { until } from '../support/until.ts'

/* A standby on the second manager of three takes the place of the platform, which manages the first. Visitors come to the edge of the third. */

describe.skipIf(!requires('swarm').ok)('a standby on another manager', () => {
  let swarm: TestSwarm
  let platform: TestPlatform
  /** The latest standby, which may lead by now. */
  let standby: RunningCommand
  let leader: Client & { instance: InstanceFile; data_dir: string }
  const folders: string[] = []
  const app = makeRepository(hostNameApp)
  const site = makeRepository({ 'index.html': 'a static site' })

  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-standby-'))
    folders.push(folder)
    return folder
  }
  const portOf = (url: string) => Number(new URL(url).port)

  beforeAll(async () => {
    swarm = await startSwarm(3)
    // That of a build.
    for (const node of [2, 3]) await swarm.load(node, 'node:24-bookworm-slim')
    platform = await startTestPlatform({ ...platformOnNode(swarm, 1), ...withNodeEdges })
    await deployWithReplicas(platform, 'three', app.url, 3)
    await deployWithReplicas(platform, 'site', site.url, 1)
  }, 300_000)
  afterAll(async () => {
    standby?.kill('SIGKILL')
    process.kill(platform.pid, 'SIGCONT')
    await platform.kill()
    await swarm.remove()
    app.remove()
    site.remove()
    for (const folder of [platform.data_dir, ...folders]) rmSync(folder, { recursive: true, force: true })
  }, 120_000)

  /** `homeport standby` in the network of a node, at the ports of the platform. */
  const startStandby = async (node: number, data_dir: string, of: { url: string; token: string; data_dir: string }) => {
    copyFileSync(join(of.data_dir, 'master.key'), join(data_dir, 'copied.key'))
    const { edge_url, edge_https_url } = platform.handle.instance
    const ports = ['--port', '4600', '--edge-port', String(portOf(edge_url)), '--edge-https-port', String(portOf(edge_https_url ?? ''))]
    return startHomeport(
      [
        'standby',
        '--of',
        of.url,
        '--key',
        join(data_dir, 'copied.key'),
        '--data',
        data_dir,
        '--host',
        '0.0.0.0',
        ...ports,
        '--edge-workers',
        '1',
        '--runtime',
        'swarm',
        '--no-open',
      ],
      data_dir,
      {
        by: swarm.inNetworkOf(node),
        env: { DOCKER_HOST: `unix://${swarm.socket(node)}`, HOMEPORT_REGISTRY: swarm.registry, HOMEPORT_TOKEN: of.token },
      },
    )
  }
  const waitForStandby = (client: Client) =>
    until(
      async () => {
        const { standbys } = (await client.api<{ standbys: Standby[] }>('GET', '/instance/standbys')).body
        expect(standbys, standby.output()).toEqual([expect.objectContaining({ is_synced: true, takes_over: true })])
        return true
      },
      { what: 'a standby that can take over' },
    )
  /** The platform that a standby has become, seen from outside of its node. */
  const waitForLeader = async (node: number, data_dir: string) => {
    const readInstance = () => {
      const found = readInstanceFile(data_dir)
      if (found) return found
      throw new Error(standby.output())
    }
    const instance = await until(readInstance, { what: 'a standby that leads' })
    const outside = (url: string) => url.replace(/127\.0\.0\.1|localhost/, swarm.address(node))
    return { instance: { ...instance, api_url: outside(instance.api_url), edge_url: outside(instance.edge_url) } satisfies InstanceFile }
  }
  /** Of GETs at the edge of the third node. */
  const failuresDuring = (work: () => Promise<void>) =>
    findFailuresDuring(work, ['three', 'site'], (slug) => getAtEdge(swarm.address(3), portOf(platform.handle.instance.edge_url), slug))
  const listServices = async () =>
    (await swarm.docker(3, ['service', 'ls', '--filter', 'label=homeport.role=replica', '--format', '{{.Name}} {{.Replicas}}']))
      .trim()
      .split('\n')
      .sort()

  test('takes over from a platform that is suspended, which changes nothing when it goes on', async () => {
    await waitForNodeEdge(platform, 3)
    const data_dir = newFolder()
    standby = await startStandby(2, data_dir, {
      url: `http://${swarm.machine_address}:${portOf(platform.handle.api_url)}`,
      token: platform.handle.instance.token,
      data_dir: platform.data_dir,
    })
    await waitForStandby(platform)
    expect(await listServices()).toHaveLength(3)
    const { body: hook } = await platform.api<{ token: string }>('POST', '/instance/projects/three/deploy-hooks', { name: 'CI' })

    const failures = await failuresDuring(async () => {
      process.kill(platform.pid, 'SIGSTOP')
      const suspended_at = Date.now()
      const { instance } = await waitForLeader(2, data_dir)
      console.log(`the standby leads after ${((Date.now() - suspended_at) / 1000).toFixed(1)} s`)
      leader = { ...createClient(instance), instance, data_dir }
      const deployed = await leader.waitForEnd('three', (await leader.deploy('three')).id)
      expect(deployed.status, deployed.build_log).toBe('ready')
      await waitForNodeEdge(leader, 3)
    })
    expect(failures).toEqual([])

    const services = await until(async () => ((await listServices()).length === 3 ? listServices() : undefined), {
      what: 'the replicas of one deployment',
    })
    process.kill(platform.pid, 'SIGCONT')
    // Before any of its timers has run.
    expect((await platform.api('POST', '/v1/projects/three/deploy')).status).toBe(503)
    expect((await fetch(`${platform.handle.api_url}/hooks/deploy/${hook.token}`, { method: 'POST' })).status).toBe(503)
    await until(() => platform.log.some((line) => line.includes('"lease_lost"')) || undefined, { what: 'the lease that was lost' })
    expect((await platform.api('POST', '/v1/projects', { name: 'late' })).status).toBe(503)
    expect((await platform.api('GET', '/v1/projects')).status).toBe(200)
    expect(await listServices()).toEqual(services)
    await waitForNodeEdge(leader, 3)
  })

  test('leads with an older copy if a person wants it to, and stops nothing that it does not know', async () => {
    const previous = standby
    const data_dir = newFolder()
    standby = await startStandby(3, data_dir, { url: leader.instance.api_url, token: leader.instance.token, data_dir: leader.data_dir })
    await waitForStandby(leader)
    standby.kill('SIGSTOP')
    await leader.createProject({ slug: 'newer', repo_url: app.url })
    const { id, status, build_log } = await leader.waitForEnd('newer', (await leader.deploy('newer')).id)
    expect(status, build_log).toBe('ready')
    const services = await listServices()
    previous.kill('SIGKILL')
    await previous.ended
    standby.kill('SIGCONT')

    const promoted = await runHomeport(['standby', 'promote', '--data', data_dir])
    expect(promoted.out + promoted.err).toMatch(/This machine leads: http/)
    const { instance } = await waitForLeader(3, data_dir)
    const next = createClient(instance)
    const deployed = await next.waitForEnd('site', (await next.deploy('site')).id)
    expect(deployed.status, deployed.build_log).toBe('ready')
    const { checks } = (await next.api<{ checks: DoctorCheck[] }>('GET', '/instance/doctor')).body
    expect(checks).toContainEqual(expect.objectContaining({ name: 'unknown apps', message: expect.stringContaining(id) as unknown }))
    expect(await listServices()).toEqual(services)
  })
})
