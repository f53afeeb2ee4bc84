import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

const rounds = 100

/** Acknowledges a write once it is on disk, and runs a job every second. */
const files = {
  'package.json': JSON.stringify({ name: 'writer', private: true, scripts: { start: 'node server.js' } }),
  'homeport.yaml': `
services:
  web: { build: ., command: node server.js, port: 3000, volumes: ["log:/app/log"], depends_on: [worker] }
  worker: { build: ., command: node worker.js, volumes: ["log:/app/log"] }
  job: { build: ., command: node job.js, schedule: "* * * * * *", volumes: ["log:/app/log"] }
volumes: { log: {} }
`,
  'server.js': `
const fs = require('node:fs')
const append = (text) => { const file = fs.openSync('log/writes', 'a'); fs.writeSync(file, text + '\\n'); fs.fsyncSync(file); fs.closeSync(file) }
require('node:http').createServer((request, response) => {
  if (request.url.startsWith('/write/')) append(request.url.slice(7))
  response.end(request.url === '/read' ? fs.readFileSync('log/writes', 'utf8') : 'ok')
}).listen(process.env.PORT, process.env.HOST)
`,
  'worker.js': `setInterval(() => {}, 1000)`,
  'job.js': `require('node:fs').appendFileSync('log/jobs', 'x')`,
}

interface RunRow {
  status: string
  scheduled_at: string
}

function killSuite(runtime: 'process' | 'docker'): void {
  test(
    `${rounds} kills with writers, a cron job every second and services starting: no acknowledged write is lost, no run is doubled or dropped`,
    { timeout: 1_200_000 },
    async () => {
      const seed = Number(process.env.HOMEPORT_TEST_SEED ?? Date.now() % 1e9)
      console.log(`seed ${seed}`)
      const random = createSeededRandom(seed)
      const data_dir = mkdtempSync(join(tmpdir(), 'homeport-kills-'))
      const repository = makeRepository(files)
      let platform = await startTestPlatform({ runtime, data_dir })
      await platform.createProject({ slug: 'writer', repo_url: repository.url, previews: false })
      const { id } = await platform.deploy('writer')
      expect(await platform.waitForEnd('writer', id)).toMatchObject({ status: 'ready', error: null })
      const acknowledged = new Set<string>()
      let next = 0
      for (let round = 0; round < rounds; round++) {
        let isKilled = false
        const write = async () => {
          while (!isKilled) {
            const name = String(next++)
            const response = await platform.fetchEdge('writer.localhost', `/write/${name}`).catch(() => undefined)
            if (response?.status === 200 && response.body === 'ok') acknowledged.add(name)
          }
        }
        const before = acknowledged.size
        const writers = [write(), write()]
        await until(() => acknowledged.size > before || undefined, { what: 'a write in this round' })
        // Redeploying the same commit makes some kills hit a start of services.
        if (random.chance(0.3)) await platform.deploy('writer').catch(() => undefined)
        await new Promise((resolve) => setTimeout(resolve, random.between(0, 1_500)))
        await platform.kill()
        isKilled = true
        await Promise.all(writers)
        platform = await startTestPlatform({ runtime, data_dir })
      }
      const read = await until(
        async () => {
          const response = await platform.fetchEdge('writer.localhost', '/read')
          return response.status === 200 && response.body.startsWith('0\n') ? response.body : undefined
        },
        { what: 'the app' },
      )
      const kept = new Set(read.split('\n'))
      expect([...acknowledged].filter((name) => !kept.has(name))).toEqual([])
      await platform.handle.stop()

      const db = new Sqlite(join(data_dir, 'homeport.db'), { readonly: true })
      const runs = db.prepare<[], RunRow>('SELECT status, scheduled_at FROM cron_runs ORDER BY scheduled_at').all()
      db.close()
      const times = runs.map(({ scheduled_at }) => Date.parse(scheduled_at))
      expect(new Set(times).size).toBe(times.length)
      // After a gap the first skipped run is recorded as missed.
      const unexplained = times.filter((at, index) => index > 0 && at - times[index - 1]! > 1_000 && runs[index - 1]!.status !== 'missed')
      expect(unexplained).toEqual([])
      expect(runs.filter(({ status }) => status === 'running').length).toBeLessThanOrEqual(1)
      const counts = Object.fromEntries([...Map.groupBy(runs, ({ status }) => status)].map(([status, rows]) => [status, rows.length]))
      console.log(`${acknowledged.size} acknowledged writes kept over ${rounds} kills; runs: ${JSON.stringify(counts)}`)
      await platform.remove()
      repository.remove()
      rmSync(data_dir, { recursive: true, force: true })
    },
  )
}

describe('kills on process', () => killSuite('process'))
describe.skipIf(!requires('docker').ok)('kills on Docker', () => killSuite('docker'))
