import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { collectGarbageWhenIdle } from '../../server/cli/idle-garbage-collection.ts'
import { runCommand } from '../support/command.ts'
import { runHomeport, createTempFolder, type RunningInstance, startInstance } from '../support/instance-process.ts'
import { fixedClock } from '../support/test-clock.ts'

describe('the lifecycle of an instance', () => {
  const folder = createTempFolder('serve')
  const fileOf = (name: string) => join(folder.path, name)
  let running: RunningInstance
  beforeAll(async () => void (running = await startInstance({ data: folder.path })))
  afterAll(() => folder.remove())

  test('instance.json contains the addresses, and only its owner can read it', () => {
    const { instance } = running
    expect(statSync(fileOf('instance.json')).mode & 0o777).toBe(0o600)
    expect(statSync(folder.path).mode & 0o077).toBe(0)
    expect(instance).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      pid: expect.any(Number),
      api_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      edge_url: expect.stringMatching(/^http:\/\/[^/]+:\d+$/),
      edge_https_url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/),
      dashboard_url: `${instance.api_url}/app/`,
      sign_in_url: expect.stringContaining(`${instance.api_url}/sign-in?code=`),
      token: expect.stringMatching(/^svc_/),
      runtime: { name: 'process', version: null, reason: expect.any(String) },
      started_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
  })

  test('the token authenticates API requests, and the link signs a browser in once', async () => {
    const { instance, fetch: ask } = running
    expect((await ask('/v1/projects')).status).toBe(200)
    const first = await fetch(instance.sign_in_url, { redirect: 'manual' })
    expect(first.status).toBe(303)
    expect(first.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/)
    const second = await fetch(instance.sign_in_url, { redirect: 'manual' })
    expect(second.headers.get('set-cookie')).toBeNull()
  })

  test('the sign-in link reaches the browser through a private file, never as an argument', async () => {
    const tools = createTempFolder('tools')
    writeFileSync(join(tools.path, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" > "${tools.path}/opened"\n`)
    chmodSync(join(tools.path, 'xdg-open'), 0o755)
    const { code, out } = await runHomeport(['open', '--data', folder.path], { env: { DISPLAY: ':99', PATH: `${tools.path}:${process.env.PATH}` } })
    expect(code).toBe(0)
    expect(out).not.toContain('code=')
    expect(readFileSync(join(tools.path, 'opened'), 'utf8')).toBe(`file://${fileOf('sign-in.html')}`)
    expect(statSync(fileOf('sign-in.html')).mode & 0o777).toBe(0o600)
    expect(readFileSync(fileOf('sign-in.html'), 'utf8')).toContain('/sign-in?code=')
    tools.remove()
  })

  test('a second instance on the folder exits with 2 and names the first', async () => {
    const second = await runHomeport(['serve', '--data', folder.path, '--port', '0', '--edge-port', '0'])
    expect(second.code).toBe(2)
    expect(second.err).toContain(String(running.pid))
    expect(second.err).toContain(running.instance.api_url)
    expect((await running.fetch('/v1/projects')).status).toBe(200)
  })

  test('SIGTERM exits with 0 although a stream is open; the output had the addresses but no token', async () => {
    const stream = await running.fetch('/instance/events')
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    const { code, out, err } = await running.stop()
    expect(code).toBe(0)
    expect(err).not.toContain('cut off')
    expect(existsSync(fileOf('instance.json'))).toBe(false)
    expect(out).toContain('Homeport is ready')
    expect(out).toContain(running.instance.sign_in_url)
    expect(out + err).not.toContain(running.instance.token)
    await stream.text().catch(() => '')
  })
})

describe('another instance', () => {
  let folder: ReturnType<typeof createTempFolder>
  let running: RunningInstance[]
  const start = async (...args: string[]) => {
    const instance = await startInstance({ data: folder.path, ...(args.length > 0 ? { args } : {}) })
    running.push(instance)
    return instance
  }
  const fileOf = (name: string) => join(folder.path, name)

  beforeEach(() => {
    folder = createTempFolder('serve')
    running = []
  })
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop('SIGKILL')))
    folder.remove()
  })

  fullTest('after kill -9 the next start recovers everything; SIGINT exits with 0, and --json printed the instance without its token', async () => {
    const first = await start()
    await first.fetch('/v1/projects', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Shop', slug: 'shop' }),
    })
    await first.stop('SIGKILL')
    expect(existsSync(fileOf('instance.json'))).toBe(true)
    const second = await start('--port', '0', '--edge-port', '0', '--runtime', 'process', '--json')
    expect((await second.fetch('/v1/projects/shop')).status).toBe(200)
    const { token, ...shown } = second.instance
    const { code, out, err } = await second.stop('SIGINT')
    expect(code).toBe(0)
    expect(JSON.parse(out.split('\n')[0]!)).toEqual(shown)
    expect(out + err).not.toContain(token)
  })

  fullTest('reports a taken port that was requested, with what to do', async () => {
    const { port, close } = await occupy(0)
    const { code, err } = await runHomeport(['serve', '--data', folder.path, '--port', String(port), '--edge-port', '0', '--runtime', 'process'])
    await close()
    expect(code).toBe(1)
    expect(err).toMatch(new RegExp(`Port ${port} is in use.*Choose another with --port`))
    expect(existsSync(fileOf('instance.json'))).toBe(false)
  })

  fullTest('falls back from a taken default port to the next free one, and says so', async () => {
    // The port may already be taken by another program.
    const held = await occupy(4600).catch(() => undefined)
    const instance = await start('--edge-port', '0', '--runtime', 'process')
    expect(new URL(instance.instance.api_url).port).not.toBe('4600')
    expect((await instance.fetch('/v1/projects')).status).toBe(200)
    const { err } = await instance.stop()
    expect(err).toContain('Port 4600 is in use')
    await held?.close()
  })

  const refused = (...args: string[]) => runCommand({ api_url: '', token: undefined }, '.', ['serve', '--data', folder.path, ...args])

  test.each([
    [['--port', 'x'], '--port'],
    [['--port', '70000'], '--port'],
    [['--runtime', 'podman'], '--runtime'],
    [['--colour'], '--colour'],
    [['there'], 'there'],
  ])('%j is refused with 2', async (args, word) => {
    expect(await refused(...args)).toMatchObject({ code: 2, err: expect.stringContaining(word) })
  })

  test('does not replace a key in the desktop’s keychain', async () => {
    writeFileSync(fileOf('master.key.sealed'), 'wrapped')
    expect(await refused('--port', '0')).toMatchObject({ code: 1, err: expect.stringContaining('keychain') })
    expect(existsSync(fileOf('homeport.db'))).toBe(false)
  })
})

async function occupy(port: number): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, close: () => new Promise((resolve) => server.close(() => resolve())) }
}

test('collects garbage once the platform is idle, if worthwhile, and not again right after', async () => {
  const clock = fixedClock('2026-01-31')
  let [busy, used_mb, collected] = [0, 50, 0]
  const collect = () => {
    collected++
    used_mb = 50
  }
  const collection = collectGarbageWhenIdle({ clock, collect, measureUtilization: () => busy, measureMemory: () => used_mb * 2 ** 20 })
  const after = async (ms: number, change: { busy?: number; used_mb?: number } = {}) => {
    ;({ busy = busy, used_mb = used_mb } = change)
    await clock.advance(ms)
    return collected
  }
  expect(await after(1_000)).toBe(1)
  expect(await after(60_000)).toBe(1)
  expect(await after(60_000, { busy: 0.5, used_mb: 90 })).toBe(1)
  expect(await after(1_000, { busy: 0 })).toBe(2)
  expect(await after(9_000, { used_mb: 90 })).toBe(2)
  expect(await after(1_000)).toBe(3)
  // After any work: once, when it has been over for ten seconds.
  expect(await after(1_000, { busy: 0.5 })).toBe(3)
  expect(await after(9_000, { busy: 0 })).toBe(3)
  expect(await after(60_000)).toBe(4)
  collection.stop()
  expect(await after(60_000, { used_mb: 90 })).toBe(4)
})

test('collects garbage of small buffers before it grows to the size of an upload', async () => {
  const program = `
    const { limitYoungGeneration } = await import(${JSON.stringify(import.meta.resolve('../../server/cli/idle-garbage-collection.ts'))})
    limitYoungGeneration()
    let most = 0
    for (let n = 0; n < 4_000; n++) {
      Buffer.allocUnsafeSlow(16_000)
      if (n % 20 !== 0) continue
      most = Math.max(most, process.memoryUsage().arrayBuffers)
      await new Promise((resolve) => setImmediate(resolve))
    }
    console.log(most)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  expect(Number(stdout)).toBeGreaterThan(0)
  expect(Number(stdout)).toBeLessThan(32 * 2 ** 20)
})
