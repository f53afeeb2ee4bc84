import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openPlatformContext } from '../../server/bootstrap/context.ts'
import { startRuntimes } from '../../server/bootstrap/start-runtimes.ts'
import { silentLog } from '../../server/lib/log.ts'
import { readOptions } from '../../server/options.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

interface Swarm {
  LocalNodeState: 'inactive' | 'pending' | 'active'
  ControlAvailable: boolean
}
const manager: Swarm = { LocalNodeState: 'active', ControlAvailable: true }

/** An engine whose swarm has no quorum, or so many nodes. */
async function startEngine(folder: string, swarm: Swarm, nodes: number | null) {
  const state = { swarm }
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/v[\d.]+/, '')
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (path === '/version') answer(200, { Version: '24.0.0' })
    else if (path === '/info') answer(200, { MemTotal: 2 ** 30, NCPU: 2, OSType: 'linux', Swarm: state.swarm })
    else if (path === '/_ping') answer(200, 'OK')
    else if (path === '/nodes' && nodes !== null)
      answer(
        200,
        Array.from({ length: nodes }, (_, n) => ({ ID: `node-${n}` })),
      )
    else answer(503, { message: 'rpc error: code = Unknown desc = The swarm does not have a leader.' })
  })
  const path = join(folder, 'docker.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  closers.push(() => server.close())
  return { state, address: `unix://${path}` }
}

interface Setup {
  swarm: Swarm
  memory?: { had_standby: boolean }
  runtime?: string
  nodes?: number | null
}

async function start({ swarm, memory, runtime = 'auto', nodes = null }: Setup) {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-data-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  if (memory) writeFileSync(join(folder, 'lease.json'), JSON.stringify({ holder: 'one.00000000', ...memory }))
  const engine = await startEngine(folder, swarm, nodes)
  const options = readOptions({ data: folder, port: '0', 'edge-port': '0', runtime })
  const context = await openPlatformContext(options, { log: silentLog, docker_candidates: [engine.address] })
  closers.push(() => context.close())
  return { engine, ...(await startRuntimes(context)) }
}

test('an instance that has led a cluster waits for its quorum, and changes nothing of it without the lease', async () => {
  const { runtime, lease, runtimes } = await start({ swarm: manager, memory: { had_standby: true } })
  expect(runtime).toMatchObject({ name: 'swarm', is_forced: false, reason: 'The swarm has no quorum: most of its managers do not answer.' })
  expect(lease?.isHeld()).toBe(false)
  await expect(runtimes.swarm.list()).rejects.toMatchObject({ code: 'runtime_unavailable' })
})

test('an instance that has led a cluster needs the lease whatever its new apps run on', async () => {
  const { runtime, lease } = await start({ swarm: manager, memory: { had_standby: true }, runtime: 'docker' })
  expect([runtime.name, lease?.isHeld()]).toEqual(['docker', false])
})

test('an instance that leads no cluster changes none, also if its engine manages one', async () => {
  const { runtime, lease, runtimes } = await start({ swarm: manager, nodes: 1 })
  // So that nothing is looked for there.
  expect(await runtimes.swarm.probe()).toMatchObject({ available: false })
  expect([runtime.name, lease]).toEqual(['docker', undefined])
  await expect(runtimes.swarm.list()).rejects.toMatchObject({
    code: 'runtime_unavailable',
    message: 'This instance was started without a cluster.',
  })
})

test('an engine that has left its cluster is used without it', async () => {
  const { runtime, lease } = await start({ swarm: { LocalNodeState: 'inactive', ControlAvailable: false }, memory: { had_standby: true } })
  expect([runtime.name, lease]).toEqual(['docker', undefined])
})

test('an engine that is starting is asked again whether it manages a swarm', async () => {
  const { runtime, runtimes, engine } = await start({
    swarm: { LocalNodeState: 'pending', ControlAvailable: false },
    memory: { had_standby: false },
  })
  expect(runtime.name).toBe('swarm')
  engine.state.swarm = manager
  expect(await runtimes.swarm.probe()).toMatchObject({ reason: 'The swarm has no quorum: most of its managers do not answer.' })
})
