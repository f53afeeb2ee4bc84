import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import type { TestApp } from './apps.ts'

/** Deploys real apps as a person would: POST /v1/projects, PATCH what has to be told, POST deploy, and a 200 at the edge. */
export function matrix(runtime: 'process' | 'docker', apps: readonly TestApp[]): void {
  describe(`real apps on ${runtime}`, () => {
    let home: TestPlatform
    const folder = mkdtempSync(join(tmpdir(), 'homeport-apps-'))

    beforeAll(async () => {
      home = await startTestPlatform({ runtime })
    })
    afterAll(async () => {
      await home.remove()
      rmSync(folder, { recursive: true, force: true })
    })

    test.for(apps.filter((app) => runtime === 'docker' || app.expects.kind !== 'dockerfile'))('$name', { timeout: 600_000 }, async (app) => {
      await home.createProject({ slug: app.name, repo_url: repositoryOf(app.directory, folder) })
      if (app.settings) expect((await home.api('PATCH', `/v1/projects/${app.name}`, app.settings)).status).toBe(200)
      const deployment = await home.ended(app.name, (await home.deploy(app.name)).id)
      expect(deployment.error, deployment.build_log.slice(-3_000)).toBeNull()
      expect(deployment.framework).toBe(app.expects.framework)

      const host = `${app.name}.localhost`
      const answer = await home.edge(host, app.expects.path)
      expect(answer.status).toBe(200)
      expect(answer.body).toContain(app.expects.contains)
      if (app.expects.spa_fallback !== undefined) expect((await home.edge(host, '/no/such/page')).status).toBe(app.expects.spa_fallback ? 200 : 404)
      expect((await home.api('DELETE', `/v1/projects/${app.name}`)).status).toBe(204)
    })
  })
}

/** The app as a git repository of its own; the copies in this checkout belong to ours. */
function repositoryOf(directory: string, into: string): string {
  const copy = join(into, basename(directory))
  rmSync(copy, { recursive: true, force: true })
  cpSync(directory, copy, { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: copy })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'The app')
  return pathToFileURL(copy).href
}
