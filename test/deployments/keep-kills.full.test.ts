import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { terminalStatuses } from '../../server/contract/deployments.ts'
import type { Volume } from '../../server/contract/volumes.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

const rounds = 8
const fileCount = 300

/** Fills a folder with files that all have the same text, and reports which texts exist. */
const app = {
  'package.json': JSON.stringify({ name: 'keeper', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const fs = require('node:fs')
require('node:http').createServer((request, response) => {
  const [, folder, text] = request.url.split('/')
  if (!folder) return response.end('ok')
  fs.mkdirSync(folder, { recursive: true })
  if (text) {
    for (const name of fs.readdirSync(folder)) fs.rmSync(folder + '/' + name)
    for (let i = 0; i < ${fileCount}; i++) fs.writeFileSync(folder + '/' + i + '-' + text, text.repeat(2000))
  }
  const files = fs.readdirSync(folder)
  const kinds = new Set(files.map((name) => fs.readFileSync(folder + '/' + name, 'utf8').replace(/(.)\\1*/g, '$1')))
  response.end(JSON.stringify({ count: files.length, kinds: [...kinds] }))
}).listen(process.env.PORT, process.env.HOST)
`,
}

test(`${rounds} kills while the files of a path are copied into its new volume lose no file`, { timeout: 900_000 }, async () => {
  const seed = Number(process.env.HOMEPORT_TEST_SEED ?? Date.now() % 1e9)
  console.log(`seed ${seed}`)
  const random = createSeededRandom(seed)
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-keep-kills-'))
  const repository = makeRepository(app)
  let platform = await startTestPlatform({ runtime: 'process', data_dir })
  const read = (path: string) =>
    until(
      async () => {
        const { status, body } = await platform.fetchEdge('keeper.localhost', path).catch(() => ({ status: 0, body: '' }))
        return status === 200 ? (JSON.parse(body) as { count: number; kinds: string[] }) : undefined
      },
      { what: `${path} to answer` },
    )
  const whole = (text: string) => ({ count: fileCount, kinds: [text] })
  const listDeployments = async () => (await platform.api<{ deployments: Deployment[] }>('GET', '/v1/projects/keeper/deployments')).body.deployments
  const isEnded = ({ status }: Deployment) => (terminalStatuses as readonly string[]).includes(status)
  try {
    await platform.createProject({ slug: 'keeper', repo_url: repository.url })
    expect(await platform.waitForEnd('keeper', (await platform.deploy('keeper')).id)).toMatchObject({ status: 'ready', error: null })
    const outcomes: string[] = []
    for (let round = 0; round < rounds; round++) {
      const folder = `round-${round}`
      expect(await read(`/${folder}/a`)).toEqual(whole('a'))
      const adding = platform.api('POST', '/instance/projects/keeper/volumes', { path: folder }).catch(() => undefined)
      await wait(random.between(20, 5_000))
      await platform.kill()
      const answer = await adding
      platform = await startTestPlatform({ runtime: 'process', data_dir })
      // Whichever version responds has the files; a continued copy must not overwrite what is written from now on.
      expect(await read(`/${folder}`), `round ${round}`).toEqual(whole('a'))
      expect(await read(`/${folder}/b`), `round ${round}`).toEqual(whole('b'))
      await until(async () => ((await listDeployments()).every(isEnded) ? true : undefined), { what: 'all deployments to end' })
      expect(await read(`/${folder}`), `round ${round}`).toEqual(whole('b'))
      const { volumes } = (await platform.api<{ volumes: Volume[] }>('GET', '/instance/projects/keeper/volumes')).body
      const isAdded = volumes.some(({ added }) => added?.path === `/app/${folder}`)
      if (answer?.status === 200) expect(isAdded, `round ${round}: an acknowledged volume`).toBe(true)
      outcomes.push(`${answer?.status ?? 'none'}/${(await listDeployments())[0]?.status}`)
      expect(await platform.waitForEnd('keeper', (await platform.deploy('keeper')).id)).toMatchObject({ status: 'ready', error: null })
      if (isAdded) expect(await read(`/${folder}`), `round ${round}, deployed again`).toEqual(whole('b'))
      const snapshots = join(data_dir, 'volume-snapshots')
      for (const id of existsSync(snapshots) ? readdirSync(snapshots) : []) expect(readdirSync(join(snapshots, id)), id).not.toContain('incomplete')
      expect(readdirSync(join(data_dir, 'volumes')).filter((name) => name.startsWith('.'))).toEqual([])
    }
    console.log(`after the kills: ${outcomes.join(' ')}`)
  } finally {
    await platform.remove()
    repository.remove()
    rmSync(data_dir, { recursive: true, force: true })
  }
})
