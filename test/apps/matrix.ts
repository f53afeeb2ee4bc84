import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeploymentDetail } from '../../server/contract/deployments.ts'
import { startGitServer, type GitServer } from '../support/git-server.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import type { TestApp } from './apps.ts'
import type { Runtime, FailureMessage, TestCase } from './case.ts'

/**
 * Deploys real apps as a person would: POST /v1/projects, PATCH what has to be told, POST deploy, and answers at the edge or the
 * sentence that says why not. Prints a line for each, and all of them as a table at the end.
 */
export function appMatrix(runtime: Runtime, apps: readonly TestApp[], cases: readonly TestCase[]): void {
  describe(`real apps on ${runtime}`, () => {
    let platform: TestPlatform
    let host: GitServer
    const folder = mkdtempSync(join(tmpdir(), 'homeport-apps-'))
    const rows: string[] = []

    beforeAll(async () => {
      platform = await startTestPlatform({ runtime })
      host = await startGitServer({ root: folder })
    })
    afterAll(async () => {
      print(['', `| App on ${runtime} | Seconds | What a user sees |`, '|---|---|---|', ...rows, ''].join('\n'))
      await platform.remove()
      await host.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const all = [...apps.map((app) => ({ ...toTestCase(app), app })), ...cases.map((one) => ({ ...one, app: undefined }))]
    test.for(all.filter(({ runtimes = ['process', 'docker'] }) => runtimes.includes(runtime)))('$name', { timeout: 600_000 }, async (one) => {
      makeRepository(one, folder)
      await platform.createProject({ slug: one.name, repo_url: host.url(`${one.name}/.git`) })
      if (one.settings) await changeSettings(one.name, one.settings)
      const deployment = await deploy(one.name)
      if (one.fails) {
        expect(expectedMessages(one.fails), deployment.build_log.slice(-3_000)).toContainEqual(failureMessageOf(deployment))
        expect(deployment.status).toBe('failed')
      } else expectLive(deployment)
      if (one.app) expect(deployment.framework).toBe(one.app.expects.framework)
      const lines = typeof one.logs === 'string' ? one.logs : one.logs?.[runtime]
      if (lines !== undefined) expect(normalizeOutput(deployment.build_log)).toContain(lines)

      if (one.advice) {
        if (one.advice.settings) await changeSettings(one.name, one.advice.settings)
        if (one.advice.database) expect((await platform.api('POST', `/v1/projects/${one.name}/database`)).status).toBe(201)
        expectLive(await deploy(one.name, ', the advice followed'))
      }
      for (const { path, status = 200, contains = '', headers = {} } of one.answers ?? []) {
        const response = await platform.fetchEdge(`${one.name}.localhost`, path)
        expect(response, path).toMatchObject({ status, headers, body: expect.stringContaining(contains) as unknown })
      }
      expect((await platform.api('DELETE', `/v1/projects/${one.name}`)).status).toBe(204)
    })

    async function deploy(slug: string, what = ''): Promise<DeploymentDetail> {
      const begun = performance.now()
      const deployment = await platform.waitForEnd(slug, (await platform.deploy(slug)).id)
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      const { message, hint } = failureMessageOf(deployment) ?? { message: 'Live', hint: '' }
      print(`${runtime} ${slug}${what}: ${seconds} s. ${message}${hint && `\n    ${hint.replaceAll('\n', '\n    ')}`}`)
      const sentence = [message, hint].filter(Boolean).join('<br>').replaceAll('|', '\\|').replaceAll('\n', '<br>')
      expect(deployment.build_log).not.toContain('Unknown env config')
      rows.push(`| ${slug}${what} | ${seconds} | ${sentence} |`)
      return deployment
    }

    async function changeSettings(slug: string, settings: NonNullable<TestCase['settings']>): Promise<void> {
      expect((await platform.api('PATCH', `/v1/projects/${slug}`, settings)).status).toBe(200)
    }

    const expectedMessages = (fails: NonNullable<TestCase['fails']>): readonly FailureMessage[] => ('message' in fails ? [fails] : (fails[runtime] ?? []))
  })
}

/** Past the reporter, which holds back what a test prints until its file has ended. */
const print = (text: string) => writeSync(1, `${text}\n`)

const expectLive = ({ error, build_log }: DeploymentDetail) => expect(error, build_log.slice(-3_000)).toBeNull()

/** Durations as `N s`, and the app's own folder as `/app` on both runtimes. */
const normalizeOutput = (text: string) => text.replace(/\b\d+(?:\.\d)? s\b/g, 'N s').replace(/\/\S+\/app\//g, '/app/')

const failureMessageOf = ({ error }: DeploymentDetail): FailureMessage | null => error && { message: normalizeOutput(error.message), hint: normalizeOutput(error.hint ?? '') }

function toTestCase({ name, directory, settings, expects }: TestApp): TestCase {
  return {
    name,
    base: basename(directory),
    ...(settings ? { settings } : {}),
    ...(expects.kind === 'dockerfile' ? { runtimes: ['docker'] } : {}),
    answers: [
      { path: expects.path, contains: expects.contains },
      ...(expects.spa_fallback === undefined ? [] : [{ path: '/no/such/page', status: expects.spa_fallback ? 200 : 404 }]),
    ],
  }
}

/** The app as a git repository of its own, with its submodules beside it; the copies in this checkout belong to ours. */
function makeRepository({ name, base, files = {}, submodules = {} }: TestCase, root: string): void {
  const folder = join(root, name)
  mkdirSync(folder)
  if (base) cpSync(join(import.meta.dirname, base), folder, { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
  writeFiles(folder, files)
  git(folder, 'init', '--quiet', '--initial-branch=main')
  git(folder, 'add', '--all')
  for (const [path, contents] of Object.entries(submodules)) {
    const beside = `${name}-${basename(path)}`
    makeRepository({ name: beside, files: contents }, root)
    writeFiles(folder, { '.gitmodules': `[submodule "${path}"]\n\tpath = ${path}\n\turl = ../../${beside}/.git\n` })
    git(folder, 'update-index', '--add', '--cacheinfo', `160000,${git(join(root, beside), 'rev-parse', 'HEAD').trim()},${path}`)
    git(folder, 'add', '.gitmodules')
  }
  git(folder, 'commit', '--quiet', '--message', 'The app')
}

function writeFiles(folder: string, files: Record<string, string | null>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    if (text === null) rmSync(join(folder, path))
    else writeFileSync(join(folder, path), text)
  }
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd, encoding: 'utf8' })
