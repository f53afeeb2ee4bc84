import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeploymentDetail } from '../../server/contract/deployments.ts'
import { startGitHost, type GitHost } from '../support/git-host.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import type { TestApp } from './apps.ts'
import type { Runtime, Sentence, TestCase } from './case.ts'

/**
 * Deploys real apps as a person would: POST /v1/projects, PATCH what has to be told, POST deploy, and answers at the edge or the
 * sentence that says why not. Prints a line for each, and all of them as a table at the end.
 */
export function matrix(runtime: Runtime, apps: readonly TestApp[], cases: readonly TestCase[]): void {
  describe(`real apps on ${runtime}`, () => {
    let home: TestPlatform
    let host: GitHost
    const folder = mkdtempSync(join(tmpdir(), 'homeport-apps-'))
    const rows: string[] = []

    beforeAll(async () => {
      home = await startTestPlatform({ runtime })
      host = await startGitHost({ root: folder })
    })
    afterAll(async () => {
      print(['', `| App on ${runtime} | Seconds | What a user sees |`, '|---|---|---|', ...rows, ''].join('\n'))
      await home.remove()
      await host.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const all = [...apps.map((app) => ({ ...asCase(app), app })), ...cases.map((one) => ({ ...one, app: undefined }))]
    test.for(all.filter(({ runtimes = ['process', 'docker'] }) => runtimes.includes(runtime)))('$name', { timeout: 600_000 }, async (one) => {
      makeRepository(one, folder)
      await home.createProject({ slug: one.name, repo_url: host.url(`${one.name}/.git`) })
      if (one.settings) await set(one.name, one.settings)
      const deployment = await deploy(one.name)
      if (one.fails) {
        expect(sentencesOf(one.fails), deployment.build_log.slice(-3_000)).toContainEqual(sentenceOf(deployment))
        expect(deployment.status).toBe('failed')
      } else isLive(deployment)
      if (one.app) expect(deployment.framework).toBe(one.app.expects.framework)
      const lines = typeof one.logs === 'string' ? one.logs : one.logs?.[runtime]
      if (lines !== undefined) expect(plain(deployment.build_log)).toContain(lines)

      if (one.advice) {
        if (one.advice.settings) await set(one.name, one.advice.settings)
        if (one.advice.database) expect((await home.api('POST', `/v1/projects/${one.name}/database`)).status).toBe(201)
        isLive(await deploy(one.name, ', the advice followed'))
      }
      for (const { path, status = 200, contains = '', headers = {} } of one.answers ?? []) {
        const answer = await home.edge(`${one.name}.localhost`, path)
        expect(answer, path).toMatchObject({ status, headers, body: expect.stringContaining(contains) as unknown })
      }
      expect((await home.api('DELETE', `/v1/projects/${one.name}`)).status).toBe(204)
    })

    async function deploy(slug: string, what = ''): Promise<DeploymentDetail> {
      const begun = performance.now()
      const deployment = await home.ended(slug, (await home.deploy(slug)).id)
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      const { message, hint } = sentenceOf(deployment) ?? { message: 'Live', hint: '' }
      print(`${runtime} ${slug}${what}: ${seconds} s. ${message}${hint && `\n    ${hint.replaceAll('\n', '\n    ')}`}`)
      const sentence = [message, hint].filter(Boolean).join('<br>').replaceAll('|', '\\|').replaceAll('\n', '<br>')
      expect(deployment.build_log).not.toContain('Unknown env config')
      rows.push(`| ${slug}${what} | ${seconds} | ${sentence} |`)
      return deployment
    }

    async function set(slug: string, settings: NonNullable<TestCase['settings']>): Promise<void> {
      expect((await home.api('PATCH', `/v1/projects/${slug}`, settings)).status).toBe(200)
    }

    const sentencesOf = (fails: NonNullable<TestCase['fails']>): readonly Sentence[] => ('message' in fails ? [fails] : (fails[runtime] ?? []))
  })
}

/** Past the reporter, which holds back what a test prints until its file has ended. */
const print = (text: string) => writeSync(1, `${text}\n`)

const isLive = ({ error, build_log }: DeploymentDetail) => expect(error, build_log.slice(-3_000)).toBeNull()

/** Durations as `N s`, and the app's own folder as `/app` on both runtimes. */
const plain = (text: string) => text.replace(/\b\d+(?:\.\d)? s\b/g, 'N s').replace(/\/\S+\/app\//g, '/app/')

const sentenceOf = ({ error }: DeploymentDetail): Sentence | null => error && { message: plain(error.message), hint: plain(error.hint ?? '') }

function asCase({ name, directory, settings, expects }: TestApp): TestCase {
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
