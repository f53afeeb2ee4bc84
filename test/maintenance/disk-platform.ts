import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import type { DiskUsage } from '../../server/contract/maintenance.ts'
import { stillCountingNote } from '../../server/maintenance/disk-notes.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'

/** A platform without Docker, and shortcuts to inspect its data folder. */
export function useDiskPlatform() {
  let platform: TestPlatform
  const repositories: Repository[] = []
  beforeAll(async () => {
    platform = await startTestPlatform({ runtime: 'process' })
  })
  afterAll(async () => {
    await platform.remove()
    for (const repository of repositories) repository.remove()
  })

  const at = (...location: string[]) => join(platform.data_dir, ...location)
  const names = (...location: string[]) => (existsSync(at(...location)) ? readdirSync(at(...location)).toSorted() : [])
  /** A measurement that takes too long returns partial results: then it is requested until complete. */
  const disk = () =>
    until(
      async () => {
        const { status, body } = await platform.api<{ kinds: DiskUsage[]; total_bytes: number; free_bytes: number; data_dir: string }>(
          'GET',
          '/instance/disk',
        )
        expect(status).toBe(200)
        return body.kinds.some(({ location, note }) => location === 'data_folder' && note === stillCountingNote) ? undefined : body
      },
      { what: 'the end of the count' },
    )
  return {
    platform: () => platform,
    at,
    names,
    disk,
    async connect(slug: string, files: Record<string, string>) {
      const repository = makeRepository(files)
      repositories.push(repository)
      await platform.createProject({ slug, repo_url: repository.url })
      return repository
    },
    async live(slug: string) {
      const { id } = await platform.deploy(slug)
      const { status, error } = await platform.waitForEnd(slug, id)
      expect([status, error]).toEqual(['ready', null])
      return id
    },
    async rollBack(slug: string, id: string) {
      const { body } = await platform.api<{ deployment: { id: string } }>('POST', `/v1/projects/${slug}/deployments/${id}/rollback`)
      expect((await platform.waitForEnd(slug, body.deployment.id)).status).toBe('ready')
      return body.deployment.id
    },
    keep: (number: number) => platform.api('PATCH', '/instance/settings', { keep_deployments: number }),
    /** Waits until a folder contains exactly these entries. */
    become: (folder: string, ids: string[]) =>
      until(() => ids.toSorted().join() === names(folder).join() || undefined, { what: `${folder} to hold ${ids.join()} alone` }),
    use: async (kind: string) => (await disk()).kinds.find((one) => one.kind === kind && one.location === 'data_folder')!,
    async clean(...kinds: string[]) {
      const { status, body } = await platform.api<{
        freed: { kind: string; bytes: number; count: number; note: string | null }[]
        freed_bytes: number
      }>('POST', '/instance/disk/clean', kinds.length === 0 ? {} : { kinds })
      expect(status).toBe(200)
      return body
    },
    /** In blocks, as `du` counts. */
    sizeOf: (...paths: string[]) =>
      execFileSync('du', ['-s', '--block-size=1', ...(paths.length === 0 ? [platform.data_dir] : paths.map((location) => at(location)))], {
        encoding: 'utf8',
      })
        .split('\n')
        .reduce((bytes, line) => bytes + Number(line.split('\t')[0]), 0),
  }
}
