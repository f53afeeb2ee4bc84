import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from './runtime.ts'

/** Not the temporary folder of the tests, which is in memory. */
const folder = '/var/tmp'
const script = join(import.meta.dirname, '../machine/cluster.sh')

export interface TestSwarm {
  /** The engine of a node, from 1. The first one is a manager. */
  socket(node: number): string
  /** The same as a template for mounts, because the nodes share the file system of this machine. */
  node_socket: string
  /** The address of a node in the network between them. */
  address(node: number): string
  /** The address of this machine in that network. */
  machine_address: string
  /** A registry without TLS and credentials, as `host:port`. */
  registry: string
  /** The environment of docker commands for a node. */
  docker(node: number, args: string[]): Promise<string>
  /** Loads an image of this machine onto a node. */
  load(node: number, image: string): Promise<void>
  /** What runs a program in the network of a node. */
  inNetworkOf(node: number): string[]
  /** Runs a program in the network of a node. */
  runOn(node: number, args: string[]): Promise<string>
  run(command: 'node-kill' | 'node-start' | 'node-disconnect' | 'node-reconnect', node: number): Promise<void>
  remove(): Promise<void>
}

/** Folders of clusters whose test has died. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('homeport-swarm-')) continue
    const base = join(folder, name)
    const owner = Number(await readFile(join(base, 'owner'), 'utf8').catch(() => '0'))
    if (owner > 0 && existsSync(`/proc/${owner}`)) continue
    await runProgram('bash', [script, 'down'], createEnvironment(Number(name.slice('homeport-swarm-'.length)))).catch(() => {})
    await rm(base, { recursive: true, force: true })
  }
}

const createEnvironment = (number: number): Record<string, string> => ({
  SWARM_TEST_BASE: join(folder, `homeport-swarm-${number}`),
  SWARM_TEST_PREFIX: `hps${number}`,
  SWARM_TEST_NET: `10.97.${number}`,
})

/** A swarm of engines of its own; without managers, engines that are in no swarm. Its first node has `images`. The machine's engine is not touched. */
export async function startSwarm(nodes: number, managers = nodes, images = ['node:24-bookworm-slim']): Promise<TestSwarm> {
  await removeAbandoned()
  let number = 1
  // Two tests that begin at the same time do not get the same folder.
  for (; ; number++) {
    const claimed = await mkdir(join(folder, `homeport-swarm-${number}`)).then(
      () => true,
      () => false,
    )
    if (claimed) break
  }
  const environment = createEnvironment(number)
  const base = environment.SWARM_TEST_BASE!
  await writeFile(join(base, 'owner'), String(process.pid))
  for (let node = 1; node <= nodes; node++) await symlink(`n${node}`, join(base, `${environment.SWARM_TEST_PREFIX}-n${node}`))
  const swarm: TestSwarm = {
    socket: (node) => join(base, `n${node}/docker.sock`),
    node_socket: join(base, '{{.Node.Hostname}}/docker.sock'),
    address: (node) => `10.97.${number}.10${node}`,
    machine_address: `10.97.${number}.254`,
    registry: `10.97.${number}.1:5000`,
    docker: (node, args) => runProgram('docker', ['-H', `unix://${swarm.socket(node)}`, ...args]),
    load: async (node, image) => void (await runProgram('bash', [script, 'load', image, String(node)], environment)),
    inNetworkOf: (node) => ['nsenter', `--net=/run/netns/${environment.SWARM_TEST_PREFIX}-n${node}`],
    runOn(node, args) {
      const [program = '', ...words] = swarm.inNetworkOf(node)
      return runProgram(program, [...words, ...args])
    },
    run: async (command, node) => void (await runProgram('bash', [script, command, String(node)], environment)),
    async remove() {
      await runProgram('bash', [script, 'down'], environment)
      await rm(base, { recursive: true, force: true })
    },
  }
  await runProgram('bash', [script, 'up', String(nodes), String(managers)], environment)
  for (const image of images) await swarm.load(1, image)
  return swarm
}
