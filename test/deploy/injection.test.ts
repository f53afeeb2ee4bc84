import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'

/** threats.md, T1 and T6: what a client writes is data, never a command, an option or a way out. */
let home: TestPlatform
let repository: Repository
const marker = join(tmpdir(), `hp-pwn-${process.pid}`)

beforeAll(async () => {
  rmSync(marker, { force: true })
  home = await startTestPlatform({ runtime: 'process' })
  repository = makeRepository(tinyServer('fine'))
  await home.createProject({ slug: 'target', repo_url: repository.url })
})
afterAll(async () => {
  await home.remove()
  repository.remove()
})

/** Refused at once, or a deployment that fails; in no case is anything run. */
async function attempt(change: Record<string, unknown>): Promise<string> {
  const { status, body } = await home.api<{ error?: string }>('PATCH', '/v1/projects/target', change)
  expect(existsSync(marker)).toBe(false)
  if (status === 400) {
    expect(body.error).toBe('invalid_input')
    return 'refused'
  }
  expect(status).toBe(200)
  const deployment = await home.ended('target', (await home.deploy('target')).id, 60_000)
  expect(existsSync(marker), JSON.stringify(change)).toBe(false)
  await home.api('PATCH', '/v1/projects/target', { repo_url: repository.url, repo_branch: 'main', root_directory: '.' })
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

test('a branch that git allows and a shell would run is only a branch that is not there', async () => {
  const answer = await attempt({ repo_branch: `a;touch\${IFS}${marker.slice(1).replaceAll('/', '-')}` })
  expect(answer).toBe('failed')
})

test.for(['/etc', '../..', 'a/../../b', '..\\..', '.git', 'sub/.git/hooks', 'C:\\Windows', '/', 'x\0y', `$(${command})`, `; ${command}`])(
  'root_directory %s',
  async (root_directory) => expect(['refused', 'failed']).toContain(await attempt({ root_directory })),
)

test('a root_directory that is a link out of the repository fails, and shows nothing of what it leads to', async () => {
  symlinkSync('/etc', join(repository.folder, 'outside'))
  repository.commit({}, 'A link')
  await home.api('PATCH', '/v1/projects/target', { root_directory: 'outside' })
  const deployment = await home.ended('target', (await home.deploy('target')).id)
  await home.api('PATCH', '/v1/projects/target', { root_directory: '.' })
  expect(deployment.status).toBe('failed')
  expect(deployment.error?.message).toMatch(/link|outside|leav/i)
  expect(deployment.build_log).not.toContain(readFileSync('/etc/passwd', 'utf8').split('\n')[0])
})

test('hooks and submodules of a repository run nothing', async () => {
  mkdirSync(join(repository.folder, '.git', 'hooks'), { recursive: true })
  writeFileSync(join(repository.folder, '.git', 'hooks', 'post-checkout'), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  repository.commit(
    { '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c ${command.replaceAll(' ', '% ')}\n\tupdate = !${command}\n` },
    'A submodule',
  )
  const deployment = await home.ended('target', (await home.deploy('target')).id)
  expect(existsSync(marker)).toBe(false)
  expect(deployment.status).toBe('ready')
})
