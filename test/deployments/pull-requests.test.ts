import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Watching } from '../../server/contract/previews.ts'
import { limits } from '../../server/contract/limits.ts'
import { checkRepository, commitToBranch, createGit, listPreviews, waitForPreview } from '../support/git-branches.ts'
import { fullTest } from '../support/full-test.ts'
import type { TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { sharedPlatform } from '../support/shared-platform.ts'
import { until } from '../support/until.ts'

/* A bare repository with the refs that a forge publishes for its pull requests. */

let platform: TestPlatform
const folders: string[] = []
let count = 0

beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.remove())
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

const page = (text: string) => ({ 'index.html': `<h1>${text}</h1>` })

/** A forge with one repository, and the work tree of a contributor. */
function createForge() {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-forge-'))
  folders.push(folder)
  const bare = join(folder, 'shop.git')
  const work = makeRepository(page('main'))
  folders.push(work.folder)
  execFileSync('git', ['clone', '--quiet', '--bare', work.folder, bare])
  const git = createGit(work.folder)
  const inForge = createGit(bare)
  return {
    url: pathToFileURL(bare).href,
    git,
    /** Commits to a pull request, and publishes it under `ref`. */
    push(number: number, files: Record<string, string>, ref = `refs/pull/${number}/head`): string {
      const sha = commitToBranch(work.folder, `request-${number}`, files)
      git('push', '--quiet', '--force', bare, `${sha}:${ref}`)
      return sha
    },
    setRef: (ref: string, sha: string) => void git('push', '--quiet', '--force', bare, `${sha}:${ref}`),
    removeRef: (ref: string) => void inForge('update-ref', '-d', ref),
    /** Merges a pull request into main, like the button of a forge. */
    merge(number: number, ...options: string[]) {
      git('merge', '--quiet', ...options, `request-${number}`)
      if (options.includes('--squash')) git('commit', '--quiet', '--message', `Squashed ${number}`)
      git('push', '--quiet', bare, 'main:main')
    },
  }
}

type Forge = ReturnType<typeof createForge>

async function linked(forge: Forge, settings: object = { pull_requests: true }): Promise<string> {
  const slug = `pulls-${++count}`
  await platform.createProject({ slug, repo_url: forge.url })
  if (Object.keys(settings).length > 0) await change(slug, settings)
  await checkRepository(platform, slug)
  return slug
}

const change = (slug: string, body: object) => platform.api<{ watching: Watching }>('PATCH', `/instance/projects/${slug}/watching`, body)

const openBranches = async (slug: string) => (await listPreviews(platform, slug)).map(({ branch }) => branch).toSorted()

const deploymentsOf = async (slug: string) =>
  (await platform.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments`)).body.deployments

describe('a pull request', () => {
  test('gets a preview, which closes when its ref is removed', async () => {
    const forge = createForge()
    const slug = await linked(forge)
    const sha = forge.push(12, page('from a stranger'))
    await checkRepository(platform, slug)
    const preview = await waitForPreview(platform, slug, 'pull/12', sha)
    expect(preview.host).toBe(`pr-12--${slug}.localhost`)
    expect((await platform.fetchEdge(preview.host)).body).toContain('from a stranger')
    const next = forge.push(12, page('again'))
    await checkRepository(platform, slug)
    await waitForPreview(platform, slug, 'pull/12', next)
    forge.removeRef('refs/pull/12/head')
    await checkRepository(platform, slug)
    expect(await openBranches(slug)).toEqual([])
  })

  fullTest('gets none while the setting is off; one that existed before gets its preview with its next commit', async () => {
    const forge = createForge()
    forge.push(1, page('old'))
    const slug = await linked(forge, {})
    forge.push(2, page('new'))
    await checkRepository(platform, slug)
    expect(await deploymentsOf(slug)).toEqual([])
    await change(slug, { pull_requests: true })
    await checkRepository(platform, slug)
    expect(await deploymentsOf(slug)).toEqual([])
    const sha = forge.push(1, page('moved'))
    await checkRepository(platform, slug)
    await waitForPreview(platform, slug, 'pull/1', sha)
    expect(await openBranches(slug)).toEqual(['pull/1'])
    await change(slug, { pull_requests: false })
    expect(await openBranches(slug)).toEqual([])
    // Once on again, the setting treats existing pull requests as known.
    await change(slug, { pull_requests: true })
    await checkRepository(platform, slug)
    expect(await openBranches(slug)).toEqual([])
  })

  fullTest('is closed by a merge commit, although its ref remains', async () => {
    const forge = createForge()
    const slug = await linked(forge, { pull_requests: true, deploys_pushes: false })
    const sha = forge.push(3, page('merged'))
    await checkRepository(platform, slug)
    await waitForPreview(platform, slug, 'pull/3', sha)
    forge.merge(3, '--no-ff')
    await checkRepository(platform, slug)
    expect(await openBranches(slug)).toEqual([])
    forge.git('commit', '--quiet', '--allow-empty', '--message', 'Next')
    forge.setRef('refs/heads/main', forge.git('rev-parse', 'main'))
    await checkRepository(platform, slug)
    expect(await deploymentsOf(slug)).toHaveLength(1)
  })

  fullTest('that was squashed is closed when GitHub stops publishing its merge ref', async () => {
    const forge = createForge()
    const slug = await linked(forge, { pull_requests: true, deploys_pushes: false })
    const sha = forge.push(4, page('squashed'))
    forge.setRef('refs/pull/4/merge', sha)
    await checkRepository(platform, slug)
    await waitForPreview(platform, slug, 'pull/4', sha)
    forge.merge(4, '--squash')
    await checkRepository(platform, slug)
    expect(await openBranches(slug)).toEqual(['pull/4'])
    forge.removeRef('refs/pull/4/merge')
    await checkRepository(platform, slug)
    expect(await openBranches(slug)).toEqual([])
    // GitHub publishes the merge ref of a new pull request some seconds after its head.
    const next = forge.push(5, page('five'))
    await checkRepository(platform, slug)
    expect(await openBranches(slug)).toEqual([])
    forge.setRef('refs/pull/5/merge', next)
    await checkRepository(platform, slug)
    await waitForPreview(platform, slug, 'pull/5', next)
  })

  fullTest('closes the oldest preview when there are too many', async () => {
    const forge = createForge()
    const slug = await linked(forge)
    const numbers = Array.from({ length: limits.pull_requests.previews + 1 }, (_, index) => index + 1)
    for (const number of numbers) {
      forge.push(number, page(`request ${number}`))
      await checkRepository(platform, slug)
      await platform.advance(1_000)
    }
    const expected = numbers.slice(1).map((number) => `pull/${number}`)
    await until(async () => ((await openBranches(slug)).join() === expected.toSorted().join() ? true : undefined), { what: 'the newest previews' })
  })

  test('a branch with the name of a pull request gets no preview', async () => {
    const forge = createForge()
    const slug = await linked(forge)
    forge.push(7, page('branch'), 'refs/heads/pull/7')
    await checkRepository(platform, slug)
    expect(await deploymentsOf(slug)).toEqual([])
  })
})

describe('code from a fork', () => {
  const reporter = {
    'package.json': JSON.stringify({ name: 'report', private: true, scripts: { build: 'mkdir -p .next/cache dist', start: 'node server.js' } }),
    'server.js': `require('node:http').createServer((_, res) => res.end(JSON.stringify(process.env))).listen(process.env.PORT, process.env.HOST)`,
  }

  test('gets only preview variables that are not sensitive, unless the setting allows more', async () => {
    const forge = createForge()
    const slug = await linked(forge)
    const variables = [
      { key: 'FOR_PREVIEWS', value: 'open', environment: 'preview' },
      { key: 'SENSITIVE', value: 'secret-of-previews', environment: 'preview', is_sensitive: true },
      { key: 'FOR_ALL', value: 'secret-of-all', environment: null },
      { key: 'FOR_PRODUCTION', value: 'secret-of-production', environment: 'production' },
    ]
    await platform.api('POST', `/v1/projects/${slug}/env-vars`, { vars: variables })
    const readApp = async (sha: string) => {
      await checkRepository(platform, slug)
      const { host } = await waitForPreview(platform, slug, 'pull/8', sha)
      return JSON.parse((await platform.fetchEdge(host)).body) as Record<string, string>
    }
    const seen = await readApp(forge.push(8, reporter))
    expect(seen).toMatchObject({ FOR_PREVIEWS: 'open', HOMEPORT_ENVIRONMENT: 'preview' })
    expect(JSON.stringify(seen)).not.toContain('secret-of')
    await change(slug, { pull_request_secrets: true })
    const trusted = await readApp(forge.push(8, { ...reporter, 'x.txt': '' }))
    expect(trusted).toMatchObject({ SENSITIVE: 'secret-of-previews', FOR_ALL: 'secret-of-all' })
    expect(trusted.FOR_PRODUCTION).toBeUndefined()
  })

  test('homeport.yaml of a pull request cannot change the settings', async () => {
    const forge = createForge()
    const slug = await linked(forge)
    forge.push(9, { ...page('x'), 'homeport.yaml': 'pull_request_secrets: true\n' })
    await checkRepository(platform, slug)
    const failed = await until(async () => (await deploymentsOf(slug)).find(({ status }) => status === 'failed'), { what: 'the failure' })
    expect(failed.error?.message).toContain('pull_request_secrets')
    expect((await platform.api<{ watching: Watching }>('GET', `/instance/projects/${slug}/watching`)).body.watching).toMatchObject({
      pull_requests: true,
      pull_request_secrets: false,
    })
  })

  fullTest('gets no snapshot of production’s volumes, unless the setting allows it', async () => {
    const forge = createForge()
    const storing = (more: Record<string, string> = {}) => ({
      'package.json': JSON.stringify({ name: 'store', private: true, scripts: { start: 'node server.js' } }),
      'homeport.yaml':
        'preview_volumes: snapshot\nservices:\n  web:\n    build: .\n    command: node server.js\n    port: 3000\n    volumes: ["data:/app/data"]\nvolumes:\n  data: {}\n',
      'server.js': `const { existsSync, readFileSync, writeFileSync } = require('node:fs')
require('node:http').createServer((req, res) => {
  if (req.url === '/write') writeFileSync('data/secret', 'of production')
  res.end(existsSync('data/secret') ? readFileSync('data/secret') : 'empty')
}).listen(process.env.PORT, process.env.HOST)`,
      ...more,
    })
    const slug = await linked(forge, { pull_requests: true, deploys_pushes: false })
    forge.setRef('refs/heads/main', forge.push(1, storing(), 'refs/heads/other'))
    await platform.deploy(slug).then(({ id }) => platform.waitForEnd(slug, id))
    expect((await platform.fetchEdge(`${slug}.localhost`, '/write')).body).toBe('of production')
    const readApp = async (number: number, sha: string) => {
      await checkRepository(platform, slug)
      return (await platform.fetchEdge((await waitForPreview(platform, slug, `pull/${number}`, sha)).host)).body
    }
    expect(await readApp(10, forge.push(10, storing({ a: '1' })))).toBe('empty')
    await change(slug, { pull_request_secrets: true })
    expect(await readApp(11, forge.push(11, storing({ a: '2' })))).toBe('of production')
  })
})
