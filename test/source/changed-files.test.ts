import { basename, dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSourceFetcher } from '../../server/source/index.ts'
import { fullTest } from '../support/full-test.ts'
import { createGit } from '../support/git-branches.ts'
import { startGitServer } from '../support/git-server.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'

const sourceFetcher = createSourceFetcher({ environment: process.env })

let repository: Repository
let first: string
beforeEach(() => {
  repository = makeRepository({ 'apps/web/page.js': 'one', 'README.md': 'one' })
  first = createGit(repository.folder)('rev-parse', 'HEAD')
})
afterEach(() => repository.remove())

const compare = async (from: string, to: string, change: object = {}) =>
  sourceFetcher.listChangedFiles(
    { url: repository.url, branch: 'main', credentials: null, allow_local: true, from, to, ...change },
    new AbortController().signal,
  )

describe.skipIf(!requires('git').ok)('the files that differ between two commits', () => {
  test('are those of every commit in between, with deleted files and both names of renamed ones', async () => {
    repository.commit({ 'README.md': 'two' })
    const second = repository.commit({ 'apps/web/page.js': null, 'apps/web/grün page.js': 'one', 'new.txt': '' }, 'Rename the page\n\nMore.')
    const changed = await compare(first, second)
    expect(changed?.files.toSorted()).toEqual(['README.md', 'apps/web/grün page.js', 'apps/web/page.js', 'new.txt'])
    expect(changed?.commit_message).toBe('Rename the page')
    expect(await compare(first, first)).toMatchObject({ files: [] })
  })

  test('are those of both sides after a force push, and unknown once the commit is gone', async () => {
    const git = createGit(repository.folder)
    const lost = repository.commit({ 'apps/web/page.js': 'lost' })
    git('reset', '--quiet', '--hard', first)
    const next = repository.commit({ 'README.md': 'next' })
    expect((await compare(lost, next))?.files).toEqual(['README.md', 'apps/web/page.js'])
    git('reflog', 'expire', '--expire=now', '--all')
    git('gc', '--quiet', '--prune=now')
    expect(await compare(lost, next)).toBeUndefined()
    expect(await compare('no commit', next)).toBeUndefined()
  })

  fullTest('are found over http, without downloading file contents', async () => {
    createGit(repository.folder)('config', 'uploadpack.allowFilter', 'true')
    const next = repository.commit({ 'large.txt': 'x'.repeat(1_000_000) })
    const host = await startGitServer({ root: dirname(repository.folder) })
    const url = host.url(`${basename(repository.folder)}/.git`)
    expect((await compare(first, next, { url }))?.files).toEqual(['large.txt'])
    await expect(compare(first, next, { url, allow_local: false })).rejects.toMatchObject({ name: 'SourceError' })
    await host.close()
  })

  test('are found on a server that serves only heads', async () => {
    const git = createGit(repository.folder)
    git('config', 'uploadpack.allowAnySHA1InWant', 'false')
    git('config', 'protocol.version', '0')
    const next = repository.commit({ 'README.md': 'next' })
    expect((await compare(first, next))?.files).toEqual(['README.md'])
  })
})
