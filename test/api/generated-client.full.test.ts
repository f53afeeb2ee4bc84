import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { generateApi } from 'swagger-typescript-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../server/contract/index.ts'
import { createTarGz } from '../support/archives.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

/*
 * A customer's use of /openapi.json: a public generator makes a typed client, the compiler accepts it and a program
 * that uses it, and that program does the main job against a running instance.
 */

let platform: SharedPlatform
let folder: string
const run = promisify(execFile)
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

beforeAll(async () => {
  platform = await sharedPlatform()
  folder = mkdtempSync(join(tmpdir(), 'homeport-client-'))
  const spec = (await (await fetch(`${platform.handle.api_url}/openapi.json`)).json()) as never
  await generateApi({ spec, output: folder, fileName: 'client.ts', silent: true })
  const path = join(folder, 'client.ts')
  // The generator disables type checks in its output. This enables them again.
  writeFileSync(path, readFileSync(path, 'utf8').replace('// @ts-nocheck', ''))
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { strict: true, target: 'es2023', module: 'nodenext', lib: ['es2023', 'dom'], types: [], outDir: 'out' },
      include: ['*.ts'],
    }),
  )
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
})
afterAll(async () => {
  await platform.remove()
  rmSync(folder, { recursive: true, force: true })
})

const compile = () =>
  run(process.execPath, [compiler, '-p', folder]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout.replaceAll(folder, ''),
  )

/** The main job, using only the generated client. It prints the results. */
const program = `
${['import { Api } from', "'./client.js'"].join(' ')}

declare const process: { env: Record<string, string>; stdout: { write(text: string): void } }
const api = new Api({
  baseUrl: process.env.API_URL,
  baseApiParams: { headers: { authorization: 'Bearer ' + process.env.TOKEN } },
})
const archive = new Blob([Uint8Array.from(atob(process.env.ARCHIVE), (letter) => letter.charCodeAt(0))])
const seen: Record<string, unknown> = {}

const { project } = (await api.v1.createProject({ name: 'Of the client', slug: 'of-the-client' })).data
seen.created = project.status
const { created } = (await api.v1.createEnvVars(project.slug, { vars: [{ key: 'GREETING', value: 'hello' }] })).data
const { deployment_id } = (await api.v1.uploadProject(project.slug, { file: new File([archive], 'app.tar.gz') })).data
for (;;) {
  const { deployment } = (await api.v1.getDeployment(project.slug, deployment_id)).data
  seen.deployment = deployment.error ?? deployment.status
  seen.url = deployment.url
  if (['ready', 'failed', 'canceled'].includes(deployment.status)) break
  await new Promise<void>((resolve) => (globalThis as unknown as { setTimeout(done: () => void, ms: number): void }).setTimeout(resolve, 100))
}
seen.live = (await api.v1.getProject(project.slug)).data.project.status
const first = created[0]
if (first) await api.v1.updateEnvVar(project.slug, first.id, { value: 'good morning' })
seen.variables = (await api.v1.listEnvVars(project.slug)).data.env_vars.map(({ key, value }) => key + '=' + value)
seen.purged = (await api.v1.purgeAll(project.slug)).data.ok
seen.purges = (await api.v1.listCacheEvents(project.slug, { limit: 10 })).data.events.map(({ kind, source }) => kind + ' ' + source)
seen.projects = (await api.v1.listProjects({ limit: 1 })).data.projects.map(({ slug }) => slug)
seen.buckets = (await api.v1.getMetrics(project.slug, { range: '7d' })).data.buckets.length
const tooLate = await api.v1.cancelDeployment(project.slug, deployment_id).catch((refused) => refused)
seen.refused = tooLate.error.error
process.stdout.write(JSON.stringify(seen))
`

describe('a client built by a public generator', () => {
  test('has every operation', () => {
    const client = readFileSync(join(folder, 'client.ts'), 'utf8')
    for (const id of Object.keys(operations)) expect(client).toMatch(new RegExp(`^ {4}${id}: \\(`, 'm'))
  })

  test('compiles in strict mode and does the main job: create, variables, upload, wait, read, purge', async () => {
    writeFileSync(join(folder, 'job.ts'), program)
    expect(await compile()).toBe('')
    const archive = createTarGz([
      { name: 'package.json', data: '{"name":"x","private":true,"scripts":{"start":"node server.js"}}' },
      { name: 'server.js', data: 'require("node:http").createServer((_, to) => to.end(process.env.GREETING)).listen(process.env.PORT)' },
    ])
    const { stdout } = await run(process.execPath, [join(folder, 'out', 'job.js')], {
      env: { API_URL: platform.handle.api_url, TOKEN: platform.handle.instance.token, ARCHIVE: archive.toString('base64') },
    })
    const { url, ...seen } = JSON.parse(stdout) as Record<string, unknown>
    expect(seen).toEqual({
      created: 'created',
      deployment: 'ready',
      live: 'live',
      variables: ['GREETING=good morning'],
      purged: true,
      purges: ['purge_all api', 'purge_all deploy'],
      projects: ['of-the-client'],
      buckets: 168,
      refused: 'deployment_terminal',
    })
    expect(new URL(String(url)).hostname).toBe('of-the-client.localhost')
    expect(await platform.fetchEdge('of-the-client.localhost')).toMatchObject({ status: 200, body: 'hello' })
  })

  test('deletes, and calls that are not in the contract do not compile', async () => {
    const head = program.slice(0, program.indexOf('const archive'))
    writeFileSync(join(folder, 'job.ts'), `${head}await api.v1.deleteProject('of-the-client')\n`)
    expect(await compile()).toBe('')
    await run(process.execPath, [join(folder, 'out', 'job.js')], {
      env: { API_URL: platform.handle.api_url, TOKEN: platform.handle.instance.token },
    })
    expect((await platform.api('GET', '/v1/projects/of-the-client')).status).toBe(404)

    writeFileSync(join(folder, 'job.ts'), `${head}await api.v1.createProject({ name: 'n', slug: 'abc', memory_limit_mb: 64 })\n`)
    expect(await compile()).toMatch(/memory_limit_mb/)
  })
})
