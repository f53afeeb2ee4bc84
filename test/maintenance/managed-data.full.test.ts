/** Volumes and managed services through a backup of the instance and its restore into a new data folder, byte for byte. */
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Backup } from '../../server/contract/maintenance.ts'
import { queryDatabase } from '../database/guest-book-app.ts'
import { fingerprint, richSchema } from '../database/rich-schema.ts'
import { manageServices, mariadbScript, plainAppFiles } from '../support/managed-app.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { createS3Client } from '../support/s3-client.ts'
import { restore } from './forged-backups.ts'

const files = {
  ...plainAppFiles,
  'homeport.yaml': 'services:\n  web: { build: ., command: node server.js, port: 3000, volumes: ["files:/app/files"] }\nvolumes: { files: {} }\n',
}

test.skipIf(!requires('docker').ok || !requires('service-images').ok)(
  'volumes, Redis, MariaDB, S3 storage and PostgreSQL are restored as they were',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-managed-'))
    const [into, keyFile] = [join(folder, 'new'), join(folder, 'key')]
    const repository = makeRepository(files)
    const platform = await startTestPlatform({ runtime: 'docker' })
    await platform.createProject({ slug: 'shop', repo_url: repository.url })
    expect((await platform.api('POST', '/v1/projects/shop/database')).status).toBe(201)
    for (const name of ['redis', 'mariadb', 's3']) await platform.api('POST', '/instance/projects/shop/managed-services', { name })
    expect((await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).error).toBeNull()

    const bytes = createHash('shake256', { outputLength: 300_000 }).update('a seed').digest()
    const { run, variables } = manageServices(platform, 'shop')
    await run(
      'web',
      'mkdir -p "files/ä b/c" && base64 -d > "files/ä b/c/\'data\'.bin" && chmod 640 "files/ä b/c/\'data\'.bin" && ln -s c "files/ä b/link"',
      bytes.toString('base64'),
    )
    await run('redis', 'redis-cli -x SET blob && redis-cli RPUSH list a b "c d" && redis-cli SET later 1 EX 100000', bytes.toString('base64'))
    await run(
      'mariadb',
      mariadbScript,
      `CREATE TABLE blobs (id INT PRIMARY KEY, raw LONGBLOB); INSERT INTO blobs VALUES (1, X'${bytes.subarray(0, 50_000).toString('hex')}')`,
    )
    await queryDatabase((await readDatabase(platform)).connection_string, richSchema(1_000))
    const object = { Bucket: 'app', Key: 'photos/ä & b.bin' }
    const env = await variables()
    await createS3Client(env, env.S3_PUBLIC_ENDPOINT).send(
      new PutObjectCommand({ ...object, Body: bytes, ContentType: 'image/x-test', Metadata: { owner: 'ada' } }),
    )
    const before = await readAll(platform)
    expect(before.s3).toEqual([digestOf(bytes), 'image/x-test', { owner: 'ada' }])

    const { body } = await platform.api<{ backup: Backup; left_out: string[] }>('POST', '/instance/backups')
    expect(body.left_out.filter((line) => !line.startsWith('The Docker images'))).toEqual([])
    writeFileSync(keyFile, readFileSync(join(platform.data_dir, 'master.key')))
    copyFileSync(body.backup.path, join(folder, 'backup'))
    // The old instance is removed completely, so that nothing can be read from it.
    await platform.remove()
    await restore(join(folder, 'backup'), into, { key_file: keyFile })

    const again = await startTestPlatform({ runtime: 'docker', data_dir: into })
    try {
      const { deployments } = (await again.api<{ deployments: Deployment[] }>('GET', '/v1/projects/shop/deployments')).body
      expect((await again.waitForEnd('shop', deployments[0]!.id)).error).toBeNull()
      await until(async () => ((await again.fetchEdge('shop.localhost', '/')).body === 'ok' ? true : undefined), { what: 'the app' })
      expect(await readAll(again)).toEqual(before)
    } finally {
      await again.remove()
      repository.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

const digestOf = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex')

const readDatabase = async (platform: TestPlatform) => (await platform.api<{ database: Database }>('GET', '/v1/projects/shop/database')).body.database

/** All content in a comparable form. */
async function readAll(platform: TestPlatform) {
  const { run, variables } = manageServices(platform, 'shop')
  const env = await variables()
  const object = { Bucket: 'app', Key: 'photos/ä & b.bin' }
  const client = createS3Client(env, env.S3_PUBLIC_ENDPOINT)
  const { Body } = await client.send(new GetObjectCommand(object))
  const { ContentType, Metadata } = await client.send(new HeadObjectCommand(object))
  const database = await readDatabase(platform)
  return {
    files: await run('web', 'cd files && find . -printf "%p %y %m %l\\n" | sort && find . -type f -exec sha256sum {} +'),
    redis: await run('redis', 'redis-cli GET blob | sha256sum; redis-cli LRANGE list 0 -1; redis-cli EXPIRETIME later; redis-cli DBSIZE'),
    mariadb: await run('mariadb', mariadbScript, 'SELECT id, LENGTH(raw), SHA2(raw, 256) FROM blobs; SHOW CREATE TABLE blobs'),
    postgres: [database.engine_version, ...(await queryDatabase(database.connection_string, fingerprint))],
    s3: [digestOf(await Body!.transformToByteArray()), ContentType, Metadata],
  }
}
