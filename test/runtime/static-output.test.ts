import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StaticPlan } from '../../server/contract/build-plan.ts'
import { checkStaticSite, planFromOutput } from '../../server/runtime/static-output.ts'
import { staticPlan } from '../support/runtime.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-site-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const check = async (files: Record<string, string>): Promise<string[]> => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const notes: string[] = []
  await checkStaticSite(folder, staticPlan({ output_directory: 'dist' }).work as StaticPlan, (line) => notes.push(line))
  return notes
}

describe('a site with an index page', () => {
  test.each([
    [{ 'index.html': '' }],
    [{ _redirects: '/ /home 302', 'home.html': '' }],
    [{ _redirects: '/* /app/:splat 200', 'app/index.html': '' }],
    [{ _redirects: '/* /shell 200', 'shell.html': '' }],
  ])('%j', async (files: Record<string, string>) => {
    expect(await check(files)).toEqual([])
  })
})

describe('a site whose / would be 404', () => {
  test.each([
    [{}, 'The folder is empty.'],
    [{ 'client/app.js': '', 'a.html': '' }, 'Files found: a.html, client/app.js.'],
    [{ '404.html': '', _redirects: '/* /404.html 404' }, 'Files found: 404.html, _redirects.'],
    [{ _redirects: '/* /nothing 200' }, 'Files found: _redirects.'],
    [
      Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n + 10}.js`, ''])),
      'Files found: 10.js, 11.js, 12.js, 13.js, 14.js, 15.js, 16.js, 17.js, 18.js, 19.js, 20.js, 21.js …',
    ],
  ])('%j', async (files: Record<string, string>, found) => {
    await expect(check(files)).rejects.toMatchObject({
      code: 'build_failed',
      message: expect.stringContaining(`dist has no index.html, so / would return 404. ${found}`),
    })
  })
})

test('lines of _redirects without effect are logged', async () => {
  expect(await check({ 'index.html': '', _redirects: '/a' })).toEqual([
    'Warning: _redirects, line 1 has no effect: its target is neither a path nor an http URL.',
  ])
})

test('a request handler, as TanStack Start builds it, is run by srvx; without srvx only the pages are served', async () => {
  const plan = staticPlan({ output_directory: 'dist/client', server_entries: ['dist/server/server.js'] }).work as StaticPlan
  const planWith = (files: string[]) =>
    planFromOutput(
      plan,
      async (path) => files.includes(path),
      () => {},
    )
  const handler = 'dist/server/server.js'
  expect(await planWith([handler, 'node_modules/.bin/srvx'])).toMatchObject({
    kind: 'server',
    start_command: expect.arrayContaining(['srvx', handler]),
  })
  expect(await planWith([handler, 'dist/client/index.html'])).toBe(plan)
  await expect(planWith([handler])).rejects.toMatchObject({ hint: expect.stringContaining('srvx') })
})
