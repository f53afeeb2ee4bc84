import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Preview } from '../../server/contract/previews.ts'
import type { Client } from './platform.ts'
import { until } from './until.ts'

/** Runs git in a folder with a fixed author. */
export const createGit =
  (folder: string) =>
  (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Test Author', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()

/**
 * Commits files on a branch, created from main if necessary, and returns the sha. The branch is updated atomically, so that a watcher never sees an
 * intermediate state. The work tree is on main afterwards.
 */
export function commitToBranch(folder: string, branch: string, files: Record<string, string>, message = 'A change'): string {
  const git = createGit(folder)
  git('checkout', '--quiet', '--detach', listBranches(folder).get(branch) ?? 'main')
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '--message', message)
  const sha = git('rev-parse', 'HEAD')
  git('update-ref', `refs/heads/${branch}`, sha)
  git('checkout', '--quiet', 'main')
  return sha
}

export function listBranches(folder: string): Map<string, string> {
  const lines = createGit(folder)('for-each-ref', '--format=%(objectname) %(refname:short)', 'refs/heads').split('\n').filter(Boolean)
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

export async function listPreviews(client: Client, slug: string): Promise<Preview[]> {
  return (await client.api<{ previews: Preview[] }>('GET', `/v1/projects/${slug}/previews`)).body.previews
}

/** Checks the repository immediately and waits for the result. */
export const checkRepository = (client: Client, slug: string) => client.api('POST', `/instance/projects/${slug}/watching/check`)

/** Waits for the first check of the repository, after which pushes count as new. */
export const waitForFirstCheck = (client: Client, slug: string) =>
  until(
    async () => {
      const { body } = await client.api<{ watching: { checked_at: string | null } }>('GET', `/instance/projects/${slug}/watching`)
      return body.watching.checked_at ?? undefined
    },
    { what: `the first look at the repository of ${slug}` },
  )

/** Waits until the preview of a branch shows a commit and has no open deployment. */
export const waitForPreview = (client: Client, slug: string, branch: string, sha: string): Promise<Preview> =>
  until(async () => (await listPreviews(client, slug)).find((one) => one.branch === branch && one.commit_sha === sha && one.status === 'ready'), {
    what: `the preview of ${branch} at ${sha.slice(0, 8)}`,
  })

/** All deployments of a project, from every page. */
export async function listAllDeployments(client: Client, slug: string): Promise<Deployment[]> {
  const all: Deployment[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = `/v1/projects/${slug}/deployments?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { body } = await client.api<{ deployments: Deployment[]; next_cursor: string | null }>('GET', path)
    all.push(...body.deployments)
    cursor = body.next_cursor
  }
  return all
}
