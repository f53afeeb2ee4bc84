import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { makeRepository } from '../support/repository.ts'
import { askEdge, homeport, newFolder, type RunningInstance, serve } from '../support/instance-process.ts'

const folder = newFolder('commands')
const site = join(folder.path, 'My Site')
const broken = join(folder.path, 'broken')
let instance: RunningInstance

beforeAll(async () => {
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), '<h1>first</h1>')
  mkdirSync(broken)
  writeFileSync(
    join(broken, 'package.json'),
    JSON.stringify({ name: 'broken', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
  )
  writeFileSync(join(broken, 'build.js'), "console.log('\\u001b[31mlooking\\u001b[0m'); throw new Error('the sky fell')")
  instance = await serve({ data: join(folder.path, 'data') })
})
afterAll(async () => {
  await instance?.end('SIGTERM')
  folder.remove()
})

const run = (...args: string[]) => runCommand(instance, folder.path, args)

const json = (text: string): unknown => JSON.parse(text)

describe('deploy', () => {
  test('a folder goes live, the project is made, the address printed', async () => {
    const { code, out, err } = await run('deploy', site)
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(out).toMatch(/Live at http:\/\/my-site\.localhost:\d+/)
    expect(await askEdge(instance.instance.edge_url, 'my-site')).toEqual({ status: 200, text: '<h1>first</h1>' })
  })

  test('from a process of its own, found by the data folder', async () => {
    const { code, out, err } = await instance.run('deploy', site)
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(out).toMatch(/Live at/)
  })

  test('each line of the log is printed once', async () => {
    const { out } = await run('deploy', site)
    const lines = out.split('\n').filter((line) => line.startsWith('  '))
    expect(new Set(lines).size).toBe(lines.length)
  })

  test('--project names it; --json prints project and deployment, and nothing else', async () => {
    writeFileSync(join(site, 'index.html'), '<h1>second</h1>')
    const { code, out } = await run('deploy', site, '--project', 'other', '--json')
    expect(code).toBe(0)
    expect(json(out)).toMatchObject({
      project: { slug: 'other', status: 'live' },
      deployment: { status: 'ready', is_current: true, source: 'upload' },
    })
    expect((await askEdge(instance.instance.edge_url, 'other')).text).toBe('<h1>second</h1>')
  })

  test('--no-follow comes back at once', async () => {
    const { code, out } = await run('deploy', site, '--project', 'other', '--no-follow', '--json')
    expect(code).toBe(0)
    expect(json(out)).toMatchObject({ deployment: { id: expect.stringMatching(/^dpl_/) } })
  })

  test('a build that fails ends with 1, its error and a hint', async () => {
    const { code, out, err } = await run('deploy', broken)
    expect(code).toBe(1)
    expect(out).toContain('the sky fell')
    expect(out).not.toContain('\u001b')
    expect(err).toMatch(/build_failed/)
    expect(err.trim().split('\n').length).toBeGreaterThan(1)
  })

  test('a folder that is not there is a matter of usage', async () => {
    const { code, err } = await run('deploy', join(folder.path, 'nowhere'))
    expect(code).toBe(2)
    expect(err).toContain('nowhere')
  })
})

describe('projects', () => {
  test('are made, shown, listed, stopped and deleted', async () => {
    expect(json((await run('projects', 'create', 'Große Idee', '--json')).out)).toMatchObject({
      project: { slug: 'grosse-idee', name: 'Große Idee', status: 'created' },
    })
    expect((await run('projects', 'show', 'grosse-idee')).out).toContain('Große Idee')
    expect((await run('projects')).out).toMatch(/grosse-idee\s+created/)
    expect(json((await run('projects', 'stop', 'grosse-idee', '--json')).out)).toEqual({ ok: true, status: 'inactive' })
    expect((await run('projects', 'delete', 'grosse-idee')).code).toBe(0)
    expect((await run('projects', 'show', 'grosse-idee')).code).toBe(1)
  })

  test('open prints the address where no browser is', async () => {
    const { out } = await run('projects', 'open', 'my-site')
    expect(out.trim()).toBe(`http://my-site.localhost:${new URL(instance.instance.edge_url).port}`)
  })
})

describe('deployments', () => {
  test('are listed, newest first, and brought back by id alone', async () => {
    const { deployments } = json((await run('deployments', 'my-site', '--json')).out) as {
      deployments: { id: string; created_at: string }[]
    }
    expect(deployments.length).toBeGreaterThan(1)
    expect(deployments[0]!.created_at >= deployments[1]!.created_at).toBe(true)
    const first = deployments.at(-1)!
    const { code, out } = await run('deployments', 'rollback', first.id, '--json')
    expect(code).toBe(0)
    expect(json(out)).toMatchObject({ deployment: { trigger: 'rollback', parent_id: first.id, status: 'ready' } })
    expect((await askEdge(instance.instance.edge_url, 'my-site')).text).toBe('<h1>first</h1>')
  })

  test('the source of one, as an archive', async () => {
    const { deployments } = json((await run('deployments', 'my-site', '--json')).out) as { deployments: { id: string }[] }
    const file = join(folder.path, 'taken.tar.gz')
    const { code, out } = await run('deployments', 'source', deployments.at(-1)!.id, '--out', file)
    expect([code, out.trim()]).toEqual([0, `Wrote ${file}.`])
    expect(execFileSync('tar', ['--list', '--gzip', '--file', file], { encoding: 'utf8' })).toContain('source/index.html')
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  test('cancel of one that has ended is refused with its code and request id', async () => {
    const { deployments } = json((await run('deployments', 'my-site', '--json')).out) as { deployments: { id: string }[] }
    const { code, err } = await run('deployments', 'cancel', 'my-site', deployments[0]!.id)
    expect(code).toBe(1)
    expect(err).toContain('deployment_terminal')
    expect(err).toMatch(/request id: req_/)
  })

  test('the log of a build', async () => {
    const { deployments } = json((await run('deployments', 'broken', '--json')).out) as { deployments: { id: string }[] }
    const { code, out } = await run('logs', 'broken', '--build', deployments[0]!.id)
    expect(code).toBe(0)
    expect(out).toContain('the sky fell')
  })
})

describe('logs', () => {
  test('what an app printed, and back to the prompt', async () => {
    const talking = join(folder.path, 'talking')
    mkdirSync(talking)
    writeFileSync(join(talking, 'package.json'), JSON.stringify({ name: 'talking', private: true, scripts: { start: 'node server.js' } }))
    writeFileSync(
      join(talking, 'server.js'),
      "console.log('good morning'); console.error('mind the step'); require('node:http').createServer((req, res) => res.end('ok')).listen(process.env.PORT)",
    )
    expect((await run('deploy', talking)).code).toBe(0)
    const { code, out } = await run('logs', 'talking')
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual(expect.arrayContaining(['good morning', 'mind the step']))
    const events = (await run('logs', 'talking', '--json')).out
      .trim()
      .split('\n')
      .map((line) => json(line))
    expect(events).toContainEqual(expect.objectContaining({ event: 'log', stream: 'stderr', line: 'mind the step' }))
    expect((await run('logs', 'talking', '--lines', '5')).err).toContain('invalid_input')
  })
})

describe('people and settings', () => {
  test('a person is added with a token that works', async () => {
    const added = json((await run('user', 'add', 'Ann@example.com', '--plan', 'basic', '--card', '--json')).out) as { token: string }
    expect(added).toMatchObject({
      user: { email: 'ann@example.com', email_verified: true },
      account: { plan: 'basic', has_payment_method: true },
      token: expect.stringMatching(/^svc_/),
    })
    const mine = await homeport(['projects', '--json', '--url', instance.instance.api_url], { env: { HOMEPORT_TOKEN: added.token } })
    expect(json(mine.out)).toEqual({ projects: [] })
    expect((await run('user', 'add', 'ann@example.com')).err).toContain('email_taken')
  })

  test('a member sees what the owner has, until that is taken back', async () => {
    const { token } = json((await run('user', 'add', 'bob@example.com', '--unverified', '--json')).out) as { token: string }
    const { users } = json((await run('user', 'list', '--json')).out) as { users: { email: string; is_instance_owner: boolean }[] }
    const owner = users.find((one) => one.is_instance_owner)!.email
    const seen = async () =>
      (json((await homeport(['projects', '--json', '--url', instance.instance.api_url, '--token', token])).out) as { projects: unknown[] }).projects
        .length
    expect(await seen()).toBe(0)
    expect((await run('team', 'add', owner, 'bob@example.com')).code).toBe(0)
    expect(await seen()).toBeGreaterThan(0)
    expect((await run('team', 'remove', owner, 'bob@example.com')).code).toBe(0)
    expect(await seen()).toBe(0)
    expect((await run('user', 'remove', 'bob@example.com')).code).toBe(0)
  })

  test('a person comes in by a link, and into a team by another', async () => {
    const made = json((await run('user', 'invite', 'eve@example.com', '--json')).out) as { url: string; was_sent: boolean }
    expect(made).toMatchObject({ user: { email: 'eve@example.com', email_verified: false }, was_sent: false })
    const { out } = await run('team', 'invite', 'zoe@example.com')
    const link = /http\S+/.exec(out)?.[0] ?? ''
    expect([out.includes('Give this link to zoe@example.com'), link.includes('/join?code=')]).toEqual([true, true])
    expect((await run('team', 'list')).out).toMatch(/zoe@example\.com +invited +until \d{4}-/)

    const { token } = json((await run('user', 'add', 'zoe@example.com', '--json')).out) as { token: string }
    const asZoe = (...args: string[]) => homeport([...args, '--url', instance.instance.api_url], { env: { HOMEPORT_TOKEN: token } })
    const joined = await asZoe('team', 'join', link)
    expect([joined.code, joined.out]).toEqual([0, expect.stringContaining('You may now use the projects of')])
    expect((await asZoe('team', 'join', link)).err).toContain('invitation_not_found')
    expect((await run('team')).out).toMatch(/zoe@example\.com +member/)
    const { teams } = json((await asZoe('team', '--json')).out) as { teams: { owner_email: string }[] }
    expect((await asZoe('team', 'leave', teams[0]!.owner_email)).code).toBe(0)

    await run('team', 'invite', 'late@example.com')
    expect((await run('team', 'revoke', 'late@example.com')).code).toBe(0)
    expect((await run('team', 'revoke', 'late@example.com')).err).toContain('invitation_not_found')
    for (const email of ['eve@example.com', 'zoe@example.com']) expect((await run('user', 'remove', email)).code).toBe(0)
  })

  test('settings are read and changed', async () => {
    expect((await run('settings', 'set', 'keep_deployments', '5')).code).toBe(0)
    expect((await run('settings', 'get', 'keep_deployments')).out.trim()).toBe('5')
    expect(json((await run('settings', 'get', '--json')).out)).toMatchObject({ settings: { keep_deployments: 5, build_concurrency: null } })
    const { code, err } = await run('settings', 'set', 'keep_deployments', 'many')
    expect(code).toBe(1)
    expect(err).toContain('invalid_input')
    expect((await run('settings', 'set', 'colour', 'red')).code).toBe(2)
  })

  test('the doctor looks at everything', async () => {
    const { code, out } = await run('doctor', '--json')
    expect([0, 1]).toContain(code)
    expect((json(out) as { checks: { name: string }[] }).checks.map((check) => check.name)).toContain('database')
  })
})

describe('refusals', () => {
  test('with --json they are one document', async () => {
    const { code, out, err } = await instance.run('projects', 'show', 'nope', '--json')
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(json(err)).toMatchObject({ error: 'project_not_found', request_id: expect.stringMatching(/^req_/) })
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
    '%j is a matter of usage',
    async (args) => {
      expect((await run(...args)).code).toBe(2)
    },
  )

  test('nobody at the address', async () => {
    const { code, err } = await homeport(['projects', '--url', 'http://127.0.0.1:9', '--token', 'svc_x'])
    expect(code).toBe(3)
    expect(err).toContain('homeport serve')
  })

  test('no instance on the folder, or only a stale file of one', async () => {
    const empty = newFolder('empty')
    try {
      expect((await homeport(['projects', '--data', empty.path])).code).toBe(3)
      const { token: _token, ...rest } = instance.instance
      writeFileSync(join(empty.path, 'instance.json'), JSON.stringify({ ...rest, token: 'svc_x', pid: 2 ** 22 - 7 }))
      const { code, err } = await homeport(['projects', '--data', empty.path])
      expect(code).toBe(3)
      expect(err).toContain('stale')
    } finally {
      empty.remove()
    }
  })

  test('a redirect never carries the token elsewhere', async () => {
    const { createServer } = await import('node:http')
    const seen: string[] = []
    const server = createServer((req, res) => {
      seen.push(req.url ?? '')
      res.writeHead(302, { location: '/elsewhere' }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const { code } = await homeport(['projects', '--url', `http://127.0.0.1:${port}`, '--token', 'svc_secret'])
    server.close()
    expect(code).toBe(1)
    expect(seen).toEqual(['/v1/projects?limit=100'])
  })
})

test.each(['serve', 'deploy', 'projects', 'deployments', 'logs', 'open', 'doctor', 'user', 'team', 'settings'])(
  '%s --help tells how it is used',
  async (command) => {
    const { code, out } = await run(command, '--help')
    expect(code).toBe(0)
    expect(out).toContain(`homeport ${command}`)
    expect(out).toContain('--json')
  },
)

describe('deploy without git', () => {
  const plain = join(folder.path, 'plain')
  const files: Record<string, string> = {
    '.gitignore': '*.log\n/private/\n!keep.log\n',
    '.dockerignore': '# what the image need not have\ndocs\n*.tmp\n',
    'index.html': 'home',
    'keep.log': 'kept',
    'drop.log': 'dropped',
    'private/x.html': 'dropped',
    'sub/private/x.html': 'kept',
    'sub/.gitignore': 'own.html\n',
    'sub/own.html': 'dropped',
    'docs/x.html': 'dropped',
    'sub/docs/x.html': 'kept',
    'x.tmp': 'dropped',
    '.env': 'SECRET=1',
    'node_modules/a/x.html': 'dropped',
  }

  test('sends what .gitignore and .dockerignore leave', async () => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(plain, name, '..'), { recursive: true })
      writeFileSync(join(plain, name), content)
    }
    symlinkSync('/etc/passwd', join(plain, 'out.html'))
    symlinkSync(join(plain, 'index.html'), join(plain, 'in.html'))
    const { code, out, err } = await run('deploy', plain, '--json')
    expect(code).toBe(0)
    expect(json(out)).toMatchObject({
      project: { slug: 'plain', repo_url: null },
      deployment: { source: 'upload', trigger: 'upload', status: 'ready' },
    })
    expect(err).toContain('Left out .env')
    expect(err).toContain('Left out the link out.html')
    const answers = await Promise.all(
      Object.keys(files)
        .filter((name) => !name.startsWith('.') && !name.includes('/.'))
        .map(async (name) => [name, (await askEdge(instance.instance.edge_url, 'plain', `/${name}`)).status === 200 ? 'kept' : 'dropped'] as const),
    )
    const expected = answers.map(([name]) => [name, files[name] === 'dropped' ? 'dropped' : 'kept'])
    expect(answers).toEqual(expected)
    expect((await askEdge(instance.instance.edge_url, 'plain', '/in.html')).text).toBe('home')
  })

  test('a folder with git is read by the instance itself', async () => {
    const repository = makeRepository({ 'index.html': 'from git' })
    const { out } = await run('deploy', fileURLToPath(repository.url), '--project', 'with-git', '--json')
    expect(json(out)).toMatchObject({ deployment: { source: 'folder', commit_sha: expect.stringMatching(/^[0-9a-f]{40}$/) } })
    repository.remove()
  })
})
