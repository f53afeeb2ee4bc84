import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { terminalStatuses } from '../../server/contract/deployments.ts'
import { listAllDeployments } from '../support/git-branches.ts'
import { until } from '../support/platform.ts'
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts'
import { assertIntact, assertNothingLeft, type CurrentDeployment, readCurrentDeployments } from './kill-checks.ts'
import { type KillOptions, startKillContext, type KillContext } from './kill-context.ts'

/* Kills the platform with SIGKILL at random moments of deployments, restarts it, and checks its guarantees. */

export interface KillReport {
  kills: number
  /** Deployments that were acknowledged with 201. */
  acknowledged: number
}

const terminal = new Set<string>(terminalStatuses)

/** Projects: `steady` is never deployed again and must not be affected; the others are deployed continuously. */
const busy = ['busy', 'page', 'own'] as const

export async function killRounds(options: KillOptions): Promise<KillReport> {
  const seededRandom = createSeededRandom(options.seed)
  const context = await startKillContext(options)
  const report: KillReport = { kills: 0, acknowledged: 0 }
  try {
    for (let round = 1; round <= options.rounds; round++) {
      try {
        await playRound(context, seededRandom, report)
      } catch (error) {
        throw new Error(`round ${round} of ${options.rounds} on ${options.runtime}, seed ${options.seed}`, { cause: error })
      }
    }
    report.acknowledged = context.acknowledged.size
    return report
  } finally {
    await context.close()
  }
}

async function playRound(context: KillContext, seededRandom: SeededRandom, report: KillReport): Promise<void> {
  const deployer = deployAtRandom(context, seededRandom)
  const requester = requestContinuously(context, 'steady')
  await delay(seededRandom.between(0, context.platform.runtime === 'docker' ? 5_000 : 2_500))
  await context.platform.kill()
  deployer.stop()
  report.kills++
  await deployer.done
  await requester.end()
  assertIntact(context.data)

  const serving = readCurrentDeployments(context.data)
  await checkAppsWhileDown(context, serving)

  await context.restart()
  // Sometimes it dies again while it is still recovering.
  if (seededRandom.chance(0.3)) {
    await delay(seededRandom.between(0, 1_500))
    await context.platform.kill()
    report.kills++
    assertIntact(context.data)
    await context.restart()
  }
  // Sometimes a requeued deployment is replaced at once.
  if (seededRandom.chance(0.4)) await deployOnce(context, seededRandom)
  await until(() => allAppsRespond(context, serving), { what: 'every app to answer at the edge again' })
  if (context.engine) await assertSteady(context)
  await checkDeployments(context)
  await assertNothingLeft(context)
}

/** A commit and its deployment. False if the connection broke: the platform died before or during this request. */
async function deployOnce(context: KillContext, seededRandom: SeededRandom): Promise<boolean> {
  const slug = seededRandom.pick(busy)
  context.repositories[slug]?.commit({ 'touched.txt': String(seededRandom.between(0, 1e9)) })
  try {
    const { status, body } = await context.platform.api<{ deployment_id: string }>('POST', `/v1/projects/${slug}/deploy`)
    if (status !== 201) throw new Error(`deploy of ${slug} answered ${status}: ${JSON.stringify(body)}`)
    context.acknowledged.set(body.deployment_id, slug)
    return true
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    context.unanswered.set(slug, (context.unanswered.get(slug) ?? 0) + 1)
    return false
  }
}

/** Deploys several projects concurrently until the platform is dead. */
function deployAtRandom(context: KillContext, seededRandom: SeededRandom): { done: Promise<void>; stop(): void } {
  let stopped = false
  const deployAll = async () => {
    while (!stopped) {
      if (!(await deployOnce(context, seededRandom))) return
      await delay(seededRandom.between(50, 900))
    }
  }
  return { done: deployAll(), stop: () => void (stopped = true) }
}

/** Requests an app from the edge continuously until stopped: every response must be 200. */
function requestContinuously(context: KillContext, slug: string): { end(): Promise<void> } {
  let ended = false
  const run = async () => {
    while (!ended) {
      const response = await context.platform.fetchEdge(`${slug}.localhost`).catch(() => undefined)
      if (response === undefined) return
      if (response.status !== 200) throw new Error(`${slug} answered ${response.status} at the edge while the platform was up`)
      await delay(10)
    }
  }
  const running = run()
  running.catch(() => {})
  return {
    async end() {
      ended = true
      await running
    },
  }
}

/** Containers continue without a platform: they are requested at their own addresses for a while. */
async function checkAppsWhileDown(context: KillContext, serving: CurrentDeployment[]): Promise<void> {
  if (!context.engine) return
  for (const one of serving) {
    if (!one.is_upstream) continue
    const app = await context.engine.findApp(one.id)
    if (!app) throw new Error(`${one.slug} should be served by ${one.id}, and no container of it runs while the platform is down`)
    for (let i = 0; i < 5; i++) {
      const status = await requestStatus(app.address, app.port)
      if (status !== 200) throw new Error(`${one.slug} answered ${status} at its own address while the platform was down`)
    }
  }
}

async function allAppsRespond(context: KillContext, serving: CurrentDeployment[]): Promise<true | undefined> {
  for (const { slug } of serving) {
    const { status } = await context.platform.fetchEdge(`${slug}.localhost`)
    if (status !== 200) return undefined
  }
  return true
}

async function assertSteady(context: KillContext): Promise<void> {
  const app = context.steady && (await context.engine?.findApp(context.steady.id))
  if (app?.id !== context.steady?.container || app?.started_at !== context.steady?.started_at || app?.restarts !== 0)
    throw new Error(`the steady app was started again: ${JSON.stringify({ before: context.steady, now: app })}`)
}

/** Waits for the end of every acknowledged deployment, and checks that each exists once, and which one serves. */
async function checkDeployments(context: KillContext): Promise<void> {
  for (const slug of busy) {
    const rows = await until(
      async () => {
        const all = await listAllDeployments(context.platform, slug)
        return all.every((row) => terminal.has(row.status)) ? all : undefined
      },
      { what: `every deployment of ${slug} to end`, every_ms: 100 },
    )
    const mine = [...context.acknowledged].filter(([, of]) => of === slug).map(([id]) => id)
    for (const id of mine) {
      const times = rows.filter((row) => row.id === id).length
      if (times !== 1) throw new Error(`deployment ${id} of ${slug} was answered with 201 and is there ${times} times`)
    }
    const most = mine.length + 1 + (context.unanswered.get(slug) ?? 0)
    if (rows.length > most) throw new Error(`${slug} has ${rows.length} deployments, and no more than ${most} were asked for`)

    for (const row of rows) {
      if (row.status === 'failed' && row.error?.code !== 'interrupted') throw new Error(`${row.id} of ${slug} failed: ${JSON.stringify(row.error)}`)
    }
    const newest = rows.find((row) => row.status === 'ready')
    const current = rows.filter((row) => row.is_current)
    if (current.length !== 1 || current[0]?.id !== newest?.id)
      throw new Error(`${slug} is served by ${current.map((row) => row.id).join(', ') || 'nothing'}, expected ${newest?.id}`)
    const response = await context.platform.fetchEdge(`${slug}.localhost`)
    if (response.status !== 200 || (slug !== 'page' && response.body !== newest?.id))
      throw new Error(`${slug} answers ${response.status} ${response.body.slice(0, 80)}, expected ${newest?.id}`)
  }
}

function requestStatus(host: string, port: number): Promise<number> {
  return new Promise((resolve) => {
    const question = request({ host, port, agent: false, timeout: 30_000 }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    question.on('timeout', () => question.destroy())
    question.on('error', () => resolve(0))
    question.end()
  })
}
