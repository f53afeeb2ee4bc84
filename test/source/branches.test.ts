import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSourceFetcher, watchRepository, type RepositoryWatcher } from '../../server/source/index.ts'
import { fullTest } from '../support/full-test.ts'
import { listBranches, commitToBranch, createGit } from '../support/git-branches.ts'
import { startGitServer } from '../support/git-server.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'

const sourceFetcher = createSourceFetcher({ environment: process.env })
const listRemoteBranches = (url: string, change: object = {}) =>
  sourceFetcher.listBranches({ url, credentials: null, allow_local: true, ...change }, new AbortController().signal)

let repository: Repository
let folder: string
beforeEach(() => {
  repository = makeRepository({ 'index.html': 'first' })
  folder = mkdtempSync(join(tmpdir(), 'homeport-branches-'))
})
afterEach(() => {
  repository.remove()
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(!requires('git').ok)('the branches of a repository', () => {
  test('are listed with their commits, without tags and other refs', async () => {
    commitToBranch(repository.folder, 'feature/deep/one', { a: '1' })
    commitToBranch(repository.folder, 'grün', { a: '2' })
    createGit(repository.folder)('tag', 'v1')
    createGit(repository.folder)('update-ref', 'refs/notes/x', 'HEAD')
    expect(await listRemoteBranches(repository.url)).toEqual(listBranches(repository.folder))
  })

  test('over http, with credentials', async () => {
    const credentials = { username: 'me', password: 'p@ss word' }
    const host = await startGitServer({ root: dirname(repository.folder), credentials })
    const url = host.url(`${basename(repository.folder)}/.git`)
    expect(await listRemoteBranches(url, { credentials })).toEqual(listBranches(repository.folder))
    await expect(listRemoteBranches(url)).rejects.toMatchObject({
      name: 'SourceError',
      message: '127.0.0.1 requires credentials or rejected the ones it received.',
    })
    expect(host.requested_paths.join()).not.toContain('p@ss')
    await host.close()
  })

  test('of a repository that lost them all are empty; of a folder without a repository unknown', async () => {
    createGit(folder)('init', '--quiet', '--bare')
    expect(await listRemoteBranches(pathToFileURL(folder).href)).toEqual(new Map())
    rmSync(join(folder, 'HEAD'))
    await expect(listRemoteBranches(pathToFileURL(folder).href)).rejects.toMatchObject({ name: 'SourceError' })
    await expect(listRemoteBranches('file:///nowhere/at/all')).rejects.toMatchObject({
      message: 'The folder of the repository does not exist on this machine.',
    })
  })

  fullTest('of an empty repository are accepted over http only when git itself reports it, not a web server with a page for everything', async () => {
    createGit(folder)('init', '--quiet', '--bare')
    const host = await startGitServer({ root: dirname(folder) })
    for (const version of ['2', '0']) {
      createGit(folder)('config', 'protocol.version', version)
      expect(await listRemoteBranches(host.url(basename(folder)))).toEqual(new Map())
    }
    await host.close()
    for (const body of ['', 'Sign in', '<html>\n<body>\nSign in\n']) {
      const portal = await startGitServer({ root: folder, intercept: (_, response) => response.end(body) !== undefined })
      await expect(listRemoteBranches(portal.url('a/b.git')), body).rejects.toMatchObject({ name: 'SourceError' })
      await portal.close()
    }
  })

  test('at a private address are only for the owner', async () => {
    const host = await startGitServer({ root: dirname(repository.folder) })
    await expect(listRemoteBranches(host.url('x'), { allow_local: false })).rejects.toMatchObject({
      message: expect.stringContaining('private network'),
    })
    await expect(listRemoteBranches(repository.url, { allow_local: false })).rejects.toMatchObject({ message: expect.stringContaining('owner') })
    expect(host.requested_paths).toEqual([])
    await host.close()
  })
})

describe.skipIf(!requires('git').ok)('events of a repository', () => {
  let events: RepositoryWatcher | undefined
  let heard = 0
  afterEach(() => events?.close())

  const follow = async (path: string): Promise<void> => {
    heard = 0
    events = watchRepository(pathToFileURL(path).href, () => heard++)
    await events.refresh()
  }
  /** Waits until an event was received for the action. */
  const hears = async (what: string, deed: () => void): Promise<void> => {
    const before = heard
    deed()
    await until(() => (heard > before ? true : undefined), { what: `an event of ${what}`, every_ms: 10 })
  }

  test('report commits, new and deleted branches, nested branch names, renames and packed refs', async () => {
    const git = createGit(repository.folder)
    await follow(repository.folder)
    await hears('a commit', () => repository.commit({ 'index.html': 'second' }))
    await hears('a branch', () => git('branch', 'one'))
    await hears('a branch in folders', () => git('branch', 'a/b/c'))
    await hears('a commit in folders', () => commitToBranch(repository.folder, 'a/b/c', { x: '1' }))
    await hears('a rename', () => git('branch', '-m', 'a/b/c', 'a/b/d'))
    await hears('its deletion', () => git('branch', '-D', 'a/b/d'))
    await hears('the same folders again', () => git('branch', 'a/b/c'))
    await hears('a commit there', () => commitToBranch(repository.folder, 'a/b/c', { x: '2' }))
    await hears('packed refs', () => git('pack-refs', '--all'))
    await hears('the deletion of a packed one', () => git('branch', '-D', 'one'))
    await hears('a commit after that', () => commitToBranch(repository.folder, 'a/b/c', { x: '3' }))
  })

  fullTest('report pushes to a bare repository, and commits of other worktrees', async () => {
    const git = createGit(repository.folder)
    git('clone', '--quiet', '--bare', repository.folder, join(folder, 'bare.git'))
    await follow(join(folder, 'bare.git'))
    await hears('a push', () => git('push', '--quiet', join(folder, 'bare.git'), 'main:pushed/here'))
    events?.close()
    git('worktree', 'add', '--quiet', '-b', 'side', join(folder, 'tree'))
    await follow(join(folder, 'tree'))
    await hears('a commit in the main tree', () => repository.commit({ 'index.html': 'third' }))
    await hears('a commit in this tree', () => createGit(join(folder, 'tree'))('commit', '--quiet', '--allow-empty', '--message', 'here'))
  })

  fullTest('resume when the repository is created again, or appears late', async () => {
    const path = join(folder, 'late')
    await follow(path)
    renameSync(repository.folder, path)
    await events?.refresh()
    await hears('a branch', () => createGit(path)('branch', 'one'))
    rmSync(join(path, '.git'), { recursive: true })
    createGit(path)('init', '--quiet', '--initial-branch=main')
    await events?.refresh()
    await hears('a first commit', () => createGit(path)('commit', '--quiet', '--allow-empty', '--message', 'anew'))
  })

  test('end with close', async () => {
    let heardAfterClose = 0
    const closed = watchRepository(repository.url, () => heardAfterClose++)
    await closed.refresh()
    closed.close()
    await follow(repository.folder)
    await hears('a commit', () => repository.commit({ 'index.html': 'second' }))
    expect(heardAfterClose).toBe(0)
  })
})
