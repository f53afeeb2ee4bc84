import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { homeport, newFolder, type RunningInstance, serve } from '../support/instance-process.ts'

let folder: ReturnType<typeof newFolder>
let running: RunningInstance[]

const start = async (...args: string[]) => {
  const instance = await serve({ data: folder.path, ...(args.length > 0 ? { args } : {}) })
  running.push(instance)
  return instance
}
const fileOf = (name: string) => join(folder.path, name)

beforeEach(() => {
  folder = newFolder('serve')
  running = []
})
afterEach(async () => {
  await Promise.all(running.map((one) => one.end('SIGKILL')))
  folder.remove()
})

describe('ready', () => {
  test('instance.json tells everything, to its owner alone', async () => {
    const { instance } = await start()
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

  test('--json prints the same object without the token as its first line', async () => {
    const instance = await start('--port', '0', '--edge-port', '0', '--runtime', 'process', '--json')
    const { token, ...shown } = instance.instance
    const { out, err } = await instance.end()
    expect(JSON.parse(out.split('\n')[0]!)).toEqual(shown)
    expect(out + err).not.toContain(token)
  })

  test('the token opens the API, and the link signs a browser in once', async () => {
    const { instance, ask } = await start()
    expect((await ask('/v1/projects')).status).toBe(200)
    const first = await fetch(instance.sign_in_url, { redirect: 'manual' })
    expect(first.status).toBe(303)
    expect(first.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/)
    const second = await fetch(instance.sign_in_url, { redirect: 'manual' })
    expect(second.headers.get('set-cookie')).toBeNull()
  })

  test('a person reads where everything is, and no token', async () => {
    const instance = await start()
    const { out, err } = await instance.end()
    expect(out).toContain('Homeport is ready')
    expect(out).toContain(instance.instance.sign_in_url)
    expect(out + err).not.toContain(instance.instance.token)
  })
})

describe('the end', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it with 0 and takes instance.json along', async (signal) => {
    const instance = await start()
    const { code } = await instance.end(signal)
    expect(code).toBe(0)
    expect(existsSync(fileOf('instance.json'))).toBe(false)
  })

  test('it comes within 10 s although a stream is open', async () => {
    const instance = await start()
    const stream = await instance.ask('/instance/events')
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    const begun = performance.now()
    const { code } = await instance.end()
    expect(code).toBe(0)
    expect(performance.now() - begun).toBeLessThan(10_000)
    await stream.text().catch(() => '')
  })

  test('after a kill -9 the next start finds everything in place', async () => {
    const first = await start()
    await first.ask('/v1/projects', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Shop', slug: 'shop' }),
    })
    await first.end('SIGKILL')
    expect(existsSync(fileOf('instance.json'))).toBe(true)
    const second = await start()
    expect((await second.ask('/v1/projects/shop')).status).toBe(200)
  })
})

describe('one instance per data folder', () => {
  test('a second one ends with 2 and names the first', async () => {
    const first = await start()
    const second = await homeport(['serve', '--data', folder.path, '--port', '0', '--edge-port', '0'])
    expect(second.code).toBe(2)
    expect(second.err).toContain(String(first.pid))
    expect(second.err).toContain(first.instance.api_url)
    expect((await first.ask('/v1/projects')).status).toBe(200)
  })

  test('of several at once exactly one wins', async () => {
    const starts = await Promise.allSettled(Array.from({ length: 4 }, () => start()))
    expect(starts.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
    for (const one of starts) if (one.status === 'rejected') expect(String(one.reason)).toContain('ended with 2')
  })
})

describe('ports', () => {
  test('a taken port that was asked for is said, with what to do', async () => {
    const { port, close } = await occupy(0)
    try {
      const { code, err } = await homeport(['serve', '--data', folder.path, '--port', String(port), '--edge-port', '0', '--runtime', 'process'])
      expect(code).toBe(1)
      expect(err).toContain(`Port ${port} is taken. Choose another with --port`)
      expect(existsSync(fileOf('instance.json'))).toBe(false)
    } finally {
      await close()
    }
  })

  test('a taken default port falls over to the next free one and says so', async () => {
    // Whoever holds it already does as well.
    const held = await occupy(4600).catch(() => undefined)
    try {
      const instance = await start('--edge-port', '0', '--runtime', 'process')
      expect(new URL(instance.instance.api_url).port).not.toBe('4600')
      expect((await instance.ask('/v1/projects')).status).toBe(200)
      const { err } = await instance.end()
      expect(err).toContain('Port 4600 is taken')
    } finally {
      await held?.close()
    }
  })

  test.each([
    [['--port', 'x'], '--port'],
    [['--port', '70000'], '--port'],
    [['--runtime', 'podman'], '--runtime'],
    [['--colour'], '--colour'],
    [['there'], 'there'],
  ])('%j is refused with 2', async (args, word) => {
    const { code, err } = await homeport(['serve', '--data', folder.path, ...args])
    expect(code).toBe(2)
    expect(err).toContain(word)
  })
})

test('a key in the desktop’s keychain is not replaced by another', async () => {
  writeFileSync(fileOf('master.key.sealed'), 'wrapped')
  const { code, err } = await homeport(['serve', '--data', folder.path, '--port', '0', '--edge-port', '0', '--runtime', 'process'])
  expect(code).toBe(1)
  expect(err).toContain('keychain')
  expect(existsSync(fileOf('homeport.db'))).toBe(false)
})

test('a link that signs in reaches the browser by a private file, never as an argument', async () => {
  const tools = newFolder('tools')
  writeFileSync(join(tools.path, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" > "${tools.path}/asked"\n`)
  chmodSync(join(tools.path, 'xdg-open'), 0o755)
  try {
    await start()
    const { code, out } = await homeport(['open', '--data', folder.path], { env: { DISPLAY: ':99', PATH: `${tools.path}:${process.env.PATH}` } })
    expect(code).toBe(0)
    expect(out).not.toContain('code=')
    expect(readFileSync(join(tools.path, 'asked'), 'utf8')).toBe(`file://${fileOf('sign-in.html')}`)
    expect(statSync(fileOf('sign-in.html')).mode & 0o777).toBe(0o600)
    expect(readFileSync(fileOf('sign-in.html'), 'utf8')).toContain('/sign-in?code=')
  } finally {
    tools.remove()
  }
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
