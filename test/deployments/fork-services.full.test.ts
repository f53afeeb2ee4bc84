import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { connect } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DevSession } from '../../server/contract/dev.ts'
import type { Fork } from '../../server/contract/forks.ts'
import { commitToBranch, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { runProgram } from '../support/runtime.ts'
import { createS3Client } from '../support/s3-client.ts'
import { fullTest } from '../support/full-test.ts'

type Variables = Record<string, string>

/** An app that shows its variables. */
const files = {
  'package.json': JSON.stringify({ name: 'shop', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `require('node:http').createServer((_, response) => response.end(JSON.stringify(process.env))).listen(process.env.PORT, process.env.HOST)`,
}

/** Sends commands to Redis and returns the raw replies. */
const askRedis = ({ REDIS_HOST, REDIS_PORT, REDIS_PASSWORD }: Variables, ...commands: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    let answers = ''
    const socket = connect(Number(REDIS_PORT), REDIS_HOST)
    socket.on('error', reject)
    socket.on('data', (bytes) => (answers += bytes.toString()))
    socket.on('end', () => resolve(answers))
    socket.write([`AUTH ${REDIS_PASSWORD}`, ...commands, 'QUIT'].map((line) => `${line}\r\n`).join(''))
  })

/** Development servers of branches with a copy of the data: Redis, MariaDB and S3 storage that no preview runs. */
describe.skipIf(!requires('docker').ok || !requires('service-images').ok)('services of a forked branch', () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-fork-services-'))
  let platform: TestPlatform
  let repository: Repository
  let production: Variables
  let port = 41_000

  beforeAll(async () => {
    platform = await startTestPlatform({ runtime: 'docker', data_dir })
    repository = makeRepository(files)
    await platform.createProject({ slug: 'shop', repo_url: repository.url, pushes: true })
    await waitForFirstCheck(platform, 'shop')
    expect(await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).toMatchObject({ status: 'ready', error: null })
    for (const name of ['redis', 'mariadb', 's3']) {
      const { body } = await platform.api<{ deployment_id: string }>('POST', '/instance/projects/shop/managed-services', { name })
      expect(await platform.waitForEnd('shop', body.deployment_id)).toMatchObject({ status: 'ready', error: null })
    }
    const main = await openSession({ branch: 'main' })
    production = main.variables
    await endSession(main.session)
    expect(await askRedis(production, 'SET visits 41')).toBe('+OK\r\n+OK\r\n+OK\r\n')
    await sql(production, "CREATE TABLE guests (name TEXT); INSERT INTO guests VALUES ('Ada')")
    await createS3Client(production, production.S3_ENDPOINT).send(new PutObjectCommand({ Bucket: 'app', Key: 'note', Body: 'of production' }))
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
    rmSync(data_dir, { recursive: true, force: true })
  })

  async function openSession({ branch, folder = `/srv/${branch}`, linked = true }: { branch: string; folder?: string; linked?: boolean }) {
    const { status, body } = await platform.api<{ session: DevSession; variables: Variables; notes: string[] }>(
      'POST',
      '/instance/projects/shop/dev',
      {
        folder,
        branch,
        is_linked_worktree: linked,
        command: 'npm run dev',
        framework: 'vite',
        port: ++port,
        host_header: 'localhost',
      },
    )
    expect([status, body]).toEqual([201, expect.anything()])
    return body
  }
  const endSession = ({ id }: DevSession) => platform.api('DELETE', `/instance/projects/shop/dev/${id}`)
  const fork = (branch: string, from_branch?: string) =>
    platform.api<{ fork: Fork; error: string }>('POST', '/instance/projects/shop/forks', { branch, ...(from_branch && { from_branch }) })

  /** The containers of a service: that of production, and those of branches. */
  const listContainers = async (service: string): Promise<string[]> => {
    const { id } = await platform.getProject('shop')
    const filters = ['--filter', `label=homeport.service=${service}`, '--filter', `label=homeport.project=${id}`]
    return (await runProgram('docker', ['ps', '-q', '--no-trunc', ...filters])).split('\n').filter(Boolean)
  }
  /** Runs SQL as the app's user, in the container of the server, because containers of different environments do not reach each other. */
  const sql = async ({ MYSQL_HOST, MYSQL_PASSWORD }: Variables, statement: string): Promise<string> => {
    const format = '{{.Id}} {{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}'
    const lines = await runProgram('docker', ['inspect', '--format', format, ...(await listContainers('mariadb'))])
    const [id = ''] =
      lines
        .split('\n')
        .find((line) => line.split(' ').includes(MYSQL_HOST ?? ''))
        ?.split(' ') ?? []
    const client = ['mariadb', `--host=${MYSQL_HOST}`, '--user=app', '--skip-column-names', `--execute=${statement}`, 'app']
    return (await runProgram('docker', ['exec', '--env', `MYSQL_PWD=${MYSQL_PASSWORD}`, id, ...client])).trim()
  }

  test('a branch without a copy uses the services of production', async () => {
    const { session, variables } = await openSession({ branch: 'plain' })
    expect([session.host, session.fork_branch]).toEqual(['plain--shop.localhost', null])
    expect([variables.REDIS_URL, variables.MYSQL_URL]).toEqual([production.REDIS_URL, production.MYSQL_URL])
    await endSession(session)
  })

  test('a branch with a copy has its own services: the same data, other passwords, and nothing reaches production', async () => {
    const { body } = await fork('trial')
    expect(body.fork.volumes.map(({ name }) => name).sort()).toEqual(['managed-mariadb', 'managed-redis', 'managed-s3'])
    expect(await listContainers('redis')).toHaveLength(1)

    const { session, variables, notes } = await openSession({ branch: 'trial' })
    expect([session.host, session.fork_branch, notes]).toEqual(['trial--shop.localhost', 'trial', []])
    expect(Object.keys(variables).sort()).toEqual(Object.keys(production).sort())
    for (const name of ['REDIS_HOST', 'REDIS_PASSWORD', 'MYSQL_HOST', 'MYSQL_PASSWORD', 'S3_SECRET_ACCESS_KEY'])
      expect([name, variables[name]]).not.toEqual([name, production[name]])

    expect(await askRedis(variables, 'INCR visits')).toBe('+OK\r\n:42\r\n+OK\r\n')
    expect(await askRedis(production, 'GET visits')).toBe('+OK\r\n$2\r\n41\r\n+OK\r\n')
    expect(await askRedis({ ...variables, REDIS_PASSWORD: production.REDIS_PASSWORD ?? '' }, 'GET visits')).toContain('WRONGPASS')

    await sql(variables, "INSERT INTO guests VALUES ('Bea')")
    expect(await sql(variables, 'SELECT GROUP_CONCAT(name) FROM guests')).toBe('Ada,Bea')
    expect(await sql(production, 'SELECT GROUP_CONCAT(name) FROM guests')).toBe('Ada')
    await expect(sql({ ...variables, MYSQL_PASSWORD: production.MYSQL_PASSWORD ?? '' }, 'SELECT 1')).rejects.toThrow()

    // A browser reaches the storage at the address of the branch.
    expect(variables.S3_PUBLIC_ENDPOINT).toBe(`http://s3--trial--shop.localhost:${new URL(session.url).port}`)
    const object = { Bucket: 'app', Key: 'note' }
    await createS3Client(variables, variables.S3_PUBLIC_ENDPOINT).send(new PutObjectCommand({ ...object, Body: 'of trial' }))
    for (const [env, text] of [
      [variables, 'of trial'],
      [production, 'of production'],
    ] as const)
      expect(await (await createS3Client(env, env.S3_ENDPOINT).send(new GetObjectCommand(object))).Body?.transformToString()).toBe(text)

    // A second worktree of the branch has its own address, and the same services.
    const second = await openSession({ branch: 'trial', folder: '/srv/another' })
    expect([second.session.host, second.variables.REDIS_URL]).toEqual([expect.stringMatching(/^trial-\w+--shop\.localhost$/), variables.REDIS_URL])
    expect(await listContainers('redis')).toHaveLength(2)
    expect((await fork('trial')).body.error).toBe('dev_session_exists')
    expect((await platform.api('DELETE', '/instance/projects/shop/forks?branch=trial')).body.error).toBe('dev_session_exists')

    await endSession(second.session)
    expect(await askRedis(variables, 'GET visits')).toContain('42')
    await endSession(session)
    await until(async () => ((await listContainers('redis')).length === 1 ? true : undefined), { what: 'the end of the services' })
    expect((await platform.fetchEdge('s3--trial--shop.localhost')).status).toBe(404)
  })

  fullTest('the main folder on such a branch uses the copy too, at the address of the project', async () => {
    const { session, variables } = await openSession({ branch: 'trial', folder: '/srv/main', linked: false })
    expect([session.host, session.fork_branch]).toEqual(['shop.localhost', 'trial'])
    expect(await askRedis(variables, 'GET visits')).toContain('42')
    await endSession(session)
  })

  fullTest('copies of several branches run at once, including one of another branch', async () => {
    expect((await fork('second', 'trial')).status).toBe(200)
    const opened = await Promise.all([openSession({ branch: 'trial' }), openSession({ branch: 'second' })])
    const [trial, second] = opened
    await askRedis(second.variables, 'SET visits 100')
    expect(await askRedis(trial.variables, 'GET visits')).toContain('42')
    expect(await sql(second.variables, 'SELECT GROUP_CONCAT(name) FROM guests')).toBe('Ada,Bea')
    for (const { session } of opened) await endSession(session)
    await until(async () => ((await listContainers('mariadb')).length === 1 ? true : undefined), { what: 'the end of the services' })
  })

  fullTest('the preview of the branch takes over the running services', async () => {
    const { session, variables } = await openSession({ branch: 'trial' })
    const before = await listContainers('redis')
    await waitForPreview(platform, 'shop', 'trial', commitToBranch(repository.folder, 'trial', { 'note.txt': 'one' }))
    expect(await listContainers('redis')).toEqual(before)
    await endSession(session)
    const inPreview = JSON.parse((await platform.fetchEdge('trial--shop.localhost', '/')).body) as Variables
    expect([inPreview.REDIS_HOST, inPreview.REDIS_PASSWORD]).toEqual(['redis', variables.REDIS_PASSWORD])
    expect(await askRedis(variables, 'GET visits')).toContain('42')
  })

  fullTest('after a kill no service of a branch is left, and its data stays', async () => {
    const { variables } = await openSession({ branch: 'second' })
    await askRedis(variables, 'SET visits 101')
    await until(async () => ((await askRedis(variables, 'INFO persistence')).includes('aof_pending_bio_fsync:0') ? true : undefined), {
      what: 'the disk',
    })
    await platform.kill()
    platform = await startTestPlatform({ runtime: 'docker', data_dir })
    await until(async () => ((await listContainers('redis')).length === 2 ? true : undefined), { what: 'production and the preview alone' })
    const again = await openSession({ branch: 'second' })
    expect(await askRedis(again.variables, 'GET visits')).toContain('101')
    await endSession(again.session)
  })
})
