import { limits } from '../contract/limits.ts'
import type { Service } from '../contract/services.ts'
import { serviceStatusLabels } from '../contract/labels.ts'
import type { ApiClient } from './client.ts'
import { type CliCommand, type CommandContext, exitCodes, UsageError } from './command.ts'
import { formatTable } from './terminal.ts'

export const scale: CliCommand = {
  summary: 'Sets how many replicas of an app run, or lists them.',
  usage: ['scale SLUG', 'scale SLUG N', 'scale SLUG SERVICE=N'],
  options: {},
  details: `1 to ${limits.replicas.max}, at once and without a deployment. For a worker, set services.NAME.replicas in homeport.yaml and deploy.`,
  async run(context) {
    const [slug = '', wanted, ...rest] = context.positionals
    if (slug === '' || rest.length > 0) throw new UsageError('Name a project and at most one number of replicas: homeport scale SLUG N')
    const client = context.connect()
    if (wanted !== undefined) await setReplicas(client, slug, wanted)
    const { services } = await client.call('listServices', { params: { slug } })
    const { settings } = await client.call('getProjectSettings', { params: { slug } })
    if (context.is_json) context.terminal.out(JSON.stringify({ replicas: settings.replicas, services }))
    else print(context, slug, settings.replicas, services)
    return exitCodes.success
  },
}

async function setReplicas(client: ApiClient, slug: string, wanted: string): Promise<void> {
  const { name, count = '' } = /^(?:(?<name>[^=]+)=)?(?<count>\d+)$/.exec(wanted)?.groups ?? {}
  const replicas = Number(count)
  if (count === '' || replicas < limits.replicas.min || replicas > limits.replicas.max)
    throw new UsageError(`Write a number of replicas from ${limits.replicas.min} to ${limits.replicas.max}, such as homeport scale ${slug} 3`)
  const { services } = await client.call('listServices', { params: { slug } })
  const main = services.find(({ is_main }) => is_main)?.name ?? 'web'
  if (name !== undefined && name !== main)
    throw new UsageError(
      `Only ${main}, which answers at the address of the project, is scaled by a command. For ${name}, set services.${name}.replicas in homeport.yaml and deploy.`,
    )
  await client.call('updateProjectSettings', { params: { slug }, body: { replicas } })
}

function print({ terminal }: CommandContext, slug: string, wanted: number, services: readonly Service[]): void {
  terminal.out(`${slug} has ${wanted} ${wanted === 1 ? 'replica' : 'replicas'}.`)
  const rows = services.flatMap(({ name, replicas }) =>
    replicas.map((one) => [
      name,
      String(one.replica),
      serviceStatusLabels[one.status],
      one.in_flight === null ? '-' : String(one.in_flight),
      one.memory_mb === null ? '-' : `${Math.round(one.memory_mb)} MB`,
      one.restarts === 0 ? '' : `${one.restarts} restarts`,
    ]),
  )
  if (rows.length > 0)
    for (const line of formatTable(terminal, ['SERVICE', 'REPLICA', 'STATUS', 'OPEN REQUESTS', 'MEMORY', ''], rows)) terminal.out(line)
}
