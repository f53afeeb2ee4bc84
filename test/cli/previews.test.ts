import { afterAll, beforeAll, expect, test } from 'vitest'
import { commitToBranch, waitForPreview, waitForFirstCheck } from '../support/git-branches.ts'
import { type CommandLine, commandLine } from '../support/command.ts'
import { makeRepository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

const repository = makeRepository({ 'index.html': 'main' })
let platform: SharedPlatform
let run: CommandLine

beforeAll(async () => {
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, '.')
  await platform.createProject({ slug: 'shop', repo_url: repository.url, pushes: true })
  await waitForFirstCheck(platform, 'shop')
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
})

test('previews lists them, with their addresses', async () => {
  expect(await run('previews', 'shop')).toMatchObject({ code: 0, out: expect.stringContaining('No previews.') })
  const sha = commitToBranch(repository.folder, 'feature/cart', { 'index.html': 'cart' })
  const preview = await waitForPreview(platform, 'shop', 'feature/cart', sha)
  const { out } = await run('previews', 'shop')
  expect(out).toMatch(new RegExp(`feature/cart +Ready +${sha.slice(0, 8)} +\\d+ s ago +${preview.url}`))
  expect(await run.json('previews', 'shop')).toEqual({ previews: [preview] })
  expect((await run('deployments', 'shop')).out).toMatch(/Ready, current +Git push +feature\/cart +/)
})

test('shows and changes what a push does', async () => {
  const before = await run('previews', 'watch', 'shop')
  expect(before.out).toMatch(/repository +watched\n/)
  expect(before.out).toMatch(/pushes +on: pushes to the production branch are deployed/)
  expect((await run('previews', 'pushes', 'shop', 'off')).out).toMatch(/pushes +off/)
  expect((await run('previews', 'databases', 'shop', 'on')).out).toMatch(/databases +on/)
  expect((await run('previews', 'pull-requests', 'shop', 'on')).out).toMatch(/pull requests +on: without secrets/)
  expect((await run('projects', 'set', 'shop', 'pull_request_secrets=true')).out).toContain('pull_request_secrets is now true.')
  expect((await run('previews', 'pull-requests', 'shop', 'off')).out).toMatch(/pull requests +off/)
  expect((await run('previews', 'branches', 'shop', 'off')).out).toMatch(/repository +not watched\n/)
  expect((await run('previews', 'shop')).out).toContain('No previews.')
  expect(await run.json('previews', 'watch', 'shop')).toMatchObject({
    watching: { deploys_pushes: false, previews: false, preview_databases: true, state: 'off' },
  })
})

test('check looks at the repository, and reports problems', async () => {
  await run('previews', 'pushes', 'shop', 'on')
  expect((await run('previews', 'check', 'shop')).out).toMatch(/checked +\d+ s ago/)
  repository.remove()
  expect((await run('previews', 'check', 'shop')).out).toContain('failing: The folder of the repository does not exist on this machine.')
})

test('usage errors: unknown verb, unknown state, missing project', async () => {
  expect(await run('previews')).toMatchObject({ code: 2, err: expect.stringContaining('SLUG is missing') })
  expect(await run('previews', 'fold', 'shop')).toMatchObject({ code: 2, err: expect.stringContaining('Unknown subcommand “fold”') })
  expect(await run('previews', 'pushes', 'shop', 'maybe')).toMatchObject({ code: 2, err: expect.stringContaining('on or off') })
  expect(await run('previews', 'nowhere')).toMatchObject({ code: 1, err: expect.stringContaining('project_not_found') })
})
