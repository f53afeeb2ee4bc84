import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFileKey } from '../../server/keys/file-key.ts'
import { newId } from '../../server/lib/id.ts'
import { openDatabase } from '../../server/store/database.ts'
import { createSealer } from '../../server/store/sealed.ts'
import type { Tables } from '../../server/store/tables.ts'
import { startGitHost, type GitHost } from '../support/git-host.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { processesWith } from '../support/processes.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { dockerSocket } from '../support/requirements.ts'
import { readEvents } from './stories.ts'

const variable = `HPSENT/var+${newId('evt')}`
const password = `HPSENT-git-${newId('evt')}`
const token = `HPSENT-token-${newId('evt')}`

/** Every way in which a secret may be written down. */
const forms = (secret: string) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), JSON.stringify(secret).slice(1, -1)]

/** threats.md, T8: a planted secret is in no log, stream, answer, image, process list or file. */
export function secretStories(runtime: 'process' | 'docker'): void {
  describe(`secrets on ${runtime}`, () => {
    let home: TestPlatform
    let host: GitHost
    let repository: Repository
    const sinks = new Map<string, string>()

    beforeAll(async () => {
      home = await startTestPlatform({ runtime })
      repository = makeRepository({
        'package.json': JSON.stringify({
          name: 'teller',
          private: true,
          scripts: {
            build: 'node -e "console.log(\'building with\', process.env.SECRET, encodeURIComponent(process.env.SECRET), btoa(process.env.SECRET))"',
            start: 'node server.js',
          },
        }),
        'server.js': `
          console.log('running with', process.env.SECRET)
          console.error(JSON.stringify({ secret: process.env.SECRET }))
          require('node:http').createServer((q, r) => r.end(String(process.env.SECRET.length))).listen(process.env.PORT)`,
      })
      host = await startGitHost({ root: dirname(repository.folder), credentials: { username: 'me', password } })
      const address = new URL(host.url(`${repository.folder.split('/').at(-1)}/.git`))
      address.username = 'me'
      address.password = password
      const project = await home.createProject({ slug: 'teller', repo_url: address.href })
      await plantVariable(home.data_dir, project.id)

      const seen = [JSON.stringify(project)]
      for (const action of ['deploy', 'deploy']) {
        const { body } = await home.api<{ deployment_id: string }>('POST', `/v1/projects/teller/${action}`)
        const ended = await home.ended('teller', body.deployment_id)
        expect(ended.error, ended.build_log).toBeNull()
        seen.push(JSON.stringify(ended))
        seen.push(await readEvents(home, `/v1/projects/teller/deployments/${ended.id}/logs`, (text) => text.includes('event: end'), 60_000))
      }
      expect((await home.edge('teller.localhost')).body).toBe(String(variable.length))
      // A wrong password: the failure's words are a sink too.
      const wrong = new URL(address.href)
      wrong.password = `${password}-not`
      await home.api('PATCH', '/v1/projects/teller', { repo_url: wrong.href })
      const failed = await home.ended('teller', (await home.deploy('teller')).id)
      expect(failed.error?.code).toBe('clone_failed')
      seen.push(JSON.stringify(failed))
      seen.push(JSON.stringify((await home.api('GET', '/v1/projects')).body))
      // A token in the place of the user's name, as hosts of repositories hand them out.
      await home.api('PATCH', '/v1/projects/teller', { repo_url: `http://${token}@127.0.0.1:${host.port}/none.git` })
      seen.push(JSON.stringify(await home.ended('teller', (await home.deploy('teller')).id)))
      sinks.set('answers and build streams', seen.join('\n'))
      sinks.set(
        'the runtime log',
        await readEvents(
          home,
          '/v1/projects/teller/runtime-logs?format=json',
          (text) => text.includes('running with') && text.includes('secret'),
          60_000,
        ),
      )
      sinks.set('the platform’s own log', home.log.join('\n'))
    })
    afterAll(async () => {
      await home.remove()
      await host.close()
      repository.remove()
    })

    const expectClean = (where: string, text: string) => {
      for (const secret of [variable, password, token])
        for (const form of forms(secret)) expect(text.includes(form), `${form} in ${where}`).toBe(false)
    }

    test('the sinks were written to, with the secret hidden', () => {
      expect(sinks.get('answers and build streams')).toContain('building with ••••••')
      expect(sinks.get('the runtime log')).toContain('running with ••••••')
    })

    test.for(['answers and build streams', 'the runtime log', 'the platform’s own log'])('not in %s', (where) =>
      expectClean(where, sinks.get(where) ?? ''),
    )

    test('not in the arguments of any process', () => {
      for (const secret of [variable, password, token]) expect(processesWith(secret)).toEqual([])
    })

    test('not in any file of the data folder', () => {
      for (const path of files(home.data_dir)) expectClean(path, readFileSync(path, 'latin1'))
    })

    if (runtime === 'docker')
      test('not in the history nor in a layer of any image', async () => {
        const docker = new Docker({ socketPath: dockerSocket })
        const project = (await home.project('teller')).id
        const images = await docker.listImages({ all: true, filters: { label: [`homeport.project=${project}`] } })
        expect(images.length).toBeGreaterThan(0)
        for (const { Id } of images) {
          expectClean('the history', JSON.stringify(await docker.getImage(Id).history()))
          expectClean('the image’s description', JSON.stringify(await docker.getImage(Id).inspect()))
          const count = 'docker save "$0" | tar -xO --wildcards "*layer.tar" 2>/dev/null | grep -acF -e "$1" -e "$2" -e "$3" || true'
          const { stdout: layers } = await promisify(execFile)('sh', ['-c', count, Id, variable, password, token])
          expect(layers.trim()).toBe('0')
        }
      })
  })
}

/** As the environment-variable operations will: sealed with the instance's key, bound to its row. */
async function plantVariable(data_dir: string, projectId: string): Promise<void> {
  const sealer = createSealer(await createFileKey(join(data_dir, 'master.key')).read())
  const db = openDatabase<Tables>({ path: join(data_dir, 'homeport.db'), durable: true })
  const id = newId('env')
  const now = new Date().toISOString()
  await db.write((tx) =>
    tx.run(
      tx.query.insertInto('env_vars').values({
        id,
        project_id: projectId,
        key: 'SECRET',
        sealed_value: sealer.seal({ table: 'env_vars', column: 'sealed_value', row: id }, variable),
        environment: null,
        is_sensitive: 1,
        created_at: now,
        updated_at: now,
      }),
    ),
  )
  await db.close()
}

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/\/(toolchains|_cacache)\//.test(`${entry.parentPath}/`))
    .map((entry) => join(entry.parentPath, entry.name))
}
