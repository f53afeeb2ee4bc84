import { type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Flags } from '../../server/cli/command.ts'
import { createLineWriter } from '../../server/cli/line-writer.ts'
import { createServeLog } from '../../server/cli/serve-log.ts'
import { readInstanceFile } from '../../server/lib/instance-file.ts'
import { newSecret } from '../../server/lib/token.ts'
import { fetchFromEdge, runHomeport, createTempFolder } from '../support/instance-process.ts'
import { buildProgram } from '../support/programs.ts'
import { fullTest } from '../support/full-test.ts'
import { until } from '../support/until.ts'

describe('a log line', () => {
  test.each(['EPIPE', 'ENOSPC', 'EIO'])('does not throw when the output fails with %s', async (code) => {
    const stream = new Writable({ write: (_piece, _encoding, done) => done(Object.assign(new Error(code), { code })) })
    const output = createLineWriter(stream)
    const failed = new Promise((resolve) => stream.once('close', resolve))
    output('first')
    await failed
    expect(() => output('second')).not.toThrow()
  })

  test('is written to a file unchanged, and dropped when the disk is full', () => {
    const folder = createTempFolder('output')
    const path = join(folder.path, 'log')
    const [good, full] = [openSync(path, 'w'), openSync('/dev/full', 'w')]
    createLineWriter(Object.assign(new PassThrough(), { fd: good }))('first')
    expect(() => createLineWriter(Object.assign(new PassThrough(), { fd: full }))('first')).not.toThrow()
    expect(readFileSync(path, 'utf8')).toBe('first\n')
    for (const fd of [good, full]) closeSync(fd)
    folder.remove()
  })

  test('is dropped when the stream throws', () => {
    const stream = new PassThrough()
    stream.write = () => {
      throw new Error('write EIO')
    }
    expect(() => createLineWriter(stream)('first')).not.toThrow()
  })

  test('is dropped and counted beyond the backlog limit of a stalled reader', async () => {
    const stream = new PassThrough()
    const output = createLineWriter(stream)
    for (let line = 0; line < 10_000; line++) output('x'.repeat(1000))
    expect(stream.writableLength + stream.readableLength).toBeLessThan(2 * 2 ** 20)
    const read: Buffer[] = []
    stream.on('data', (piece: Buffer) => read.push(piece))
    await until(() => (stream.writableLength === 0 ? true : undefined), { what: 'the backlog to be read' })
    output('after')
    await until(() => (read.at(-1)?.toString().endsWith('after\n') ? true : undefined), { what: 'the line after the backlog' })
    expect(Buffer.concat(read).toString()).toMatch(/\n\d+ lines were dropped, because the output was full or not read\.\nafter\n$/)
  })
})

describe('the log of serve', () => {
  const secret = newSecret()
  const logged = (flags: Flags, data_dir: string) => {
    const err: string[] = []
    const terminal = { out: () => {}, err: (line: string) => void err.push(line), flush: async () => {}, is_interactive: false, has_colour: false }
    const log = createServeLog({ terminal, flags }, data_dir)
    log.info('dns_server_started', { port: 53 })
    log.warn('step_store_failed', { deployment: 'dpl_1', step: null, error: new Error(`The disk\n  is full of svc_${secret}.`) })
    return { err, path: log.path }
  }

  test('prints problems as sentences on standard error, and writes everything as JSON to a file', () => {
    const folder = createTempFolder('log')
    const { err, path } = logged({}, folder.path)
    expect(err).toEqual(['Warning: step store failed (deployment dpl_1): The disk is full of svc_••••••.'])
    const lines = readFileSync(path!, 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { event: 'dns_server_started', port: 53 },
      { level: 'warn', step: null },
    ])
    expect(lines.join()).not.toContain(secret)
    folder.remove()
  })

  test('is JSON on standard error and in no file with --log-format json', () => {
    const { err, path } = logged({ 'log-format': 'json' }, '/nowhere')
    expect([path, ...err.map((line) => JSON.parse(line) as object)]).toMatchObject([
      null,
      { event: 'dns_server_started' },
      { event: 'step_store_failed' },
    ])
    expect(() => logged({ 'log-format': 'xml' }, '/nowhere')).toThrow(/text or json/)
  })
})

/** Closes every connection without a response, for which the edge logs a warning. */
const closingApp = {
  'package.json': JSON.stringify({ name: 'rude', scripts: { start: 'node server.js' } }),
  'server.js': `require('node:http').createServer((request, response) => {
  if (request.url === '/rude') request.socket.destroy()
  else response.end('fine')
}).listen(process.env.PORT)`,
}

const broken: [string, (streams: { full: number }) => StdioOptions, 'closed' | 'kept'][] = [
  ['has no reader anymore', () => ['ignore', 'pipe', 'pipe'], 'closed'],
  ['is on a full disk', ({ full }) => ['ignore', full, full], 'kept'],
]
for (const [name, stdioOf, readers] of broken)
  fullTest(`homeport serve serves, keeps logging and ends in order when its output ${name}`, async () => {
    const folder = createTempFolder('output')
    const data = join(folder.path, 'data')
    const full = openSync('/dev/full', 'w')
    const args = ['serve', '--data', data, '--no-open', '--port', '0', '--edge-port', '0', '--runtime', 'process']
    const child = spawn(process.execPath, [await buildProgram('homeport'), ...args], { stdio: stdioOf({ full }) })
    const exit = once(child, 'exit')
    try {
      const instance = await until(() => readInstanceFile(data), { what: 'the platform to be ready' })
      if (readers === 'closed') for (const stream of [child.stdout, child.stderr]) stream?.destroy()
      const app = join(folder.path, 'rude')
      mkdirSync(app)
      for (const [name, text] of Object.entries(closingApp)) writeFileSync(join(app, name), text)
      expect(await runHomeport(['deploy', app, '--data', data])).toMatchObject({ code: 0 })

      for (let request = 0; request < 20; request++) expect((await fetchFromEdge(instance.edge_url, 'rude', '/rude')).status).toBe(502)
      expect((await fetch(`${instance.api_url}/healthz`)).status).toBe(200)
      child.kill('SIGTERM')
      expect(await exit).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
      closeSync(full)
      folder.remove()
    }
  })
