import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSourceFetcher } from '../../server/source/index.ts'
import { commitToBranch, createGit } from '../support/git-branches.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'

const { listPullRequests, listContainedCommits } = createSourceFetcher({ environment: process.env })

let repository: Repository
beforeEach(() => {
  repository = makeRepository({ 'index.html': 'first' })
})
afterEach(() => repository.remove())

const request = () => ({ url: repository.url, credentials: null, allow_local: true })
const setRef = (ref: string, sha: string) => createGit(repository.folder)('update-ref', ref, sha)

describe.skipIf(!requires('git').ok)('the pull requests of a repository', () => {
  test.each([
    ['GitHub, Gitea and Forgejo', (number: number) => `refs/pull/${number}/head`],
    ['GitLab', (number: number) => `refs/merge-requests/${number}/head`],
    ['Bitbucket Server', (number: number) => `refs/pull-requests/${number}/from`],
  ])('are listed from the refs of %s, the newest first, with whether they can be merged', async (_name, refOf) => {
    const commits = ['one', 'two'].map((text) => commitToBranch(repository.folder, 'work', { a: text }))
    setRef(refOf(2), commits[0]!)
    setRef(refOf(12), commits[1]!)
    setRef('refs/pull/2/merge', commits[1]!)
    for (const other of ['refs/pull/0/head', 'refs/pull/x/head', 'refs/pulls/3/head', 'refs/pull/4/other']) setRef(other, commits[0]!)
    expect(await listPullRequests(request(), new AbortController().signal)).toEqual([
      { number: 12, commit_sha: commits[1], has_merge_ref: false },
      { number: 2, commit_sha: commits[0], has_merge_ref: true },
    ])
  })

  test.each([
    ['a merge commit', ['--no-ff']],
    ['a fast-forward', ['--ff-only']],
  ])('are contained in a branch after %s, and after further commits', async (_name, options) => {
    const git = createGit(repository.folder)
    const [merged, open] = ['merged', 'open'].map((name) => commitToBranch(repository.folder, name, { [name]: name }))
    const find = () => listContainedCommits({ ...request(), branch: 'main', commits: [merged!, open!] }, new AbortController().signal)
    expect(await find()).toEqual(new Set())
    git('merge', '--quiet', ...options, 'merged')
    expect(await find()).toEqual(new Set([merged]))
    git('commit', '--quiet', '--allow-empty', '--message', 'Next')
    expect(await find()).toEqual(new Set([merged]))
  })
})
