import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createTarGz } from '../support/archives.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { instanceIdOf, createDockerView } from '../support/docker.ts'
import { requires } from '../support/requirements.ts'
import { startInstance } from './instance.ts'
import { median, type BenchRow } from './row.ts'

const run = promisify(execFile)
const tag = 'homeport-bench-upload'

/**
 * A source of 2,000 files, 40 MiB compressed: from the POST to 201 (streamed, checked, stored) compared with `tar x` of the same archive, and
 * to the first response of the app compared with `tar x`, `docker build` and `docker run`.
 */
export async function benchUpload(rounds = 3): Promise<BenchRow[]> {
  const docker = requires('docker').ok
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-upload-'))
  const archive = join(folder, 'app.tar.gz')
  const benchInstance = await startInstance({ runtime: docker ? 'docker' : 'process' })
  const times = { taken: [] as number[], extracted: [] as number[], live: [] as number[], hand: [] as number[] }
  try {
    await benchInstance.client.createProject({ slug: 'uploaded' })
    for (let round = 0; round < rounds; round++) {
      const bytes = createArchive(round)
      writeFileSync(archive, bytes)
      let begun = performance.now()
      const response = await fetch(`${benchInstance.instance.api_url}/v1/projects/uploaded/upload`, {
        method: 'POST',
        body: new Uint8Array(bytes),
        headers: { authorization: `Bearer ${benchInstance.instance.token}`, 'content-type': 'application/gzip' },
      })
      const { deployment_id } = (await response.json()) as { deployment_id: string }
      times.taken.push(performance.now() - begun)
      await benchInstance.client.waitForEnd('uploaded', deployment_id)
      if ((await benchInstance.client.fetchEdge('uploaded.localhost')).body !== String(round)) throw new Error('the upload did not go live')
      times.live.push(performance.now() - begun)

      const out = join(folder, String(round))
      mkdirSync(out)
      begun = performance.now()
      await run('tar', ['xzf', archive, '-C', out])
      times.extracted.push(performance.now() - begun)
      if (docker) times.hand.push(performance.now() - begun + (await buildByHand(out)))
      rmSync(out, { recursive: true })
    }
  } finally {
    const { body } = await benchInstance.client.api<{ user: { id: string } }>('GET', '/instance/session')
    await benchInstance.remove()
    if (docker) await createDockerView(instanceIdOf(body.user.id)).removeAll()
    rmSync(folder, { recursive: true, force: true })
  }
  return [
    createRow('upload to 201', 'homeport', times.taken, 'tar x', times.extracted),
    createRow('upload to live', 'homeport', times.live, 'tar x, docker build', times.hand),
  ]
}

/** Builds and runs it as a user does; resolves with the milliseconds to the first response. */
async function buildByHand(folder: string): Promise<number> {
  const begun = performance.now()
  writeFileSync(
    join(folder, 'Dockerfile'),
    'FROM node:24-bookworm-slim\nWORKDIR /app\nCOPY . .\nENV PORT=8080\nEXPOSE 8080\nCMD ["node", "server.js"]\n',
  )
  await run('docker', ['build', '-q', '-t', tag, folder])
  const { stdout } = await run('docker', ['run', '-d', '--rm', '-p', '127.0.0.1::8080', tag])
  const container = stdout.trim()
  try {
    const { stdout: address } = await run('docker', ['port', container, '8080'])
    while (!(await fetch(`http://${address.trim()}/`).catch(() => undefined))?.ok) await delay(10)
    return performance.now() - begun
  } finally {
    await run('docker', ['rm', '-f', container])
    await run('docker', ['rmi', '-f', tag])
  }
}

function createArchive(round: number): Buffer {
  const seededRandom = createSeededRandom(round + 1)
  const noise = Buffer.alloc(2 ** 21)
  for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE(seededRandom.between(0, 0xffffffff), at)
  return createTarGz([
    { name: 'package.json', data: '{"name":"x","private":true,"scripts":{"start":"node server.js"}}' },
    { name: 'server.js', data: `require('node:http').createServer((_, r) => r.end('${round}')).listen(process.env.PORT)` },
    ...Array.from({ length: 2000 }, (_, n) => {
      const from = seededRandom.between(0, noise.length - 20_480)
      return { name: `assets/${n % 50}/${n}.bin`, data: noise.subarray(from, from + 20_480) }
    }),
  ])
}

function createRow(name: string, who: string, mine: number[], peer: string, theirs: number[]): BenchRow {
  const value = median(mine)
  return { name, who, value, unit: 'ms', ratios: theirs.length === 0 ? {} : { [peer]: median(theirs) / value } }
}
