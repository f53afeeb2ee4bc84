import type { ClusterNode } from '../contract/nodes.ts'
import { nodeAvailabilityLabels, nodeEdgeLabels, nodeRoleLabels } from '../contract/labels.ts'
import { formatJoinCommand } from '../contract/join-command.ts'
import { sleep } from '../lib/clock.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, unknownSubcommand, UsageError } from './command.ts'
import { formatTable } from './terminal.ts'

const pollInterval_ms = 1_000
/** The first token may pull and start the registry of the cluster. */
const tokenTimeout_ms = 150_000
const availabilities = { drain: 'drained', cordon: 'cordoned', activate: 'active' } as const
const actions = ['list', 'drain', 'cordon', 'activate', 'label', 'remove', 'token', 'init', 'join', 'trust', 'balance']

export const node: CliCommand = {
  summary: 'Lists, adds, drains and removes the machines of a cluster.',
  usage: [
    'node list',
    'node drain NAME [--no-wait]',
    'node cordon NAME',
    'node activate NAME',
    'node label NAME KEY=VALUE… KEY-…',
    'node remove NAME',
    'node balance',
    'node token [--manager]',
    'node join ADDRESS --token TOKEN [--registry REGISTRY] [--address ADDRESS]',
    'node trust REGISTRY',
    'node init ADDRESS',
  ],
  options: {
    'no-wait': 'drain: return before the replicas have moved',
    manager: 'token: for a manager instead of a worker',
    address: '=ADDRESS join: of this machine for the other nodes',
    registry: '=REGISTRY join: the registry of Homeport and the fingerprint of its authority',
  },
  details:
    'init makes this machine, with its address in the network of the nodes, the first node of a new cluster. drain moves the replicas of a node to others, each before the old one stops. cordon only keeps new ones away. label sets labels, which the setting node_labels of a project asks for; KEY- removes one. balance spreads replicas again, for example over a new node. token prints what to run on a machine that joins; without --token, join asks for it. join works with the Docker engine of the machine on which it runs; with --registry it needs root. trust lets that engine pull from the registry of Homeport, on a machine that joined without it. See homeport help cluster.',
  async run(context) {
    const [action = 'list', name = ''] = context.positionals
    switch (action) {
      case 'list':
        requirePositionals(context, '[list]')
        return list(context)
      case 'token':
        requirePositionals(context, 'token')
        return printToken(context)
      case 'balance':
        requirePositionals(context, 'balance')
        return balance(context)
      case 'join':
        requirePositionals(context, 'join', 'ADDRESS')
        return join(context, name)
      case 'init':
        requirePositionals(context, 'init', 'ADDRESS')
        return init(context, name)
      case 'trust':
        requirePositionals(context, 'trust', 'REGISTRY')
        return trust(context, name)
      case 'label':
        return label(context, name)
      case 'remove':
        requirePositionals(context, 'remove', 'NAME')
        return remove(context, name)
      case 'drain':
      case 'cordon':
      case 'activate':
        requirePositionals(context, action, 'NAME')
        return update(context, name, availabilities[action])
      default:
        throw unknownSubcommand(action, actions)
    }
  },
}

async function list(context: CommandContext): Promise<number> {
  const { terminal } = context
  const response = await context.connect().call('listNodes', {})
  if (context.is_json) terminal.out(JSON.stringify(response))
  else if (response.nodes.length === 0) terminal.out('This instance runs apps on one machine. homeport help cluster says how to use several.')
  else {
    const rows = response.nodes.map((one) => [
      one.name,
      one.address,
      describeRole(one),
      describeState(one),
      one.edge === null ? '-' : nodeEdgeLabels[one.edge],
      String(one.replicas.length),
      `${one.cpus}`,
      `${(one.memory_mb / 1024).toFixed(1)} GB`,
      one.engine_version ?? '-',
      formatLabels(one) || '-',
    ])
    for (const line of formatTable(terminal, ['NODE', 'ADDRESS', 'ROLE', 'STATE', 'EDGE', 'REPLICAS', 'CPUS', 'MEMORY', 'DOCKER', 'LABELS'], rows))
      terminal.out(line)
  }
  return exitCodes.success
}

const describeRole = ({ role, is_leader, is_control_plane }: ClusterNode): string =>
  [is_leader ? 'Leader' : nodeRoleLabels[role], ...(is_control_plane ? ['Homeport'] : [])].join(', ')

const describeState = ({ is_ready, availability }: ClusterNode): string => (is_ready ? nodeAvailabilityLabels[availability] : 'Down')

/** `KEY=VALUE` sets a label, and `KEY-` removes one. */
async function label(context: CommandContext, name: string): Promise<number> {
  const changes = context.positionals.slice(2)
  if (name === '' || changes.length === 0) throw new UsageError('Write the name of a node and its labels, such as: node label NAME disk=ssd')
  const labels = Object.fromEntries(
    changes.map((change): [string, string | null] => {
      const [, key, value] = /^([^=]+)=(.*)$/.exec(change) ?? []
      if (key !== undefined && value !== undefined) return [key, value]
      if (change.endsWith('-')) return [change.slice(0, -1), null]
      throw new UsageError(`“${change}” is not a label. Write KEY=VALUE, or KEY- to remove one.`)
    }),
  )
  const { node: changed } = await context.connect().call('updateNode', { params: { node: name }, body: { labels } })
  if (context.is_json) context.terminal.out(JSON.stringify({ node: changed }))
  else context.terminal.out(`${changed.name}: ${formatLabels(changed) || 'no labels'}`)
  return exitCodes.success
}

const formatLabels = ({ labels }: ClusterNode): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(', ')

async function update(context: CommandContext, name: string, availability: 'active' | 'cordoned' | 'drained'): Promise<number> {
  const { terminal, clock, signal } = context
  const client = context.connect()
  const params = { node: name }
  let { node: current } = await client.call('updateNode', { params, body: { availability } })
  if (availability === 'drained' && context.flags['no-wait'] !== true) {
    if (current.availability === 'draining' && !context.is_json)
      terminal.err(`Moving ${countReplicas(current)} to other nodes. Ctrl-C stops waiting.`)
    while (current.availability === 'draining') {
      await sleep(clock, pollInterval_ms, signal)
      const { nodes } = await client.call('listNodes', {})
      const found = nodes.find(({ id }) => id === current.id)
      if (!found) break
      current = found
    }
  }
  if (context.is_json) terminal.out(JSON.stringify({ node: current }))
  else terminal.out(`${current.name}: ${describeState(current)}, ${countReplicas(current)}.`)
  return current.availability === availability || context.flags['no-wait'] === true ? exitCodes.success : exitCodes.failure
}

const countReplicas = ({ replicas }: ClusterNode): string => `${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'}`

async function remove(context: CommandContext, name: string): Promise<number> {
  await context.connect().call('removeNode', { params: { node: name } })
  if (context.is_json) context.terminal.out(JSON.stringify({ ok: true }))
  else context.terminal.out(`Removed ${name} from the cluster. On that machine, docker swarm leave makes it independent again.`)
  return exitCodes.success
}

async function balance(context: CommandContext): Promise<number> {
  const response = await context.connect().call('balanceNodes', {})
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else if (response.moved === 0) context.terminal.out('The replicas are spread as evenly as they can be.')
  else context.terminal.out(`Moved ${response.moved} ${response.moved === 1 ? 'replica' : 'replicas'}.`)
  return exitCodes.success
}

async function printToken(context: CommandContext): Promise<number> {
  const role = context.flags.manager === true ? 'manager' : 'worker'
  const response = await context.connect().call('createJoinToken', { body: { role } }, tokenTimeout_ms)
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.err(`Run this on the machine that joins as a ${role}. Keep it secret.`)
    context.terminal.out(formatJoinCommand(response))
  }
  return exitCodes.success
}

async function join(context: CommandContext, manager: string): Promise<number> {
  const token = stringFlag(context.flags, 'token') ?? (await context.prompt('Token of the cluster: ', { is_secret: true }))?.trim()
  if (!token) throw new UsageError('There is no token. homeport node token prints it where Homeport runs.')
  // Loaded here, because no other command of a client needs Docker.
  const [{ joinSwarm }, { trustRegistry }] = await Promise.all([
    import('../runtime/swarm/join-swarm.ts'),
    import('../runtime/swarm/registry-trust.ts'),
  ])
  const registry = stringFlag(context.flags, 'registry')
  // First, because a node without it would get replicas that cannot start.
  if (registry !== undefined) await trustRegistry(registry)
  const joined = await joinSwarm({ docker_host: context.docker_host, manager, token, address: stringFlag(context.flags, 'address') })
  if (context.is_json) context.terminal.out(JSON.stringify(joined))
  else {
    context.terminal.out(`This machine is part of the cluster now, with the address ${joined.address}. homeport node list shows it.`)
    context.terminal.out('Close its ports to apps with the firewall rule of homeport help cluster.')
  }
  return exitCodes.success
}

async function trust(context: CommandContext, registry: string): Promise<number> {
  const { trustRegistry } = await import('../runtime/swarm/registry-trust.ts')
  const { host } = await trustRegistry(registry)
  if (context.is_json) context.terminal.out(JSON.stringify({ host }))
  else context.terminal.out(`The Docker engine of this machine trusts the registry at ${host} now.`)
  return exitCodes.success
}

async function init(context: CommandContext, address: string): Promise<number> {
  const { initSwarm } = await import('../runtime/swarm/join-swarm.ts')
  await initSwarm({ docker_host: context.docker_host, address })
  if (context.is_json) context.terminal.out(JSON.stringify({ address }))
  else {
    context.terminal.out(`This machine is the first node of a cluster now, with the address ${address}.`)
    context.terminal.out('Close its ports to apps with the firewall rule of homeport help cluster, then run: npx homeport serve --runtime swarm')
  }
  return exitCodes.success
}
