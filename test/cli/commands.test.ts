import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { findInstance } from '../../server/cli/find-instance.ts'
import { type CommandLine, commandLine, runCommand } from '../support/command.ts'
import { runHomeport, createTempFolder } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { fixedClock } from '../support/test-clock.ts'

const folder = createTempFolder('commands')
const site = join(folder.path, 'My Site')
const broken = join(folder.path, 'broken')
let platform: TestPlatform
let run: CommandLine

beforeAll(async () => {
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), '<h1>first</h1>')
  mkdirSync(broken)
  writeFileSync(
    join(broken, 'package.json'),
    JSON.stringify({ name: 'broken', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
  )
  writeFileSync(join(broken, 'build.js'), "console.log('\\u001b[31mlooking\\u001b[0m'); throw new Error('the sky fell')")
  platform = await startTestPlatform({ runtime: 'process' })
  run = commandLine(platform.handle.instance, folder.path)
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})
const as = (token: string) => commandLine({ ...platform.handle.instance, token }, folder.path)
const newest = async (slug: string) => (await run.json<{ deployments: { id: string; created_at: string }[] }>('deployments', slug)).deployments
const page = async (slug: string, path = '/') => {
  const { status, body } = await platform.fetchEdge(`${slug}.localhost`, path)
  return { status, body }
}

describe('deploy', () => {
  test('a folder goes live: creates the project, prints the address, and each log line once', async () => {
    const { code, out, err } = await run('deploy', site)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/Live at http:\/\/my-site\.localhost:\d+/)
    expect(await page('my-site')).toEqual({ status: 200, body: '<h1>first</h1>' })
    const lines = out.split('\n').filter((line) => line.startsWith('  '))
    expect(new Set(lines).size).toBe(lines.length)
  })

  test('works as a separate process that finds the instance by its data folder', async () => {
    const { code, out, err } = await runHomeport(['deploy', site, '--data', platform.data_dir])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/Live at/)
  })

  test('--project names it; --json prints only project and deployment', async () => {
    writeFileSync(join(site, 'index.html'), '<h1>second</h1>')
    expect(await run.json('deploy', site, '--project', 'other')).toMatchObject({
      project: { slug: 'other', status: 'live' },
      deployment: { status: 'ready', is_current: true, source: 'upload' },
    })
    expect((await page('other')).body).toBe('<h1>second</h1>')
  })

  test('--no-follow returns at once', async () => {
    expect(await run.json('deploy', site, '--project', 'other', '--no-follow')).toMatchObject({
      deployment: { id: expect.stringMatching(/^dpl_/) },
    })
  })

  test('a failed build exits with 1, its error and a hint; its log can be read again', async () => {
    const { code, out, err } = await run('deploy', broken)
    expect(code).toBe(1)
    expect(out).toContain('the sky fell')
    expect(out).not.toContain('\u001b')
    expect(err).toMatch(/build_failed/)
    expect(err.trim().split('\n').length).toBeGreaterThan(1)
    const log = await run('logs', 'broken', '--build', (await newest('broken'))[0]!.id)
    expect([log.code, log.out]).toEqual([0, expect.stringContaining('the sky fell')])
  })

  test('a missing folder is a usage error', async () => {
    expect(await run('deploy', join(folder.path, 'nowhere'))).toMatchObject({ code: 2, err: expect.stringContaining('nowhere') })
  })
})

describe('projects', () => {
  test('are created, shown, listed, stopped and deleted', async () => {
    expect(await run.json('projects', 'create', 'Große Idee')).toMatchObject({
      project: { slug: 'grosse-idee', name: 'Große Idee', status: 'created' },
    })
    expect((await run('projects', 'show', 'grosse-idee')).out).toContain('Große Idee')
    expect((await run('projects')).out).toMatch(/grosse-idee\s+Not deployed/)
    expect(await run.json('projects', 'stop', 'grosse-idee')).toEqual({ ok: true, status: 'inactive' })
    expect((await run('projects', 'delete', 'grosse-idee')).code).toBe(0)
    expect((await run('projects', 'show', 'grosse-idee')).code).toBe(1)
  })

  test('their changes are listed, the newest last', async () => {
    await run('projects', 'create', 'Watched')
    await run('env', 'set', 'watched', 'API_KEY=hidden-value')
    const { out } = await run('activity', '--project', 'watched')
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => line.replace(/^\S+ +/, '')),
    ).toEqual([
      expect.stringMatching(/^watched +owner@\S+ created the project$/),
      expect.stringMatching(/^watched +owner@\S+ set the variable API_KEY$/),
    ])
    expect(out).not.toContain('hidden-value')
    const lines = (await run('activity', '--project', 'watched', '--action', 'env_vars.', '--since', '1h', '--json')).out.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ action: 'env_vars.set', via: 'cli', details: { names: ['API_KEY'] } }])
    expect((await run('activity', 'watched', '--limit', '1')).out.trim().split('\n')).toHaveLength(1)
    expect(await run('activity', '--actor', 'robot')).toMatchObject({ code: 2, err: expect.stringContaining('--actor must be one of') })
    expect((await run('activity', '--project', 'none')).out).toContain('No activity.')
  })

  test('set changes settings by their API names', async () => {
    const settings = [
      'name=The Site',
      'root_directory=apps/web',
      'build_command=npm run make',
      'node_version=24',
      'memory_limit_mb=256',
      'always_warm=true',
      'health_path=/healthz',
      'health_timeout_s=120',
      'cpu_limit=0.5',
      'previews=false',
    ]
    await run('projects', 'create', 'Settings')
    expect(await run('projects', 'set', 'settings', ...settings)).toMatchObject({
      code: 0,
      out: expect.stringContaining('memory_limit_mb is now 256'),
    })
    const changed = {
      name: 'The Site',
      root_directory: 'apps/web',
      build_command: 'npm run make',
      node_version: '24',
      memory_limit_mb: 256,
      always_warm: true,
    }
    expect(await platform.getProject('settings')).toMatchObject(changed)
    const more = { health_path: '/healthz', health_timeout_s: 120, cpu_limit: 0.5 }
    expect(await run.json('projects', 'show', 'settings')).toMatchObject({ project: changed, settings: more, watching: { previews: false } })
    const shown = (await run('projects', 'show', 'settings')).out
    expect(shown).toMatch(/cpu +0\.5 cores\n +health check +\/healthz, up to 120 s\n/)
    expect(shown).toMatch(/preview volumes +\S/)
    expect((await run('projects', 'set', 'settings', 'cpu_limit=none')).out).toBe('cpu_limit is now none.\n')
    expect(await run.json('projects', 'set', 'settings', 'repo_url=https://example.com/a.git')).toMatchObject({ project: { is_connected: true } })
    expect(await run.json('projects', 'set', 'settings', 'repo_url=none')).toMatchObject({ project: { repo_url: null } })
    for (const [pair, message] of [
      ['memory_limit_mb=much', 'must be a number'],
      ['cpu_limit=2 cores', 'must be a number'],
      ['always_warm=perhaps', 'true or false'],
      ['color=red', 'root_directory'],
      ['x', 'key=value'],
    ])
      expect(await run('projects', 'set', 'settings', pair!)).toMatchObject({ code: 2, err: expect.stringContaining(message!) })
    expect(await run('projects', 'set', 'settings')).toMatchObject({ code: 2 })
    expect(await run('projects', 'set', 'settings', 'root_directory=../out')).toMatchObject({
      code: 1,
      err: expect.stringContaining('root_directory'),
    })
  })

  test('open prints the address where there is no browser', async () => {
    const { out } = await run('projects', 'open', 'my-site')
    expect(out.trim()).toBe(`http://my-site.localhost:${new URL(platform.handle.edge_url).port}`)
  })
})

describe('deployments', () => {
  test('are listed newest first, and rolled back by id alone', async () => {
    const deployments = await newest('my-site')
    expect(deployments.length).toBeGreaterThan(1)
    expect(deployments[0]!.created_at >= deployments[1]!.created_at).toBe(true)
    const first = deployments.at(-1)!
    expect(await run.json('deployments', 'rollback', first.id)).toMatchObject({
      deployment: { trigger: 'rollback', parent_id: first.id, status: 'ready' },
    })
    expect((await page('my-site')).body).toBe('<h1>first</h1>')
  })

  test('downloads the source of one as an archive', async () => {
    const file = join(folder.path, 'taken.tar.gz')
    const { code, out } = await run('deployments', 'source', (await newest('my-site')).at(-1)!.id, '--out', file)
    expect([code, out.trim()]).toEqual([0, `Wrote ${file}.`])
    expect(execFileSync('tar', ['--list', '--gzip', '--file', file], { encoding: 'utf8' })).toContain('source/index.html')
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  test('cancel of an ended deployment is refused with code and request id', async () => {
    const { code, err } = await run('deployments', 'cancel', 'my-site', (await newest('my-site'))[0]!.id)
    expect(code).toBe(1)
    expect(err).toContain('deployment_terminal')
    expect(err).toMatch(/Request ID: req_/)
  })
})

describe('logs', () => {
  test('prints the output of an app and exits', async () => {
    const talking = join(folder.path, 'talking')
    mkdirSync(talking)
    writeFileSync(join(talking, 'package.json'), JSON.stringify({ name: 'talking', private: true, scripts: { start: 'node server.js' } }))
    writeFileSync(
      join(talking, 'server.js'),
      "console.log('good morning'); console.error('mind the step'); require('node:http').createServer((req, res) => res.end('ok')).listen(process.env.PORT)",
    )
    expect((await run('deploy', talking)).code).toBe(0)
    // A silence counts as the end of the existing lines: it starts once all are read.
    const clock = fixedClock('2026-01-31T12:00:00.000Z')
    const onOutput = (out: string) => void (out.includes('good morning') && out.includes('mind the step') && clock.advance(60_000))
    const logs = (...more: string[]) => runCommand(platform.handle.instance, folder.path, ['logs', 'talking', ...more], { clock, onOutput })
    const { code, out } = await logs()
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual(expect.arrayContaining(['good morning', 'mind the step']))
    const events = (await logs('--json')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    expect(events).toContainEqual(expect.objectContaining({ event: 'log', stream: 'stderr', line: 'mind the step' }))
    for (const lines of ['5', '2001', 'x'])
      expect(await run('logs', 'talking', '--lines', lines)).toMatchObject({
        code: 2,
        err: expect.stringContaining('a whole number from 20 to 2000'),
      })
  })
})

describe('users and settings', () => {
  test('a user is added with a working token', async () => {
    const added = await run.json<{ token: string }>('user', 'add', 'Ann@example.com', '--plan', 'basic', '--card')
    expect(added).toMatchObject({
      user: { email: 'ann@example.com', email_verified: true },
      account: { plan: 'basic', has_payment_method: true },
      token: expect.stringMatching(/^svc_/),
    })
    const mine = await runHomeport(['projects', '--json', '--url', platform.handle.api_url], { env: { HOMEPORT_TOKEN: added.token } })
    expect(JSON.parse(mine.out)).toEqual({ projects: [] })
    expect((await run('user', 'add', 'ann@example.com')).err).toContain('email_taken')
  })

  test('a team member sees what the owner has, until removed', async () => {
    const { token } = await run.json<{ token: string }>('user', 'add', 'bob@example.com', '--unverified')
    const { users } = await run.json<{ users: { email: string; is_instance_owner: boolean }[] }>('user', 'list')
    const owner = users.find((one) => one.is_instance_owner)!.email
    const seen = async () => (await as(token).json<{ projects: unknown[] }>('projects')).projects.length
    expect(await seen()).toBe(0)
    expect((await run('team', 'add', owner, 'bob@example.com')).code).toBe(0)
    expect(await seen()).toBeGreaterThan(0)
    expect((await run('team', 'remove', owner, 'bob@example.com')).code).toBe(0)
    expect(await seen()).toBe(0)
    expect((await run('user', 'remove', 'bob@example.com')).code).toBe(0)
  })

  test('a link signs up a new user, and another adds them to a team', async () => {
    expect(await run.json('user', 'invite', 'eve@example.com')).toMatchObject({
      user: { email: 'eve@example.com', email_verified: false },
      was_sent: false,
    })
    const { out } = await run('team', 'invite', 'zoe@example.com')
    const link = /http\S+/.exec(out)?.[0] ?? ''
    expect([out.includes('Send this link to zoe@example.com'), link.includes('/join?code=')]).toEqual([true, true])
    expect((await run('team', 'list')).out).toMatch(/zoe@example\.com +invited +until \d{4}-/)

    const zoe = as((await run.json<{ token: string }>('user', 'add', 'zoe@example.com')).token)
    expect(await zoe('team', 'join', link)).toMatchObject({ code: 0, out: expect.stringContaining('You can now use the projects of') })
    expect((await zoe('team', 'join', link)).err).toContain('invitation_not_found')
    expect((await run('team')).out).toMatch(/zoe@example\.com +member/)
    const { teams } = await zoe.json<{ teams: { owner_email: string }[] }>('team')
    expect((await zoe('team', 'leave', teams[0]!.owner_email)).code).toBe(0)
    await zoe('team', 'join', /http\S+/.exec((await run('team', 'invite', 'zoe@example.com')).out)?.[0] ?? '')
    expect(await run('team', 'dismiss', 'Zoe@example.com')).toMatchObject({ code: 0, out: 'Zoe@example.com can no longer use your projects.\n' })
    expect((await run('team')).out).not.toContain('zoe@example.com')
    expect((await run('team', 'dismiss', 'zoe@example.com')).err).toContain('user_not_found')

    await run('team', 'invite', 'late@example.com')
    expect((await run('team', 'revoke', 'late@example.com')).code).toBe(0)
    expect((await run('team', 'revoke', 'late@example.com')).err).toContain('invitation_not_found')
    for (const email of ['eve@example.com', 'zoe@example.com']) expect((await run('user', 'remove', email)).code).toBe(0)
  })

  test('settings are read and changed', async () => {
    expect((await run('settings', 'set', 'keep_deployments', '5')).code).toBe(0)
    expect((await run('settings', 'get', 'keep_deployments')).out.trim()).toBe('5')
    expect(await run.json('settings', 'get')).toMatchObject({ settings: { keep_deployments: 5, build_concurrency: null } })
    const { code, err } = await run('settings', 'set', 'keep_deployments', 'many')
    expect(code).toBe(1)
    expect(err).toContain('invalid_input')
    expect((await run('settings', 'set', 'colour', 'red')).code).toBe(2)
    expect((await run('settings')).out).toMatch(/^build_concurrency +none$/m)
    expect((await run('settings', 'set', 'dns_server', 'none')).out).toBe('dns_server is now none.\n')
  })

  fullTest('the doctor runs every check', async () => {
    const { code, out } = await run('doctor', '--json')
    expect([0, 1]).toContain(code)
    expect((JSON.parse(out) as { checks: { name: string }[] }).checks.map((check) => check.name)).toContain('database')
    expect((await run('doctor')).out).toMatch(/^. API and dashboard port: http/m)
  })
})

describe('errors', () => {
  test('with --json they are one document', async () => {
    const { code, out, err } = await run('projects', 'show', 'nope', '--json')
    expect([code, out]).toEqual([1, ''])
    expect(JSON.parse(err)).toMatchObject({ error: 'project_not_found', request_id: expect.stringMatching(/^req_/) })
  })

  test.each([
    ['deployment_not_found', ['deployments', 'retry', 'dpl_nope']],
    ['deployment_not_found', ['deployments', 'rollback', 'dpl_nope', '--json']],
    ['env_var_not_found', ['env', 'unset', 'other', 'NOPE']],
  ])('%s of %j is refused, with code and request id', async (code, args) => {
    const refused = await run(...args)
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain(code)
    expect(refused.err).toMatch(/req_[0-9a-z]{26}/)
  })

  test.each([[['bogus']], [['projects', 'bogus']], [['projects', 'show']], [['deploy', '.', '.']], [['team', 'add', 'a@example.com']], [['logs']]])(
    '%j is a usage error',
    async (args) => {
      expect((await run(...args)).code).toBe(2)
    },
  )

  test('no instance at the address', async () => {
    expect(await runCommand({ api_url: 'http://127.0.0.1:9', token: 'svc_x' }, '.', ['projects'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('homeport serve'),
    })
  })

  test('no instance in the folder, or only a stale instance.json', async () => {
    const empty = createTempFolder('empty')
    try {
      expect(await runHomeport(['projects', '--data', empty.path])).toMatchObject({ code: 3, out: '' })
      writeFileSync(join(empty.path, 'instance.json'), JSON.stringify({ ...platform.handle.instance, token: 'svc_x', pid: 2 ** 22 - 7 }))
      expect(() => findInstance({ url: undefined, token: undefined, data_dir: empty.path })).toThrow('stale')
    } finally {
      empty.remove()
    }
  })

  test('a redirect never carries the token to another host', async () => {
    const seen: string[] = []
    const server = createServer((req, res) => {
      seen.push(req.url ?? '')
      res.writeHead(302, { location: '/elsewhere' }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    expect((await runCommand({ api_url: `http://127.0.0.1:${port}`, token: 'svc_secret' }, '.', ['projects'])).code).toBe(1)
    server.close()
    expect(seen).toEqual(['/v1/projects?limit=100'])
  })
})

test.each(['serve', 'deploy', 'projects', 'deployments', 'logs', 'open', 'doctor', 'user', 'team', 'settings'])(
  '%s --help explains its usage',
  async (command) => {
    const { code, out } = await run(command, '--help')
    expect(code).toBe(0)
    expect(out).toContain(`homeport ${command}`)
    expect(out).toContain('--json')
  },
)

test('registries are added with a prompted password, listed without it, and removed', async () => {
  await run('deploy', site, '--project', 'with-registry')
  const add = ['registries', 'with-registry', 'add', 'ghcr.io', '--username', 'ada']
  const added = await runCommand(platform.handle.instance, folder.path, add, { answers: ['correct horse'] })
  expect(added).toMatchObject({
    code: 0,
    out: 'From its next deployment, with-registry pulls images of ghcr.io as ada.\n',
    prompts: [{ is_secret: true }],
  })
  expect((await run('registries', 'with-registry')).out).toMatch(/^REGISTRY +USER NAME.*\nghcr\.io +ada +added /)
  expect(await run.json('registries', 'with-registry')).toMatchObject({ registries: [{ host: 'ghcr.io', username: 'ada' }] })
  const remove = () => run('registries', 'with-registry', 'remove', 'ghcr.io')
  expect((await remove()).code).toBe(0)
  expect(await remove()).toMatchObject({ code: 1, err: expect.stringContaining('registry_not_found') })
  expect((await run('registries', 'with-registry', 'add', 'ghcr.io')).code).toBe(2)
})

test('nodes: an instance on one machine has none', async () => {
  expect(await run('node', 'list')).toMatchObject({ code: 0, out: expect.stringContaining('apps on one machine') })
  expect(await run.json('node')).toEqual({ nodes: [] })
  for (const args of [['token'], ['drain', 'a'], ['remove', 'a'], ['balance']])
    expect(await run('node', ...args)).toMatchObject({ code: 1, err: expect.stringContaining('homeport help cluster') })
  expect(await run('node', 'leave')).toMatchObject({ code: 2, err: expect.stringContaining('Unknown subcommand “leave”') })
  expect(await run('node', 'drain')).toMatchObject({ code: 2, err: expect.stringContaining('NAME is missing') })
})
