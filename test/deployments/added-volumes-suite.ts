import { expect, test } from 'vitest'
import type { Volume, VolumeEntry } from '../../server/contract/volumes.ts'
import { runCommand } from '../support/command.ts'
import { fullTest } from '../support/full-test.ts'
import type { DeploymentContext } from './deployment-suite.ts'

/** An app without a configuration file that counts its visits in an SQLite file at its root, and keeps uploads in a folder. */
export const guestbook = (version: string, extra = '') => ({
  'package.json': JSON.stringify({ name: 'guests', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const { DatabaseSync } = require('node:sqlite')
const fs = require('node:fs')
const database = new DatabaseSync('guests.db')
database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS guests (name TEXT)')
fs.mkdirSync('public/uploads', { recursive: true })
${extra}
require('node:http').createServer((request, response) => {
  const [, action, name] = request.url.split('/')
  if (action === 'sign') database.prepare('INSERT INTO guests VALUES (?)').run(name)
  if (action === 'upload') fs.writeFileSync('public/uploads/' + name, name)
  const guests = database.prepare('SELECT name FROM guests').all().map((row) => row.name)
  response.end(JSON.stringify({ version: '${version}', guests, uploads: fs.readdirSync('public/uploads').sort() }))
}).listen(process.env.PORT, process.env.HOST)
`,
})

interface Answer {
  version: string
  guests: string[]
  uploads: string[]
}

export const createHelpers = (context: DeploymentContext) => ({
  read: async (slug: string, path = '/') => JSON.parse((await context.platform.fetchEdge(`${slug}.localhost`, path)).body) as Answer,
  listVolumes: async (slug: string) => (await context.platform.api<{ volumes: Volume[] }>('GET', `/instance/projects/${slug}/volumes`)).body.volumes,
  listFiles: async (slug: string, volume: string) =>
    (await context.platform.api<{ entries: VolumeEntry[] }>('GET', `/instance/projects/${slug}/volumes/${volume}/files`)).body.entries.map(
      ({ name }) => name,
    ),
  homeport: (...args: string[]) => runCommand({ api_url: context.platform.handle.api_url, token: context.platform.handle.instance.token }, '/', args),
  /** Adds a volume and waits for the deployment that it starts. */
  async add(slug: string, path: string) {
    const { status, body } = await context.platform.api<{ volume: string; deployment_id: string }>('POST', `/instance/projects/${slug}/volumes`, {
      path,
    })
    expect(status, JSON.stringify(body)).toBe(200)
    return { name: body.volume, deployment: await context.platform.waitForEnd(slug, body.deployment_id) }
  },
})

/** Volumes of a project without a configuration file. */
export function addedVolumesSuite(context: DeploymentContext): void {
  const { read, listVolumes, listFiles, homeport, add } = createHelpers(context)

  test('a path is kept with its files: a folder, and a single file in the app’s own folder', async () => {
    const repository = await context.projectWith('kept', guestbook('one'))
    await context.deployReady('kept')
    await read('kept', '/upload/before.png')
    expect(await read('kept', '/sign/Ada')).toEqual({ version: 'one', guests: ['Ada'], uploads: ['before.png'] })

    const uploads = await add('kept', 'public/uploads')
    expect(uploads).toMatchObject({ name: 'uploads', deployment: { status: 'ready', error: null } })
    expect(uploads.deployment.build_log).toContain('The volume “uploads” starts with the files that the live version has at /app/public/uploads.')
    expect((await read('kept')).uploads).toEqual(['before.png'])
    // The database file was lost, and the new version started with an empty one.
    expect((await read('kept', '/sign/Bob')).guests).toEqual(['Bob'])
    expect((await add('kept', './guests.db')).deployment).toMatchObject({ status: 'ready', error: null })
    expect((await read('kept', '/sign/Cleo')).guests).toEqual(['Bob', 'Cleo'])
    expect(await listFiles('kept', 'guests.db')).toContain('guests.db')

    repository.commit(guestbook('two'))
    await context.deployReady('kept')
    expect(await read('kept', '/upload/after.png')).toEqual({ version: 'two', guests: ['Bob', 'Cleo'], uploads: ['after.png', 'before.png'] })
    expect((await listVolumes('kept')).map(({ name, used_by, added }) => [name, used_by, added])).toEqual([
      ['guests.db', [{ service: 'web', path: '/app/guests.db', is_read_only: false }], { service: null, path: '/app/guests.db' }],
      ['uploads', [{ service: 'web', path: '/app/public/uploads', is_read_only: false }], { service: null, path: '/app/public/uploads' }],
    ])
  })

  fullTest('rolling back to a version from before a volume was added mounts it, and its build stays usable', async () => {
    const { body } = await context.platform.api<{ deployments: { id: string; can_rollback: boolean }[] }>('GET', '/v1/projects/kept/deployments')
    const oldest = body.deployments.findLast(({ can_rollback }) => can_rollback)
    const { status, body: answer } = await context.platform.api<{ deployment: { id: string } }>(
      'POST',
      `/v1/projects/kept/deployments/${oldest?.id}/rollback`,
    )
    expect(status).toBe(201)
    expect(await context.platform.waitForEnd('kept', answer.deployment.id)).toMatchObject({ status: 'ready', error: null })
    expect(await read('kept')).toEqual({ version: 'one', guests: ['Bob', 'Cleo'], uploads: ['after.png', 'before.png'] })
  })

  fullTest('a detached volume keeps its files, which return when it is attached again', async () => {
    const detached = await homeport('volumes', 'detach', 'kept', 'uploads', '--json')
    expect(detached).toMatchObject({ code: 0, err: '' })
    await context.platform.waitForEnd('kept', (JSON.parse(detached.out) as { deployment_id: string }).deployment_id)
    expect((await read('kept')).uploads).toEqual([])
    expect((await homeport('volumes', 'detach', 'kept', 'uploads')).err).toMatch(/^volume_not_found/)
    expect((await listVolumes('kept')).find(({ name }) => name === 'uploads')).toMatchObject({ used_by: [], added: null })
    const added = await homeport('volumes', 'add', 'kept', '/app/public/uploads', '--json')
    expect(added).toMatchObject({ code: 0, err: '' })
    await context.platform.waitForEnd('kept', (JSON.parse(added.out) as { deployment_id: string }).deployment_id)
    expect((await read('kept')).uploads).toEqual(['after.png', 'before.png'])
  })

  fullTest('a failed deployment leaves the live version with its files, and the next one gets them', async () => {
    // Adding a volume rebuilds the source of the live version, which fails because of a variable.
    await context.projectWith('careful', guestbook('one', 'if (process.env.FAILS) process.exit(3)'))
    await context.deployReady('careful')
    await read('careful', '/sign/Bob')
    const env = '/v1/projects/careful/env-vars'
    const variable = (await context.platform.api<{ created: { id: string }[]; deployment_id: string }>('POST', env, { key: 'FAILS', value: '1' }))
      .body
    expect((await context.platform.waitForEnd('careful', variable.deployment_id)).status).toBe('failed')
    const failed = await add('careful', 'guests.db')
    expect(failed.deployment.status).toBe('failed')
    expect((await read('careful', '/sign/Cleo')).guests).toEqual(['Bob', 'Cleo'])
    await context.platform.api('DELETE', `${env}/${variable.created[0]?.id}`)
    await context.deployReady('careful')
    expect((await read('careful')).guests).toEqual(['Bob', 'Cleo'])
  })

  test('a path that cannot be kept is refused with the reason', async () => {
    const request = async (body: object) =>
      (await context.platform.api<{ error: string; message: string }>('POST', '/instance/projects/kept/volumes', body)).body
    for (const path of ['.', '/', '/app', '..', '../x', '/etc/passwd', '/proc', 'a/../..', 'node_modules/x'])
      expect((await request({ path })).error, path).toBe('invalid_input')
    for (const path of ['a:b', 'a\nb', 'a\0b', 'a\\b', '', 'x'.repeat(300)]) expect((await request({ path })).error, path).toBe('invalid_input')
    expect((await request({ path: 'uploads', service: 'other' })).error).toBe('service_not_found')
    expect(await request({ path: 'public/uploads' })).toEqual({ volume: 'uploads', path: '/app/public/uploads', deployment_id: null })
  })
}
