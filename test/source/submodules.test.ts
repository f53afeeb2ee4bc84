import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { startGitServer } from '../support/git-server.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { createTestSource, runGit, gitRequest, type TestSource } from '../support/source.ts'

let source: TestSource
beforeEach(() => {
  source = createTestSource()
})
afterEach(() => source.remove())

const ownRepository = (): Repository => {
  const own = makeRepository({ 'index.html': 'first' })
  onTestFinished(() => own.remove())
  return own
}

const serve = async ({ folder }: Repository, credentials?: { username: string; password: string }) => {
  const host = await startGitServer({ root: dirname(folder), ...(credentials && { credentials }) })
  onTestFinished(() => host.close())
  return { requests: host.requested_paths, url: host.url(`${basename(folder)}/.git`) }
}

describe.skipIf(!requires('git').ok)('references of a repository', () => {
  /** A repository with gitlinks: by path, the repository and its address in .gitmodules. */
  const withSubmodules = (modules: Record<string, { of: Repository; url: string }>): Repository => {
    const own = ownRepository()
    const text = Object.entries(modules).map(
      ([path, { url }]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n\tupdate = !touch /tmp/homeport-pwn\n`,
    )
    writeFileSync(join(own.folder, '.gitmodules'), text.join(''))
    for (const [path, { of }] of Object.entries(modules))
      runGit(own.folder, 'update-index', '--add', '--cacheinfo', `160000,${runGit(of.folder, 'rev-parse', 'HEAD')},${path}`)
    runGit(own.folder, 'add', '.gitmodules')
    runGit(own.folder, 'commit', '--quiet', '--message', 'Submodules')
    return own
  }
  const relative = (to: Repository) => `../../${basename(to.folder)}/.git`

  test('submodules are fetched recursively, with the credentials of their host; symlinks out of them are omitted', async () => {
    const inner = ownRepository()
    const library = withSubmodules({ inner: { of: inner, url: relative(inner) } })
    symlinkSync('../../../../etc/passwd', join(library.folder, 'out'))
    runGit(library.folder, 'add', 'out')
    runGit(library.folder, 'commit', '--quiet', '--message', 'A link')
    const credentials = { username: 'me', password: 'HPSENT-word' }
    const modules = {
      'packages/library': { of: library, url: relative(library) },
      again: { of: inner, url: `git@127.0.0.1:${basename(inner.folder)}/.git` },
    }
    const { url } = await serve(withSubmodules(modules), credentials)
    const { folder } = await source.fetch(gitRequest(url, { credentials }))
    for (const path of ['packages/library', 'packages/library/inner', 'again']) {
      expect(readFileSync(join(folder, path, 'index.html'), 'utf8')).toBe('first')
      expect(existsSync(join(folder, path, '.git'))).toBe(false)
    }
    expect(readdirSync(join(folder, 'packages/library'))).not.toContain('out')
    expect(source.log.lines.join('\n')).not.toMatch(/HPSENT|Warning/)
  })

  test('an address in .gitmodules cannot read local folders or private hosts, or act as an option', async () => {
    const repository = ownRepository()
    const stranger = await serve(repository)
    const urls = [
      repository.url,
      `${repository.folder}/.git`,
      '--upload-pack=touch /tmp/homeport-pwn;git-upload-pack',
      'ext::sh -c touch% /tmp/homeport-pwn',
      'ssh://-oProxyCommand=touch%20%2Ftmp%2Fhomeport-pwn/x',
      'git@other-host.invalid:x/y.git',
      stranger.url,
      '../../../../../../..',
    ]
    const { url } = await serve(withSubmodules(Object.fromEntries(urls.map((one, index) => [`m${index}`, { of: repository, url: one }]))))
    const { folder } = await source.fetch(gitRequest(url))
    for (const [index] of urls.entries()) {
      expect(readdirSync(join(folder, `m${index}`))).toEqual([])
      expect(source.log.lines.join('\n')).toContain(`Warning: the submodule m${index} was not fetched`)
    }
    expect(stranger.requests).toEqual([])
    expect(existsSync('/tmp/homeport-pwn')).toBe(false)
  })

  fullTest('unresolved Git LFS pointers are reported', async () => {
    const own = ownRepository()
    own.commit({ 'video.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n` })
    const path = mkdtempSync(join(tmpdir(), 'homeport-path-'))
    const without = createTestSource({ environment: { PATH: `${path}:/usr/bin:/bin` } })
    await without.fetch(gitRequest(own.url))
    expect(without.log.lines.join('\n')).toMatch(/Warning: one file is a Git LFS pointer instead of file content: video\.bin\. Install git-lfs/)
    without.remove()
    // A fake of git-lfs that records its arguments and address.
    writeFileSync(join(path, 'git-lfs'), `#!/bin/sh\n[ "$1" = pull ] && git config lfs.url > "$HOME/../url" && echo content > video.bin\nexit 0\n`, {
      mode: 0o755,
    })
    own.commit({ '.lfsconfig': '[lfs]\n\turl = http://127.0.0.1:1/\n' })
    const having = createTestSource({ environment: { PATH: `${path}:/usr/bin:/bin` } })
    const { folder } = await having.fetch(gitRequest(own.url))
    expect(readFileSync(join(folder, 'video.bin'), 'utf8')).toBe('content\n')
    expect(readFileSync(join(having.into, 'url'), 'utf8').trim()).toBe(own.url)
    expect(having.log.lines.join('\n')).not.toContain('Warning')
    having.remove()
    rmSync(path, { recursive: true })
  })
})
