import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { terminalStatuses } from '../../server/contract/deployments.ts'
import { everyDeployment } from '../support/branches.ts'
import { until } from '../support/platform.ts'
import { createDice, type Dice } from '../support/dice.ts'
import { assertIntact, assertNothingLeft, type Current, currentOf } from './kill-checks.ts'
import { type KillOptions, openScene, type Scene } from './kill-scene.ts'

/* Kills the platform with SIGKILL at random moments of deployments, starts it again, and checks that it kept its promises. */

export interface KillReport {
  kills: number
  /** Deployments that were answered with 201. */
  acknowledged: number
}

const terminal = new Set<string>(terminalStatuses)

/** Projects: `steady` is never deployed again and must never notice; the others are deployed all the time. */
const busy = ['busy', 'page', 'own'] as const

export async function killRounds(options: KillOptions): Promise<KillReport> {
  const dice = createDice(options.seed)
  const scene = await openScene(options)
  const report: KillReport = { kills: 0, acknowledged: 0 }
  try {
    for (let round = 1; round <= options.rounds; round++) {
      try {
        await playRound(scene, dice, report)
      } catch (error) {
        throw new Error(`round ${round} of ${options.rounds} on ${options.runtime}, seed ${options.seed}`, { cause: error })
      }
    }
    report.acknowledged = scene.acknowledged.size
    return report
  } finally {
    await scene.close()
  }
}

async function playRound(scene: Scene, dice: Dice, report: KillReport): Promise<void> {
  const deployer = deployAtRandom(scene, dice)
  const visitor = visit(scene, 'steady')
  await delay(dice.between(0, scene.home.runtime === 'docker' ? 5_000 : 2_500))
  await scene.home.kill()
  deployer.stop()
  report.kills++
  await deployer.done
  await visitor.end()
  assertIntact(scene.data)

  const serving = currentOf(scene.data)
  await whileDown(scene, serving)

  await scene.restart()
  // Now and then it dies again while it is still taking things up.
  if (dice.chance(0.3)) {
    await delay(dice.between(0, 1_500))
    await scene.home.kill()
    report.kills++
    assertIntact(scene.data)
    await scene.restart()
  }
  // Somebody is quick: what was queued again is replaced at once.
  if (dice.chance(0.4)) await deployOnce(scene, dice)
  await until(() => allAnswer(scene, serving), { what: 'every app to answer at the edge again' })
  if (scene.engine) await assertSteady(scene)
  await settle(scene)
  await assertNothingLeft(scene)
}

/** A commit and its deployment. False when the connection broke: the platform is dead, or died with this request in its hands. */
async function deployOnce(scene: Scene, dice: Dice): Promise<boolean> {
  const slug = dice.pick(busy)
  scene.repositories[slug]?.commit({ 'touched.txt': String(dice.between(0, 1e9)) })
  try {
    const { status, body } = await scene.home.api<{ deployment_id: string }>('POST', `/v1/projects/${slug}/deploy`)
    if (status !== 201) throw new Error(`deploy of ${slug} answered ${status}: ${JSON.stringify(body)}`)
    scene.acknowledged.set(body.deployment_id, slug)
    return true
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    scene.unanswered.set(slug, (scene.unanswered.get(slug) ?? 0) + 1)
    return false
  }
}

/** Deploys project by project, as if several people were at it, until the platform is dead. */
function deployAtRandom(scene: Scene, dice: Dice): { done: Promise<void>; stop(): void } {
  let stopped = false
  const deployAll = async () => {
    while (!stopped) {
      if (!(await deployOnce(scene, dice))) return
      await delay(dice.between(50, 900))
    }
  }
  return { done: deployAll(), stop: () => void (stopped = true) }
}

/** Asks for an app at the edge without a pause, until told to end: every answer that comes must be 200. */
function visit(scene: Scene, slug: string): { end(): Promise<void> } {
  let ended = false
  const run = async () => {
    while (!ended) {
      const answer = await scene.home.edge(`${slug}.localhost`).catch(() => undefined)
      if (answer === undefined) return
      if (answer.status !== 200) throw new Error(`${slug} answered ${answer.status} at the edge while the platform was up`)
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

/** Without a platform the containers go on: asked at their own addresses for a while. */
async function whileDown(scene: Scene, serving: Current[]): Promise<void> {
  if (!scene.engine) return
  for (const one of serving) {
    if (!one.is_upstream) continue
    const app = await scene.engine.appOf(one.id)
    if (!app) throw new Error(`${one.slug} should be served by ${one.id}, and no container of it runs while the platform is down`)
    for (let i = 0; i < 5; i++) {
      const status = await ask(app.address, app.port)
      if (status !== 200) throw new Error(`${one.slug} answered ${status} at its own address while the platform was down`)
    }
  }
}

async function allAnswer(scene: Scene, serving: Current[]): Promise<true | undefined> {
  for (const { slug } of serving) {
    const { status } = await scene.home.edge(`${slug}.localhost`)
    if (status !== 200) return undefined
  }
  return true
}

async function assertSteady(scene: Scene): Promise<void> {
  const app = scene.steady && (await scene.engine?.appOf(scene.steady.id))
  if (app?.id !== scene.steady?.container || app?.started_at !== scene.steady?.started_at || app?.restarts !== 0)
    throw new Error(`the steady app was started again: ${JSON.stringify({ before: scene.steady, now: app })}`)
}

/** Waits for the end of everything that was answered, and looks whether it is there, once, and served. */
async function settle(scene: Scene): Promise<void> {
  for (const slug of busy) {
    const rows = await until(
      async () => {
        const all = await everyDeployment(scene.home, slug)
        return all.every((row) => terminal.has(row.status)) ? all : undefined
      },
      { what: `every deployment of ${slug} to end`, every_ms: 100 },
    )
    const mine = [...scene.acknowledged].filter(([, of]) => of === slug).map(([id]) => id)
    for (const id of mine) {
      const times = rows.filter((row) => row.id === id).length
      if (times !== 1) throw new Error(`deployment ${id} of ${slug} was answered with 201 and is there ${times} times`)
    }
    const most = mine.length + 1 + (scene.unanswered.get(slug) ?? 0)
    if (rows.length > most) throw new Error(`${slug} has ${rows.length} deployments, and no more than ${most} were asked for`)

    for (const row of rows) {
      if (row.status === 'failed' && row.error?.code !== 'interrupted') throw new Error(`${row.id} of ${slug} failed: ${JSON.stringify(row.error)}`)
    }
    const newest = rows.find((row) => row.status === 'ready')
    const current = rows.filter((row) => row.is_current)
    if (current.length !== 1 || current[0]?.id !== newest?.id)
      throw new Error(`${slug} is served by ${current.map((row) => row.id).join(', ') || 'nothing'}, expected ${newest?.id}`)
    const answer = await scene.home.edge(`${slug}.localhost`)
    if (answer.status !== 200 || (slug !== 'page' && answer.body !== newest?.id))
      throw new Error(`${slug} answers ${answer.status} ${answer.body.slice(0, 80)}, expected ${newest?.id}`)
  }
}

function ask(host: string, port: number): Promise<number> {
  return new Promise((resolve) => {
    const question = request({ host, port, agent: false, timeout: 30_000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    question.on('timeout', () => question.destroy())
    question.on('error', () => resolve(0))
    question.end()
  })
}
