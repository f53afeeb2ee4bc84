import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

/** server/SECURITY.md, T1 and T6: input of a client is data, never a command, an option or a path out of its folder. */
let platform: SharedPlatform
let repository: Repository
const marker = join(tmpdir(), `hp-pwn-${process.pid}`)

beforeAll(async () => {
  rmSync(marker, { force: true })
  platform = await sharedPlatform()
  repository = makeRepository(tinyServer('fine'))
  await platform.createProject({ slug: 'target', repo_url: repository.url })
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
})

/** Refused at once, or a failed deployment; in no case is anything executed. */
async function attempt(change: Record<string, unknown>): Promise<string> {
  const { status, body } = await platform.api<{ error?: string }>('PATCH', '/v1/projects/target', change)
  expect(existsSync(marker)).toBe(false)
  if (status === 400) {
    expect(body.error).toBe('invalid_input')
    return 'refused'
  }
  expect(status).toBe(200)
  const deployment = await platform.waitForEnd('target', (await platform.deploy('target')).id)
  expect(existsSync(marker), JSON.stringify(change)).toBe(false)
  await platform.api('PATCH', '/v1/projects/target', { repo_url: repository.url, repo_branch: 'main', root_directory: '.' })
  return deployment.status
}

const command = `touch ${marker}`

test.for([
  `--upload-pack=${command};git-upload-pack`,
  `ext::sh -c ${command.replaceAll(' ', '% ')}`,
  `ssh://-oProxyCommand=${command.replaceAll(' ', '%20')}/x`,
  `https://example.invalid/$(${command.replaceAll(' ', '%20')}).git`,
  `https://example.invalid/x.git;${command.replaceAll(' ', '%20')}`,
  `file:///nowhere/\`${command.replaceAll(' ', '%20')}\``,
  `fd::17/foo`,
  `javascript:alert(1)`,
])('repo_url %s', async (repo_url) => expect(['refused', 'failed']).toContain(await attempt({ repo_url })))

test.for([
  `--upload-pack=${command}`,
  `main;${command}`,
  `$(${command})`,
  `\`${command}\``,
  'main --',
  '-c',
  '../../etc/passwd',
  'a..b',
  'x.lock',
  'main\nmain',
  'ma\0in',
  '@{-1}',
])('repo_branch %s', async (repo_branch) => expect(['refused', 'failed']).toContain(await attempt({ repo_branch })))

test('a branch name with shell characters is just a branch that does not exist', async () => {
  const answer = await attempt({ repo_branch: `a;touch\${IFS}${marker.slice(1).replaceAll('/', '-')}` })
  expect(answer).toBe('failed')
})

test.for(['/etc', '../..', 'a/../../b', '..\\..', '.git', 'sub/.git/hooks', 'C:\\Windows', '/', 'x\0y', `$(${command})`, `; ${command}`])(
  'root_directory %s',
  async (root_directory) => expect(['refused', 'failed']).toContain(await attempt({ root_directory })),
)

test('a root_directory that is a symlink out of the repository fails, and reveals nothing of its target', async () => {
  symlinkSync('/etc', join(repository.folder, 'outside'))
  repository.commit({}, 'A link')
  await platform.api('PATCH', '/v1/projects/target', { root_directory: 'outside' })
  const deployment = await platform.waitForEnd('target', (await platform.deploy('target')).id)
  await platform.api('PATCH', '/v1/projects/target', { root_directory: '.' })
  expect(deployment.status).toBe('failed')
  expect(deployment.error?.message).toMatch(/link|outside|leav/i)
  expect(deployment.build_log).not.toContain(readFileSync('/etc/passwd', 'utf8').split('\n')[0])
})

test('hooks and submodules of a repository execute nothing', async () => {
  mkdirSync(join(repository.folder, '.git', 'hooks'), { recursive: true })
  writeFileSync(join(repository.folder, '.git', 'hooks', 'post-checkout'), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  repository.commit(
    { '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c ${command.replaceAll(' ', '% ')}\n\tupdate = !${command}\n` },
    'A submodule',
  )
  const deployment = await platform.waitForEnd('target', (await platform.deploy('target')).id)
  expect(existsSync(marker)).toBe(false)
  expect(deployment.status).toBe('ready')
})

test('a team member cannot make the platform request a private address, even for a project of the owner', async () => {
  let calls = 0
  const canary = createServer((_request, response) => {
    calls++
    response.end('the body of an inner service')
  })
  canary.listen(0, '127.0.0.1')
  await once(canary, 'listening')
  const { port } = canary.address() as AddressInfo
  const member = await platform.addPerson('member@example.com', { plan: 'pro' })
  await platform.api('POST', '/instance/team', { owner_email: 'owner@homeport.localhost', member_email: 'member@example.com' })

  for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254']) {
    const change = { repo_url: `http://${host}:${port}/x.git` }
    const { status } = await platform.api('PATCH', '/v1/projects/target', change, member.token)
    if (status === 400) continue
    expect(status).toBe(200)
    const { body: queued } = await platform.api<{ deployment_id: string }>('POST', '/v1/projects/target/deploy', undefined, member.token)
    const ended = await platform.waitForEnd('target', queued.deployment_id)
    expect(ended.error?.code, host).toBe('clone_failed')
    expect(JSON.stringify(ended)).not.toContain('inner service')
  }
  expect(calls).toBe(0)
  // The owner may, because it is their own machine.
  await platform.api('PATCH', '/v1/projects/target', { repo_url: `http://127.0.0.1:${port}/y.git` })
  await platform.waitForEnd('target', (await platform.deploy('target')).id)
  expect(calls).toBeGreaterThan(0)
  canary.close()
})
