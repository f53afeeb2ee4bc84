import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, symlinkSync, writeFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { listenAsGitServer, startGitServer, type GitServer } from '../support/git-server.ts'
import { findProcessesByCommand } from '../support/processes.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { createTestSource, runGit, gitRequest, type TestSource } from '../support/source.ts'
import { createTestClock } from '../support/test-clock.ts'

/** A repository of one commit; a test that changes it creates its own. */
let repository: Repository
let source: TestSource
const hosts: GitServer[] = []

beforeAll(() => {
  repository = makeRepository({ 'index.html': 'first' })
})
afterAll(() => repository.remove())
beforeEach(() => {
  source = createTestSource()
})
afterEach(async () => {
  source.remove()
  for (const host of hosts.splice(0)) await host.close()
})

const ownRepository = (): Repository => {
  const own = makeRepository({ 'index.html': 'first' })
  onTestFinished(() => own.remove())
  return own
}

const serve = async (options: Partial<Parameters<typeof startGitServer>[0]> = {}, { folder } = repository): Promise<string> => {
  const host = await startGitServer({ root: dirname(folder), ...options })
  hosts.push(host)
  return host.url(`${basename(folder)}/.git`)
}

describe.skipIf(!requires('git').ok)('a repository', () => {
  test('the head of a branch is fetched, with its commit, without .git; so is an exact commit after the branch moved on', async () => {
    const own = ownRepository()
    const first = runGit(own.folder, 'rev-parse', 'HEAD')
    const sha = own.commit({ 'index.html': 'second', 'a/b.txt': 'deep' }, 'The second one')
    const found = await source.fetch(gitRequest(own.url))
    expect(found).toMatchObject({ branch: 'main', commit_sha: sha, commit_message: 'The second one', commit_author: 'Test Author', is_dirty: false })
    expect(readdirSync(found.folder).sort()).toEqual(['a', 'index.html'])
    expect(readFileSync(join(found.folder, 'index.html'), 'utf8')).toBe('second')
    expect(readdirSync(source.into)).toEqual(['source'])

    const before = createTestSource()
    const exact = await before.fetch(gitRequest(own.url, { commit_sha: first }))
    expect(exact.commit_sha).toBe(first)
    expect(readFileSync(join(exact.folder, 'index.html'), 'utf8')).toBe('first')
    before.remove()
  })

  fullTest('an exact commit is found by deepening when the server does not hand out single commits', async () => {
    const own = ownRepository()
    runGit(own.folder, 'config', '--unset', 'uploadpack.allowAnySHA1InWant')
    runGit(own.folder, 'config', 'protocol.version', '0')
    const first = runGit(own.folder, 'rev-parse', 'HEAD')
    // More than the first deepening step of 50.
    const commits = Array.from(
      { length: 60 },
      (_, n) => `commit refs/heads/main\ncommitter A <a@b.c> ${n} +0000\ndata 1\nx\n${n === 0 ? `from ${first}\n` : ''}`,
    )
    execFileSync('git', ['fast-import', '--quiet'], { cwd: own.folder, input: commits.join('') })
    // A server that supports only the old protocol.
    const intercept = (request: IncomingMessage) => {
      delete request.headers['git-protocol']
      return false
    }
    const found = await source.fetch(gitRequest(await serve({ intercept }, own), { commit_sha: first }))
    expect(found.commit_sha).toBe(first)
  })

  test('a commit removed by a force push is reported as gone', async () => {
    await expect(source.fetch(gitRequest(repository.url, { commit_sha: 'a'.repeat(40) }))).rejects.toMatchObject({
      name: 'SourceError',
      code: 'clone_failed',
      message: 'Commit aaaaaaaaaaaa no longer exists in the repository.',
      hint: expect.stringContaining('force-pushed') as string,
    })
    expect(readdirSync(source.into)).toEqual([])
  })

  test('a missing branch is reported with the existing ones', async () => {
    const own = ownRepository()
    const head = readFileSync(join(own.folder, '.git/refs/heads/main'))
    for (let i = 10; i < 22; i++) writeFileSync(join(own.folder, `.git/refs/heads/topic-${i}`), head)
    const failure = source.fetch(gitRequest(own.url, { branch: 'nope' }))
    await expect(failure).rejects.toMatchObject({
      message: 'The repository has no branch “nope”.',
      hint: expect.stringMatching(/Available branches: main, topic-10, .* and 3 more\./) as string,
    })
  })

  test('an empty repository is reported as empty', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'homeport-empty-'))
    runGit(empty, 'init', '--quiet')
    await expect(source.fetch(gitRequest(`file://${empty}`))).rejects.toMatchObject({ message: expect.stringContaining('empty') as string })
    rmSync(empty, { recursive: true })
  })

  test('a missing folder and one that is not a repository have different errors', async () => {
    await expect(source.fetch(gitRequest('file:///no/such/folder'))).rejects.toMatchObject({
      message: 'The folder of the repository does not exist on this machine.',
    })
    await expect(source.fetch(gitRequest(`file://${source.into}`))).rejects.toMatchObject({
      message: expect.stringContaining('repository does not exist') as string,
    })
  })
})

describe.skipIf(!requires('git').ok)('over http', () => {
  test('a repository is fetched, and progress is reported', async () => {
    const found = await source.fetch(gitRequest(await serve()))
    expect(readdirSync(found.folder)).toEqual(['index.html'])
    expect(source.log.lines.join('\n')).toMatch(/Counting objects: 100%/)
  })

  test('a repository of static files on a web server works', async () => {
    runGit(repository.folder, 'update-server-info')
    const host = await listenAsGitServer([], (request, response) => {
      const path = join(repository.folder, '.git', new URL(request.url ?? '/', 'http://x').pathname)
      if (existsSync(path)) response.end(readFileSync(path))
      else response.writeHead(404).end()
    })
    hosts.push(host)
    const found = await source.fetch(gitRequest(`http://127.0.0.1:${host.port}`))
    expect(readdirSync(found.folder)).toEqual(['index.html'])
  })

  test('credentials, separate or in the URL, open a private repository, and are in no log, URL or argument', async () => {
    const secret = 'HPSENT+pass/word%40'
    let arguments_: string[] = []
    const url = await serve({
      credentials: { username: 'me', password: secret },
      intercept() {
        arguments_ = [...arguments_, ...findProcessesByCommand('git')]
        return false
      },
    })
    const within = url.replace('//', `//me:${encodeURIComponent(secret)}@`)
    for (const request of [gitRequest(url, { credentials: { username: 'me', password: secret } }), gitRequest(within)]) {
      rmSync(source.into, { recursive: true })
      expect(readdirSync((await source.fetch(request)).folder)).toEqual(['index.html'])
    }
    expect(arguments_.join('\n')).toContain('fetch')
    for (const text of [source.log.lines.join('\n'), arguments_.join('\n')]) {
      expect(text).not.toContain('HPSENT')
      expect(text).not.toContain(encodeURIComponent(secret))
    }
  })

  test('missing and wrong credentials are reported, without the server’s response', async () => {
    const url = await serve({ credentials: { username: 'me', password: 'right' } })
    for (const credentials of [null, { username: 'me', password: 'wrong-HPSENT' }]) {
      const failure: unknown = await source.fetch(gitRequest(url, { credentials })).catch((error: unknown) => error)
      expect(failure).toMatchObject({
        code: 'clone_failed',
        message: expect.stringContaining('credentials') as string,
        hint: expect.stringContaining('token') as string,
      })
      expect(JSON.stringify([failure, String(failure), source.log.lines])).not.toMatch(/body of the page|wrong-HPSENT/)
    }
  })

  test.for([
    ['not found', (url: string) => url.replace('/.git', '-nothing/.git'), /repository does not exist/],
    ['a refused connection', () => 'http://127.0.0.1:1/x.git', /Could not connect/],
    ['an unknown host', () => 'http://no-such-host.invalid/x.git', /could not be resolved/],
  ] as const)('%s is reported', async ([, change, message]) => {
    await expect(source.fetch(gitRequest(change(await serve())))).rejects.toMatchObject({ message: expect.stringMatching(message) as string })
    expect(readdirSync(source.into)).toEqual([])
  })

  /** A server that accepts requests and never responds. */
  const serveSilence = async (): Promise<{ url: string; reached: Promise<void> }> => {
    const reached = Promise.withResolvers<void>()
    const intercept = () => {
      reached.resolve()
      return true
    }
    return { url: await serve({ intercept }), reached: reached.promise }
  }

  test('a silent server times out after a minute', async () => {
    const clock = createTestClock()
    const patient = createTestSource({ clock })
    const { url, reached } = await serveSilence()
    const fetching = patient.fetch(gitRequest(url)).catch((error: unknown) => error)
    await reached
    expect(findProcessesByCommand(url).length).toBeGreaterThan(0)
    await clock.advance(60_000)
    expect(await fetching).toMatchObject({ code: 'timeout' })
    expect(findProcessesByCommand(url)).toEqual([])
    patient.remove()
  })

  test('an abort ends git and its helpers, and leaves nothing', async () => {
    const abort = new AbortController()
    const { url, reached } = await serveSilence()
    const fetching = source.fetch(gitRequest(url), { signal: abort.signal }).catch((error: unknown) => error)
    await reached
    expect(findProcessesByCommand(url).length).toBeGreaterThan(0)
    abort.abort(new Error('canceled'))
    expect(await fetching).toMatchObject({ message: 'canceled' })
    expect(findProcessesByCommand(url)).toEqual([])
    expect(readdirSync(source.into)).toEqual([])
  })
})

describe.skipIf(!requires('git').ok)('nothing of a repository is executed or leaves its folder', () => {
  test('symlinks that lead out are omitted, others stay', async () => {
    const own = ownRepository()
    symlinkSync('/etc/passwd', join(own.folder, 'absolute'))
    symlinkSync('../../../../../../../../etc', join(own.folder, 'climbing'))
    symlinkSync('index.html', join(own.folder, 'fine'))
    symlinkSync('absolute', join(own.folder, 'chained'))
    own.commit({})
    const found = await source.fetch(gitRequest(own.url))
    expect(
      readdirSync(found.folder)
        .filter((name) => name !== 'chained')
        .sort(),
    ).toEqual(['fine', 'index.html'])
    expect(existsSync(join(found.folder, 'chained'))).toBe(false)
    expect(source.log.lines).toContain('Left out the link absolute: it points outside of the repository.')
  })

  test('no hook and no filter runs', async () => {
    const own = ownRepository()
    const marker = join(source.into, '..', `homeport-marker-${process.pid}`)
    const child = makeRepository({ 'child.txt': 'child' })
    writeFileSync(join(child.folder, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${marker}\n`)
    runGit(own.folder, 'submodule', '--quiet', 'add', child.url, 'child')
    for (const hook of ['post-checkout', 'pre-commit', 'post-merge', 'reference-transaction']) {
      writeFileSync(join(own.folder, '.git/hooks', hook), `#!/bin/sh\n${hook === 'pre-commit' ? 'exit 0' : `touch ${marker}`}\n`)
      chmodSync(join(own.folder, '.git/hooks', hook), 0o755)
    }
    own.commit({ '.gitattributes': '* filter=evil\n', 'x.txt': 'x' })
    rmSync(marker, { force: true })
    const found = await source.fetch(gitRequest(own.url))
    expect(existsSync(marker)).toBe(false)
    // Its address is a local folder.
    expect(existsSync(join(found.folder, 'child/child.txt'))).toBe(false)
    child.remove()
  })

  test.for([
    '--upload-pack=touch /tmp/homeport-pwn;git-upload-pack',
    'ext::sh -c touch% /tmp/homeport-pwn',
    'file:///tmp/x --upload-pack=touch',
    '-u',
    'fd::17/foo',
    'https://exa mple.com/x',
    'javascript:alert(1)',
    'file://other-host/etc',
    'ssh://-oProxyCommand=touch%20%2Ftmp%2Fhomeport-pwn/x',
    'ssh://-oProxyCommand=touch@127.0.0.1/x',
    'http://127.0.0.1%0a.example.com/x',
    '/etc',
    'git@127.0.0.1:x.git',
  ])('“%s” is not a valid address', async (url) => {
    await expect(source.fetch(gitRequest(url))).rejects.toMatchObject({ name: 'SourceError' })
    expect(existsSync('/tmp/homeport-pwn')).toBe(false)
  })

  test.for([
    '--upload-pack=touch',
    '-b',
    'main; touch /tmp/homeport-pwn',
    '$(touch /tmp/homeport-pwn)',
    'a..b',
    'main:refs/heads/x',
    'x^{tree}',
    '+main',
  ])('the branch “%s” is refused or does not exist', async (branch) => {
    await expect(source.fetch(gitRequest(repository.url, { branch }))).rejects.toMatchObject({ name: 'SourceError' })
    expect(existsSync('/tmp/homeport-pwn')).toBe(false)
  })

  test('a branch of shell characters is only a name', async () => {
    const branch = 'feature/$(id)`id`;&|x'
    runGit(repository.folder, 'branch', branch)
    expect((await source.fetch(gitRequest(repository.url, { branch }))).branch).toBe(branch)
  })

  test('the host’s git configuration and variables have no effect', async () => {
    const home = mkdtempSync(join(tmpdir(), 'homeport-home-'))
    const marker = join(home, 'marker')
    writeFileSync(join(home, '.gitconfig'), `[core]\n\tfsmonitor = touch ${marker}\n[url "file:///nowhere/"]\n\tinsteadOf = file:///\n`)
    const configured = createTestSource({
      environment: { HOME: home, GIT_DIR: '/nowhere', GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.bare', GIT_CONFIG_VALUE_0: 'true' },
    })
    expect(readdirSync((await configured.fetch(gitRequest(repository.url))).folder)).toEqual(['index.html'])
    expect(existsSync(marker)).toBe(false)
    configured.remove()
    rmSync(home, { recursive: true })
  })
})
