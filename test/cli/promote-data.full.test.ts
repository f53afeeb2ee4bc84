import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { createHash, randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../server/cli/client.ts'
import { createPromotionFiles } from '../../server/cli/promotion-client.ts'
import type { PromotionProgress, PromotionRequest } from '../../server/client/promotion/request.ts'
import { promotionStepNames, promotionSteps } from '../../server/client/promotion/steps.ts'
import { undoPromotion } from '../../server/client/promotion/undo.ts'
import { runCommand } from '../support/command.ts'
import { manageServices, mariadbScript, plainAppFiles } from '../support/managed-app.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { createS3Client } from '../support/s3-client.ts'
import { until } from '../support/until.ts'

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function query(platform: TestPlatform, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const { body } = await platform.api<{ database: { connection_string: string } }>('GET', '/v1/projects/shop/database')
  const client = new Client({ connectionString: body.database.connection_string })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Everything of the table, in an order and a form that does not depend on the server. */
const rowsOf = (platform: TestPlatform) =>
  query(platform, "SELECT id, name, encode(sha256(picture), 'hex') AS picture, price::text, at::text FROM ships ORDER BY id")

async function openStorage(platform: TestPlatform) {
  const env = await manageServices(platform, 'shop').variables()
  const client = createS3Client(env, env.S3_PUBLIC_ENDPOINT)
  const Bucket = env.S3_BUCKET
  return {
    put: (Key: string, Body: Uint8Array | string, more: object = {}) => client.send(new PutObjectCommand({ Bucket, Key, Body, ...more })),
    /** Key, hash, type and metadata of every object. */
    async list() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }))
      return Promise.all(
        Contents.map(async ({ Key }) => {
          const { Body, ContentType, Metadata } = await client.send(new GetObjectCommand({ Bucket, Key }))
          return [Key, hash(await Body!.transformToByteArray()), ContentType, Metadata]
        }),
      )
    },
  }
}

describe.skipIf(!requires('docker').ok || !requires('service-images').ok)('promotion of data on Docker', () => {
  let platform: TestPlatform
  let away: TestPlatform
  const repository = makeRepository({ ...plainAppFiles, 'homeport.yaml': 'managed: [postgres, mariadb, s3]\n' })
  const run = (args: string[], remote_token?: string) =>
    runCommand(platform.handle.instance, '.', args, { ...(remote_token !== undefined && { remote_token }) })
  const mariadb = (of: TestPlatform, sql: string) => manageServices(of, 'shop').run('mariadb', mariadbScript, sql)

  beforeAll(async () => {
    ;[platform, away] = await Promise.all([startTestPlatform({ runtime: 'docker' }), startTestPlatform({ runtime: 'docker' })])
    const { api_url, token } = away.handle.instance
    await run(['instances', 'add', api_url, 'Berth'], token)
    await platform.createProject({ slug: 'shop', repo_url: repository.url, previews: false })
    expect((await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).error).toBeNull()
    await query(platform, 'CREATE TABLE ships (id serial PRIMARY KEY, name text UNIQUE, picture bytea, price numeric(30, 10), at timestamptz)')
    const insert = 'INSERT INTO ships (name, picture, price, at) VALUES ($1, $2, $3, $4)'
    await query(platform, insert, [
      "Ä'da \\ \n\t\u{1f6a2}",
      randomBytes(2 ** 20),
      '12345678901234567890.0123456789',
      '1912-04-15T02:20:00.123456+05:45',
    ])
    await query(platform, insert, [null, Buffer.from([0, 1, 10, 13, 92, 255]), null, null])
    const storage = await openStorage(platform)
    await storage.put('notes/ä & b.txt', 'hello', { ContentType: 'text/plain; charset=utf-8', Metadata: { owner: 'ada' } })
    await storage.put('large', randomBytes(7 * 2 ** 20))
    await storage.put('empty', '')
    await mariadb(platform, "CREATE TABLE crew (name TEXT); INSERT INTO crew VALUES ('Grace');")
  })
  afterAll(async () => {
    await Promise.all([platform.remove(), away.remove()])
    repository.remove()
  })

  test('PostgreSQL and S3 storage arrive byte for byte, with what belongs to them', async () => {
    const { code, out, err } = await run(['promote', 'shop', 'Berth', '--volumes', 'managed-s3', '--databases', 'all'])
    expect([code, out], err).toEqual([0, expect.stringMatching(/^shop is live on Berth\.\n/)])
    expect(out).toMatch(/Data of the PostgreSQL database: Copied\.\n/)
    const rows = await rowsOf(platform)
    expect(rows).toHaveLength(2)
    expect(await rowsOf(away)).toEqual(rows)
    // The sequence continues, and the index is there.
    expect(await query(away, "INSERT INTO ships (name) VALUES ('third') RETURNING id")).toEqual([{ id: 3 }])
    await expect(query(away, "INSERT INTO ships (name) VALUES ('third')")).rejects.toThrow(/unique/)
    const objects = await (await openStorage(platform)).list()
    expect(objects).toHaveLength(3)
    expect(await (await openStorage(away)).list()).toEqual(objects)
    expect(await mariadb(away, 'SELECT name FROM crew')).toBe('Grace\n')
  })

  test('a promotion that replaced the data there is undone: the data from before is back, byte for byte', async () => {
    const storage = await openStorage(away)
    await storage.put('only-there', randomBytes(100_000))
    await query(away, "UPDATE ships SET name = 'changed there' WHERE id = 1")
    await mariadb(away, "UPDATE crew SET name = 'Changed there'")
    const before = { rows: await rowsOf(away), objects: await storage.list() }
    const files = await createPromotionFiles()
    const connect = ({ handle }: TestPlatform) => files.connect(createApiClient({ url: handle.api_url, token: handle.instance.token }))
    const { body } = await platform.api<{ deployments: { id: string }[] }>('GET', '/v1/projects/shop/deployments')
    const request: PromotionRequest = {
      from: { client: connect(platform), slug: 'shop' },
      to: { client: connect(away), slug: 'shop' },
      source: { kind: 'archive', deployment_id: body.deployments[0]!.id },
      new_name: null,
      settings: {},
      before: {},
      variables: new Set(),
      parts: {
        services: ['mariadb', 's3'],
        catches_mail: false,
        has_database: true,
        added_volumes: [],
        volumes: ['managed-s3'],
        copies_database: true,
        copied_services: ['mariadb'],
        replaces_data: true,
      },
    }
    const done: PromotionProgress = {}
    const context = {
      signal: new AbortController().signal,
      onProgress() {},
      persist() {},
      pause: async () => {
        await away.waitForEnd('shop', done.deployment_id!)
      },
      createKey: () => 'promote-data',
    }
    for (const name of promotionStepNames(request)) await promotionSteps[name](request, done, context)
    expect(await rowsOf(away)).toEqual(await rowsOf(platform))
    expect(await (await openStorage(away)).list()).toEqual(await (await openStorage(platform)).list())
    expect(await mariadb(away, 'SELECT name FROM crew')).toBe('Grace\n')

    await undoPromotion(request, done)
    await files.remove()
    await until(async () => ((await away.getProject('shop')).status === 'live' ? true : undefined), { what: 'the version from before' })
    expect(await rowsOf(away)).toEqual(before.rows)
    expect(await (await openStorage(away)).list()).toEqual(before.objects)
    expect(await mariadb(away, 'SELECT name FROM crew')).toBe('Changed there\n')
  })

  test('and the project comes back by pull, with the data of the other side', async () => {
    const { code, err } = await run(['pull', 'shop', 'Berth', '--slug', 'returned', '--volumes', 'managed-s3', '--databases', 'postgresql'])
    expect(code, err).toBe(0)
    const { body } = await platform.api<{ database: { connection_string: string } }>('GET', '/v1/projects/returned/database')
    const client = new Client({ connectionString: body.database.connection_string })
    await client.connect()
    const { rows } = await client.query<Record<string, unknown>>('SELECT name FROM ships ORDER BY id')
    await client.end()
    expect(rows.map(({ name }) => name)).toEqual(['changed there', null, 'third'])
  })
})
