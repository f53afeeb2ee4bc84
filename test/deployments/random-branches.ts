import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { listBranches, commitToBranch, listAllDeployments, createGit, listPreviews, waitForFirstCheck } from '../support/git-branches.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { instanceIdOf, createDockerView } from '../support/docker.ts'
import type { Client, TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'

const names = ['one', 'feature/two', 'feature/deep/three', 'Four', 'fix_5']

export const branchCorpus = new URL('corpus/branches.json', import.meta.url)

export interface BranchCase {
  seed: number
  steps: number
  app: 'page' | 'server'
}

/** Plays a case and expects that closed previews leave nothing. */
export async function runBranchCase(platform: TestPlatform, { seed, steps, app }: BranchCase): Promise<void> {
  const { body } = await platform.api<{ user: { id: string } }>('GET', '/instance/session')
  const engine = createDockerView(instanceIdOf(body.user.id))
  const foreign = async (open: ReadonlySet<string>) => {
    if (platform.runtime === 'process') return []
    const all = [...(await engine.containers()), ...(await engine.images())]
    return all.filter((one) => one.deployment_id !== '' && !open.has(one.deployment_id)).map((one) => `${one.role} ${one.deployment_id}`)
  }
  await runRandomBranches({
    platform,
    seed,
    steps,
    files: app === 'page' ? (text) => ({ 'index.html': `<h1>${text}</h1>` }) : (text) => tinyServer(text),
    leftovers: async (open) => [...foldersOf(platform.data_dir, open), ...(await foreign(open))],
  })
}

interface BranchRun {
  platform: Client
  seed: number
  steps: number
  /** The content of a branch, so that the edge can be queried for `text`. */
  files(text: string): Record<string, string>
  /** Finds leftovers of deployments that are not in this list. */
  leftovers(open: ReadonlySet<string>): Promise<string[]>
  /** A fault of the platform after each step, before the check. */
  disturb?(): Promise<void>
}

/** Five branches are pushed, rewritten, rebased, renamed and deleted at random: after each step the previews match the branches. */
export async function runRandomBranches({ platform, seed, steps, files, leftovers, disturb }: BranchRun): Promise<void> {
  const seededRandom = createSeededRandom(seed)
  const slug = `dice-${seed}`
  const repository = makeRepository({ ...files('main'), 'main.txt': '0' })
  const { folder } = repository
  const git = createGit(folder)
  const texts = new Map<string, string>()
  await platform.createProject({ slug, repo_url: repository.url, pushes: true })
  await waitForFirstCheck(platform, slug)
  let count = 0

  const others = () => [...listBranches(folder)].filter(([branch]) => branch !== 'main')
  const push = (branch: string) => {
    texts.set(branch, `${branch} ${++count}`)
    commitToBranch(folder, branch, files(`${branch} ${count}`))
  }
  const deeds = {
    push: () => push(seededRandom.pick(names)),
    amend(branch: string) {
      texts.set(branch, `${branch} ${++count}`)
      git('branch', '--quiet', '--force', branch, 'main')
      commitToBranch(folder, branch, files(`${branch} ${count}`), 'Written anew')
    },
    rebase(branch: string) {
      repository.commit({ 'main.txt': String(++count) })
      git('rebase', '--quiet', 'main', branch)
      git('checkout', '--quiet', 'main')
    },
    rename(branch: string) {
      const free = names.filter((name) => !listBranches(folder).has(name))
      if (free.length === 0) return
      const name = seededRandom.pick(free)
      git('branch', '-m', branch, name)
      texts.set(name, texts.get(branch) ?? '')
    },
    remove: (branch: string) => git('branch', '--quiet', '-D', branch),
    pack: () => git('pack-refs', '--all'),
  }

  const settled = async (step: number): Promise<void> => {
    const seen = await until(
      async () => {
        const previews = await listPreviews(platform, slug)
        const shown = previews.map((one) => `${one.branch} ${one.commit_sha} ${one.status}`).toSorted()
        const wanted = others()
          .map(([branch, sha]) => `${branch} ${sha} ready`)
          .toSorted()
        return JSON.stringify(shown) === JSON.stringify(wanted) ? previews : undefined
      },
      { what: `the previews after step ${step} of seed ${seed}` },
    )
    for (const one of seen) expect((await platform.fetchEdge(one.host)).body, `step ${step}, ${one.branch}`).toContain(texts.get(one.branch))
    const branches = new Set(seen.map((one) => one.branch))
    const isClean = async () => {
      // Read again each time, because a push to main may not be deployed yet.
      const deployments = await listAllDeployments(platform, slug)
      const open = deployments.filter((one) => one.target === 'production' || branches.has(one.branch ?? ''))
      expect(await leftovers(new Set(open.map((one) => one.id)))).toEqual([])
      return true
    }
    await until(isClean, { what: `nothing to be left of closed previews after step ${step} of seed ${seed}` })
  }

  try {
    for (let step = 1; step <= steps; step++) {
      for (let more = seededRandom.chance(0.3) ? seededRandom.between(2, 4) : 1; more > 0; more--) {
        const there = others().map(([branch]) => branch)
        const deed =
          there.length === 0 ? 'push' : seededRandom.pick(['push', 'push', 'push', 'amend', 'rebase', 'rename', 'remove', 'remove', 'pack'] as const)
        deeds[deed](there.length === 0 ? '' : seededRandom.pick(there))
      }
      await disturb?.()
      await settled(step)
    }
    for (const [branch] of others()) deeds.remove(branch)
    await settled(steps + 1)
    // Rows stay as history, but nothing of them serves.
    expect((await listAllDeployments(platform, slug)).filter((one) => one.is_current && one.target === 'preview')).toEqual([])
    await platform.api('DELETE', `/v1/projects/${slug}`)
    await until(async () => ((await leftovers(new Set())).length === 0 ? true : undefined), {
      what: `nothing of the project of seed ${seed}`,
    })
  } finally {
    repository.remove()
  }
}

/** Folders of deployments in a data folder. */
export function foldersOf(data_dir: string, open: ReadonlySet<string>): string[] {
  const left = []
  for (const room of ['bundles', 'work', 'sources', 'processes'])
    for (const name of read(join(data_dir, room))) {
      const id = /dpl_[0-9a-z]{26}/.exec(name)?.[0]
      if (id !== undefined && !open.has(id)) left.push(`${room}/${name}`)
    }
  return left
}

function read(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
