import { cronRunStatusLabels, serviceKindLabels, serviceStatusLabels } from '../contract/labels.ts'
import { isPresetName, presetNames } from '../contract/service-presets.ts'
import type { CronRun, Service } from '../contract/services.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, unknownSubcommand, UsageError } from './command.ts'
import { formatRelativeTime, formatTable } from './terminal.ts'

export const services: CliCommand = {
  summary: 'Lists the services of a project, restarts one, runs cron services, and adds Redis, MariaDB or S3 storage.',
  usage: ['services SLUG', 'services SLUG add|remove [NAME]', 'services SLUG restart NAME', 'services SLUG run|runs NAME'],
  options: { branch: '=NAME the preview of this branch' },
  details:
    'add without NAME lists the managed services. run starts a cron service now; runs lists its runs. homeport logs SLUG --service NAME prints the log of a service.',
  async run(context) {
    const [slug = '', action, name = ''] = context.positionals
    if (action === undefined) return list(context, requirePositionals(context, 'SLUG')[0] ?? '')
    if (action === 'add' && name === '') return listManaged(context, slug)
    if (name === '') throw new UsageError(`Add the name of the service: homeport services ${slug} ${action} NAME`)
    if (action === 'restart') return restart(context, slug, name)
    if (action === 'run') return runNow(context, slug, name)
    if (action === 'runs') return listRuns(context, slug, name)
    if (action === 'add' || action === 'remove') return changeManaged(context, slug, action, name)
    throw unknownSubcommand(action, ['add', 'remove', 'restart', 'run', 'runs'])
  },
}

async function list(context: CommandContext, slug: string): Promise<number> {
  const { terminal, clock } = context
  const response = await context.connect().call('listServices', { params: { slug }, query: { branch: stringFlag(context.flags, 'branch') } })
  if (context.is_json) terminal.out(JSON.stringify(response))
  else if (response.services.length === 0) terminal.out('This project is one app. See homeport help services for workers, cron jobs and more.')
  else {
    const rows = response.services.flatMap((one) => [
      [one.name, serviceKindLabels[one.kind], describeStatus(one), one.url ?? one.internal_url ?? '-', describeDetail(one, clock.now())],
      ...one.ports.map(({ port, url }) => ['', '', '', url ?? '-', `port ${port}${url === null ? ', whose address is taken' : ''}`]),
    ])
    for (const line of formatTable(terminal, ['NAME', 'KIND', 'STATUS', 'ADDRESS', ''], rows)) terminal.out(line)
    if (response.release_command !== null) terminal.out(`Release command: ${response.release_command}`)
  }
  return exitCodes.success
}

const describeStatus = ({ status, restarts, last_exit_code }: Service): string =>
  `${serviceStatusLabels[status]}${restarts > 0 ? `, ${restarts} ${restarts === 1 ? 'restart' : 'restarts'} (exit code ${last_exit_code ?? 'unknown'})` : ''}`

function describeDetail({ schedule, status, next_run_at, last_run, image, volumes, health_check }: Service, now: number): string {
  if (schedule !== null) {
    const next = next_run_at === null ? (status === 'stopped' ? ', only in production' : '') : `, next at ${next_run_at}`
    return `${schedule}${next}${last_run ? `, last ${cronRunStatusLabels[last_run.status].toLowerCase()} ${formatRelativeTime(last_run.scheduled_at, now)}` : ''}`
  }
  const check = health_check && `checked within ${health_check.timeout_s} s${health_check.path === null ? '' : ` by GET ${health_check.path}`}`
  return [...(image === null ? [] : [image]), ...volumes.map(({ name, path }) => `${name} at ${path}`), ...(check === null ? [] : [check])].join(', ')
}

async function listManaged(context: CommandContext, slug: string): Promise<number> {
  const { terminal } = context
  const response = await context.connect().call('listManagedServices', { params: { slug } })
  if (context.is_json) terminal.out(JSON.stringify(response))
  else {
    const rows = response.services.map((one) => [
      one.name,
      one.is_added ? 'added' : one.has_data ? 'removed, data kept' : '-',
      one.image,
      one.variables.join(', '),
    ])
    for (const line of formatTable(terminal, ['NAME', 'STATUS', 'IMAGE', 'VARIABLES'], rows)) terminal.out(line)
    if (response.unavailable !== null) terminal.out(response.unavailable)
  }
  return exitCodes.success
}

async function changeManaged(context: CommandContext, slug: string, action: 'add' | 'remove', value: string): Promise<number> {
  if (!isPresetName(value)) throw new UsageError(`Unknown service “${value}”. Use ${presetNames.slice(0, -1).join(', ')} or ${presetNames.at(-1)}.`)
  const client = context.connect()
  const response =
    action === 'add'
      ? await client.call('addManagedService', { params: { slug }, body: { name: value } })
      : await client.call('removeManagedService', { params: { slug, name: value } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    const { service, deployment_id } = response
    context.terminal.out(
      action === 'add'
        ? `${service.label} is a service of ${slug}. Apps get ${service.variables.join(', ')}.`
        : `Removed ${service.label} from ${slug}. Its data is kept until the project is deleted.`,
    )
    if (deployment_id !== null) context.terminal.out(`Deploying ${deployment_id}. Follow it with homeport logs ${slug} --build ${deployment_id}.`)
  }
  return exitCodes.success
}

async function restart(context: CommandContext, slug: string, name: string): Promise<number> {
  await context.connect().call('restartService', { params: { slug, name }, query: { branch: stringFlag(context.flags, 'branch') } })
  if (context.is_json) context.terminal.out(JSON.stringify({ ok: true }))
  else context.terminal.out(`Restarted ${name}.`)
  return exitCodes.success
}

async function runNow(context: CommandContext, slug: string, name: string): Promise<number> {
  const { run } = await context.connect().call('runCronService', { params: { slug, name } })
  if (context.is_json) context.terminal.out(JSON.stringify({ run }))
  else
    context.terminal.out(
      run.status === 'skipped' ? `Not started: ${run.message}` : `Started ${name}. Follow it with homeport logs ${slug} --service ${name} --follow.`,
    )
  return exitCodes.success
}

async function listRuns(context: CommandContext, slug: string, name: string): Promise<number> {
  const response = await context.connect().call('listCronRuns', { params: { slug, name } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else if (response.runs.length === 0) context.terminal.out('No runs yet.')
  else {
    const rows = response.runs.map((run) => [run.scheduled_at, cronRunStatusLabels[run.status], formatDuration(run), run.message ?? ''])
    for (const line of formatTable(context.terminal, ['DUE', 'STATUS', 'TIME', ''], rows)) context.terminal.out(line)
  }
  return exitCodes.success
}

const formatDuration = ({ started_at, finished_at }: CronRun): string =>
  started_at === null || finished_at === null ? '-' : `${((Date.parse(finished_at) - Date.parse(started_at)) / 1_000).toFixed(1)} s`
