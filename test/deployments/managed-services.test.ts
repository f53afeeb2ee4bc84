import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { describe, expect, test } from 'vitest'
import type { MailMessage } from '../../server/contract/mail.ts'
import type { ManagedService } from '../../server/contract/managed-services.ts'
import type { Service } from '../../server/contract/services.ts'
import { runCommand } from '../support/command.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { runProgram } from '../support/runtime.ts'
import { createS3Client } from '../support/s3-client.ts'
import { type DeploymentContext, useDeploymentContext, useSharedDeploymentContext } from './deployment-suite.ts'
import { fullTest } from '../support/full-test.ts'
import { isFullTier } from '../support/tier.ts'

/** An app without a configuration file. It shows its variables, speaks the Redis protocol, and sends mail, without a package. */
const server = `
const net = require('node:net')
const talk = (host, port, lines, isDone) => new Promise((resolve, reject) => {
  let all = ''
  const socket = net.connect(Number(port), host, () => { if (lines.speaksFirst) socket.write(lines.shift()) })
  socket.setTimeout(5000, () => socket.destroy(new Error('timeout')))
  socket.on('error', reject)
  socket.on('data', (data) => {
    all += data
    if (isDone(all) || lines.length === 0) { socket.destroy(); resolve(all) } else if (/\\r\\n$/.test(all)) socket.write(lines.shift())
  })
})
const env = process.env
const routes = {
  '/env': async () => JSON.stringify(env),
  '/redis': (query) => talk(env.REDIS_HOST, env.REDIS_PORT, Object.assign(['AUTH ' + env.REDIS_PASSWORD + '\\r\\n', query.get('command') + '\\r\\n'], { speaksFirst: true }), () => false),
  '/redis-anonymous': () => talk(env.REDIS_HOST, env.REDIS_PORT, Object.assign(['PING\\r\\n'], { speaksFirst: true }), () => false),
  '/fetch': async (query) => {
    const response = await fetch(query.get('url'))
    return response.status + ' ' + await response.text()
  },
  '/mysql': () => talk(env.MYSQL_HOST, env.MYSQL_PORT, [], () => true),
  '/mail': () => talk(env.SMTP_HOST, env.SMTP_PORT, [
    'EHLO app\\r\\n',
    'AUTH PLAIN ' + Buffer.from('\\0' + env.SMTP_USER + '\\0' + env.SMTP_PASSWORD).toString('base64') + '\\r\\n',
    'MAIL FROM:<app@example.com>\\r\\n', 'RCPT TO:<ada@example.com>\\r\\n', 'DATA\\r\\n',
    'From: App <app@example.com>\\r\\nTo: ada@example.com\\r\\nSubject: Hello from a container\\r\\n\\r\\nHi Ada\\r\\n.\\r\\n',
  ], (all) => all.includes('250 Stored') || all.includes('\\n5')),
}
require('node:http').createServer((request, response) => {
  const url = new URL(request.url, 'http://app')
  const answer = routes[url.pathname]
  Promise.resolve(answer ? answer(url.searchParams) : 'ok').then((text) => response.end(text), (error) => response.writeHead(500).end(String(error)))
}).listen(process.env.PORT, process.env.HOST)
`
const files = { 'package.json': JSON.stringify({ name: 'plain', private: true, scripts: { start: 'node server.js' } }), 'server.js': server }

const helpers = (context: DeploymentContext) => ({
  read: async (slug: string, path: string) => (await context.platform.fetchEdge(`${slug}.localhost`, path)).body,
  variables: async (slug: string) =>
    JSON.parse((await context.platform.fetchEdge(`${slug}.localhost`, '/env')).body) as Record<string, string | undefined>,
  /** Makes a change that redeploys the project, and waits for the deployment. */
  async change(slug: string, method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) {
    const { status, body: answer } = await context.platform.api<{ deployment_id: string }>(method, `/instance/projects/${slug}/${path}`, body)
    expect(status).toBe(200)
    expect(await context.platform.waitForEnd(slug, answer.deployment_id)).toMatchObject({ status: 'ready', error: null })
  },
  homeport: (...args: string[]) => runCommand({ api_url: context.platform.handle.api_url, token: context.platform.handle.instance.token }, '/', args),
})

describe.skipIf(!requires('docker').ok || !requires('service-images').ok)('managed services on Docker', () => {
  const context = useDeploymentContext('docker')
  const { read, variables, change, homeport } = helpers(context)

  const artifactOf = async (id: string): Promise<string> => JSON.stringify(await context.platform.api('GET', `/v1/projects/plain/deployments/${id}`))
  const findContainer = async (name: string) => {
    const { id } = await context.platform.getProject('plain')
    const filters = ['--filter', `label=homeport.service=${name}`, '--filter', `label=homeport.project=${id}`]
    return (await runProgram('docker', ['ps', '-q', ...filters])).trim()
  }
  const inContainer = async (name: string, script: string) => runProgram('docker', ['exec', await findContainer(name), 'sh', '-c', script])
  const sql = (statement: string) =>
    inContainer('mariadb', `MYSQL_PWD="$MARIADB_PASSWORD" mariadb --host=127.0.0.1 --user=app --skip-column-names --execute="${statement}" app`)

  test('an app without a configuration file gets Redis and MariaDB with one command each', async () => {
    await context.projectWith('plain', files)
    await context.deployReady('plain')
    expect(await homeport('services', 'plain', 'add', 'postgres')).toMatchObject({ code: 2, err: expect.stringContaining('redis, mariadb or s3') })
    const added = await homeport('services', 'plain', 'add', 'redis', '--json')
    expect(added).toMatchObject({ code: 0, err: '' })
    const { deployment_id } = JSON.parse(added.out) as { deployment_id: string }
    expect(await context.platform.waitForEnd('plain', deployment_id)).toMatchObject({ status: 'ready', error: null })

    const env = await variables('plain')
    expect(env).toMatchObject({ REDIS_HOST: 'redis', REDIS_PORT: '6379', REDIS_URL: `redis://:${env.REDIS_PASSWORD}@redis:6379` })
    expect(await read('plain', '/redis?command=SET+visits+41')).toBe('+OK\r\n+OK\r\n')
    expect(await read('plain', '/redis?command=INCR+visits')).toBe('+OK\r\n:42\r\n')
    expect(await read('plain', '/redis-anonymous')).toContain('NOAUTH')

    await change('plain', 'POST', 'managed-services', { name: 'mariadb' })
    expect(await read('plain', '/mysql')).toContain('MariaDB')
    // The data of Redis survives a new version.
    expect(await read('plain', '/redis?command=INCR+visits')).toBe('+OK\r\n:43\r\n')
    await sql("CREATE TABLE guests (name TEXT); INSERT INTO guests VALUES ('Ada')")
    const { services } = (await context.platform.api<{ services: Service[] }>('GET', '/instance/projects/plain/services')).body
    expect(services.map(({ name, kind, status, is_main }) => [name, kind, status, is_main])).toEqual([
      ['web', 'web', 'running', true],
      ['mariadb', 'image', 'running', false],
      ['redis', 'image', 'running', false],
    ])
  })

  test('passwords are in no stored version, log, list of processes or file of the container', async () => {
    const env = await variables('plain')
    const passwords = [env.REDIS_PASSWORD ?? '', env.MYSQL_PASSWORD ?? '']
    expect(passwords.map(({ length }) => length)).toEqual([43, 43])
    const { deployments } = (await context.platform.api<{ deployments: { id: string }[] }>('GET', '/v1/projects/plain/deployments')).body
    const texts = [
      await artifactOf(deployments[0]!.id),
      (await homeport('logs', 'plain', '--build', deployments[0]!.id)).out,
      JSON.stringify((await context.platform.api('GET', '/instance/projects/plain/managed-services')).body),
      await inContainer('redis', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "; cat /data/*.conf 2>/dev/null || true'),
      await inContainer('mariadb', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "'),
    ]
    for (const text of texts) for (const password of passwords) expect(text).not.toContain(password)
    expect(texts[1]).toContain('Redis: the managed service redis, from redis:7-bookworm')
    for (const name of ['redis', 'mariadb']) {
      const log = await runProgram('sh', ['-c', 'docker logs "$0" 2>&1', await findContainer(name)])
      expect(log).not.toBe('')
      for (const password of passwords) expect(log).not.toContain(password)
    }
  })

  fullTest('a removed service stops and keeps its data, which returns when it is added again', async () => {
    const before = await variables('plain')
    await change('plain', 'DELETE', 'managed-services/mariadb')
    expect((await variables('plain')).MYSQL_URL).toBeUndefined()
    const list = async () =>
      (await context.platform.api<{ services: ManagedService[] }>('GET', '/instance/projects/plain/managed-services')).body.services
    expect((await list()).map(({ name, is_added, has_data }) => [name, is_added, has_data])).toEqual([
      ['redis', true, false],
      ['mariadb', false, true],
      ['s3', false, false],
    ])
    expect((await homeport('services', 'plain', 'remove', 'mariadb')).err).toMatch(/^service_not_found/)
    await change('plain', 'POST', 'managed-services', { name: 'mariadb' })
    expect((await variables('plain')).MYSQL_PASSWORD).toBe(before.MYSQL_PASSWORD)
    expect((await sql('SELECT name FROM guests')).trim()).toBe('Ada')
  })

  test('an app and a browser use S3 storage with the AWS client, in an existing bucket', async () => {
    await change('plain', 'POST', 'managed-services', { name: 's3' })
    const env = await variables('plain')
    const edgePort = new URL(context.platform.handle.instance.edge_url).port
    expect(env).toMatchObject({
      S3_ENDPOINT: 'http://s3:7070',
      S3_PUBLIC_ENDPOINT: `http://s3--plain.localhost:${edgePort}`,
      S3_REGION: 'us-east-1',
      S3_BUCKET: 'app',
      S3_ACCESS_KEY_ID: env.AWS_ACCESS_KEY_ID,
      S3_SECRET_ACCESS_KEY: env.AWS_SECRET_ACCESS_KEY,
    })
    const browser = createS3Client(env, env.S3_PUBLIC_ENDPOINT)
    const object = { Bucket: env.S3_BUCKET, Key: 'notes/ä & b.txt' }
    await browser.send(new PutObjectCommand({ ...object, Body: 'hello', ContentType: 'text/plain', Metadata: { owner: 'ada' } }))
    const bytes = randomBytes(9 * 2 ** 20)
    await browser.send(new PutObjectCommand({ Bucket: env.S3_BUCKET, Key: 'large', Body: bytes }))
    const { Contents } = await browser.send(new ListObjectsV2Command({ Bucket: env.S3_BUCKET }))
    expect(Contents?.map(({ Key, Size }) => [Key, Size])).toEqual([
      ['large', bytes.length],
      ['notes/ä & b.txt', 5],
    ])
    const large = await browser.send(new GetObjectCommand({ Bucket: env.S3_BUCKET, Key: 'large' }))
    expect(Buffer.compare(await large.Body!.transformToByteArray(), bytes)).toBe(0)
    const found = await browser.send(new HeadObjectCommand(object))
    expect([found.ContentType, found.Metadata]).toEqual(['text/plain', { owner: 'ada' }])

    // A presigned URL works from inside, with the variables that the SDK reads itself, and from a browser.
    const inside = await getSignedUrl(createS3Client(env, env.AWS_ENDPOINT_URL_S3), new GetObjectCommand(object))
    expect(await read('plain', `/fetch?url=${encodeURIComponent(inside)}`)).toBe('200 hello')
    const signed = new URL(await getSignedUrl(browser, new GetObjectCommand(object)))
    const fetchPath = (path: string) => context.platform.fetchEdge('s3--plain.localhost', path)
    expect(await fetchPath(signed.pathname + signed.search)).toMatchObject({ status: 200, body: 'hello' })
    // Without the signature, with another one, and for another object access is denied.
    const others = [
      signed.pathname,
      signed.pathname + signed.search.replace(/Signature=\w{4}/, 'Signature=0000'),
      `/app/large${signed.search}`,
      '/app',
      '/',
    ]
    for (const path of others) expect([path, (await fetchPath(path)).status]).toEqual([path, 403])
    const stranger = createS3Client({ ...env, AWS_SECRET_ACCESS_KEY: 'x'.repeat(43) }, env.S3_PUBLIC_ENDPOINT)
    await expect(stranger.send(new GetObjectCommand(object))).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' })

    const log = await runProgram('sh', ['-c', 'docker logs "$0" 2>&1', await findContainer('s3')])
    expect(log).not.toContain(env.S3_SECRET_ACCESS_KEY)
    expect(await inContainer('s3', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).not.toContain(env.S3_SECRET_ACCESS_KEY)
  })

  fullTest('a container sends mail to the catcher', async () => {
    await change('plain', 'PATCH', 'mail', { is_enabled: true })
    expect(await read('plain', '/mail')).toContain('250 Stored')
    const { messages } = (await context.platform.api<{ messages: MailMessage[] }>('GET', '/instance/projects/plain/mail')).body
    expect(messages.map(({ subject, to }) => [subject, ...to])).toEqual([['Hello from a container', 'ada@example.com']])
  })

  fullTest('a service with the name of one in the file is refused, and the error says what to do', async () => {
    const repository = await context.projectWith('twice', {
      ...files,
      'homeport.yaml': 'services:\n  web: { build: ., command: node server.js, port: 3000 }\n  redis: { image: "redis:7-bookworm" }\n',
    })
    await context.platform.api('POST', '/instance/projects/twice/managed-services', { name: 'redis' })
    expect(await context.deployAndWait('twice')).toMatchObject({
      status: 'failed',
      error: { code: 'detect_failed', message: 'homeport.yaml has a service “redis”, and the project has a managed service with this name.' },
    })
    repository.commit({ 'homeport.yaml': 'services:\n  web: { build: ., command: node server.js, port: 3000 }\n' })
    await context.deployReady('twice')
    // Another project has a separate Redis.
    expect(await read('twice', '/redis?command=GET+visits')).toBe('+OK\r\n$-1\r\n')
  })
})

if (isFullTier)
  test.skipIf(!requires('docker').ok)('a container sends mail to the catcher after the platform was killed and restarted', async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-mail-'))
    const repository = makeRepository(files)
    let platform = await startTestPlatform({ runtime: 'docker', data_dir })
    try {
      await platform.createProject({ slug: 'letters', repo_url: repository.url })
      const { status, body } = await platform.api('PATCH', '/instance/projects/letters/mail', { is_enabled: true })
      expect([status, body.deployment_id]).toEqual([200, null])
      expect(await platform.waitForEnd('letters', (await platform.deploy('letters')).id)).toMatchObject({ status: 'ready', error: null })
      const send = async () => (await platform.fetchEdge('letters.localhost', '/mail')).body
      expect(await send()).toContain('250 Stored')
      await platform.kill()
      platform = await startTestPlatform({ runtime: 'docker', data_dir })
      await until(async () => ((await send()).includes('250 Stored') ? true : undefined), { what: 'the container to send again' })
      const { messages } = (await platform.api<{ messages: MailMessage[] }>('GET', '/instance/projects/letters/mail')).body
      const sent = ['Hello from a container', 'ada@example.com']
      expect(messages.map(({ subject, to }) => [subject, ...to])).toEqual([sent, sent])
    } finally {
      await platform.remove()
      repository.remove()
      rmSync(data_dir, { recursive: true, force: true })
    }
  })

describe('mail from a process', () => {
  const context = useSharedDeploymentContext('process')
  const { read, variables, change } = helpers(context)

  test('an app gets the variables of the catcher while it is on, and its own again afterwards', async () => {
    await context.projectWith('letters', files)
    await context.platform.api('POST', '/v1/projects/letters/env-vars', { key: 'SMTP_HOST', value: 'smtp.example.com' })
    await context.deployReady('letters')
    await change('letters', 'PATCH', 'mail', { is_enabled: true })
    const env = await variables('letters')
    expect(env).toMatchObject({ SMTP_HOST: '127.0.0.1', SMTP_USER: (await context.platform.getProject('letters')).id })
    expect(await read('letters', '/mail')).toContain('250 Stored')
    // What a library reads from SMTP_URL.
    await createTransport(env.SMTP_URL).sendMail({ from: 'app@example.com', to: 'bob@example.com', subject: 'From a URL', text: 'hi' })
    const { messages } = (await context.platform.api<{ messages: MailMessage[] }>('GET', '/instance/projects/letters/mail')).body
    expect(messages.map(({ subject }) => subject)).toEqual(['From a URL', 'Hello from a container'])
    await change('letters', 'PATCH', 'mail', { is_enabled: false })
    expect(await variables('letters')).toMatchObject({ SMTP_HOST: 'smtp.example.com' })
    expect((await variables('letters')).SMTP_URL).toBeUndefined()
  })

  test('managed services report that they need Docker', async () => {
    const { status, body } = await context.platform.api<{ error: string }>('POST', '/instance/projects/letters/managed-services', { name: 'redis' })
    expect([status, body.error]).toEqual([503, 'runtime_unavailable'])
  })
})
