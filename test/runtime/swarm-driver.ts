import { join } from 'node:path'
import type { Clock } from '../../server/lib/clock.ts'
import { createRuntimes } from '../../server/runtime/index.ts'
import { createDockerView } from '../support/docker.ts'
import type { RuntimeOptions, SecretText } from '../../server/runtime/runtime-options.ts'
import { listEntries, runtimeOptions } from '../support/runtime.ts'
import { searchSaved } from './docker-driver.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import type { Driver } from './suite-context.ts'

/** The runtime on a swarm that a test has started. */
export const createSwarmDriver = (swarm: () => TestSwarm): Driver => ({
  tested_as: 'docker',
  create: (options) => createRuntimes(withSwarm(options, swarm())).swarm,
  has_own_grace: true,
  async leftovers(options, id) {
    const label = `label=homeport.${id.startsWith('prj_') ? 'project' : 'deployment'}=${id}`
    const filters = ['--filter', `label=homeport.instance=${options.instance_id}`, '--filter', label]
    const list = async (args: string[]) => (await swarm().docker(1, args)).trim().split('\n').filter(Boolean)
    const found = await Promise.all([
      list(['service', 'ls', '-q', ...filters]),
      list(['ps', '-aq', ...filters]),
      list(['images', '-q', '--filter', `reference=*/*:${id}*`]),
      id.startsWith('prj_') ? list(['volume', 'ls', '-q', ...filters]) : [],
    ])
    return [...found.flat(), ...(await listEntries(join(options.data_dir, 'bundles'))).filter((name) => name.startsWith(id))]
  },
  async search(artifact, texts) {
    if (artifact.kind !== 'image') return []
    const outputs = {
      history: await swarm().docker(1, ['history', '--no-trunc', artifact.image]),
      inspect: await swarm().docker(1, ['inspect', artifact.image]),
    }
    const found = Object.entries(outputs).flatMap(([name, text]) => (texts.some((one) => text.includes(one)) ? [name] : []))
    return [...found, ...(await searchSaved(artifact.image, texts, { DOCKER_HOST: `unix://${swarm().socket(1)}` }))]
  },
  async cleanUp(options, runtime) {
    for (const found of await runtime.list()) await runtime.stop(found.id, 0)
    await createDockerView(options.instance_id, swarm().socket(1)).removeAll()
  },
})

export const withSwarm = <T extends { docker?: object }>(options: T, swarm: TestSwarm, secrets = createSecretText()) => ({
  ...options,
  docker: {
    ...options.docker,
    candidates: [`unix://${swarm.socket(1)}`],
    registry: swarm.registry,
    node_socket: swarm.node_socket,
    cluster_secrets: secrets,
  },
})

/** In memory. */
export function createSecretText(): SecretText & { text: string | undefined } {
  const secrets = {
    text: undefined as string | undefined,
    read: async () => secrets.text,
    write: async (text: string) => void (secrets.text = text),
  }
  return secrets
}

/** The runtime on a swarm of its own, until `close`. Without `registry` Homeport runs one. */
export async function startSwarmRuntime(
  nodes: number,
  managers = nodes,
  { images, has_registry = true, clock }: { images?: string[]; has_registry?: boolean; clock?: Clock } = {},
) {
  const swarm = await startSwarm(nodes, managers, images)
  const base = await runtimeOptions()
  const secrets = createSecretText()
  const options: RuntimeOptions = withSwarm({ ...base, ...(clock && { clock }) }, swarm, secrets)
  if (!has_registry) delete options.docker?.registry
  const runtime = createRuntimes(options).swarm
  return {
    swarm,
    options,
    runtime,
    secrets,
    async close() {
      for (const { id } of await runtime.list()) await runtime.stop(id, 0)
      await runtime.close()
      await swarm.remove()
      await base.remove()
    },
  }
}
