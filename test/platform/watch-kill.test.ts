import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { foldersOf, rollBranches } from '../deploy/branch-stories.ts'
import { createDice } from '../support/dice.ts'
import { newFolder, type RunningInstance, serve } from '../support/instance-process.ts'
import { type Client, createClient } from '../support/platform.ts'

/* Branches are pushed and deleted while the platform is killed: what it finds when it is back are the branches of then. */

const folder = newFolder('watch-kill')
let instance: RunningInstance | undefined
afterAll(async () => {
  await instance?.end('SIGTERM')
  folder.remove()
})

test('10 steps, each with a kill -9', { timeout: 600_000 }, async () => {
  const seed = Number(process.env.HOMEPORT_SEED ?? 20_261_121)
  const dice = createDice(seed)
  const data = join(folder.path, 'data')
  let client: Client
  const begin = async () => {
    instance = await serve({ data })
    client = createClient(instance.instance)
    await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000 })
  }
  await begin()
  const home: Client = {
    api: (...all) => client.api(...all),
    edge: (...all) => client.edge(...all),
    createProject: (...all) => client.createProject(...all),
    deploy: (...all) => client.deploy(...all),
    deployment: (...all) => client.deployment(...all),
    ended: (...all) => client.ended(...all),
    project: (...all) => client.project(...all),
  }
  await rollBranches({
    home,
    seed,
    steps: 10,
    files: (text) => ({ 'index.html': `<h1>${text}</h1>` }),
    leftovers: async (open) => foldersOf(data, open),
    // At any moment of what a push sets off: from the event over the queue and the build to the swap.
    async disturb() {
      await delay(dice.between(0, 700))
      await instance?.end('SIGKILL')
      await begin()
    },
  })
})
