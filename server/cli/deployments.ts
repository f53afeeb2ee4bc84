import { resolve } from 'node:path'
import type { Deployment } from '../contract/deployments.ts'
import { currentLabel, deploymentStatusLabels, describeRollback, nameSource, triggerLabels } from '../contract/labels.ts'
import type { ApiClient } from './client.ts'
import { ApiError } from '../client/api-error.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { reportOutcome, followBuild } from './follow-build.ts'
import { listAllProjects } from './projects.ts'
import { downloadToFile } from './download-file.ts'
import { formatRelativeTime, formatTable } from './terminal.ts'

export const deployments: CliCommand = {
  summary: 'Lists, retries, cancels and rolls back deployments, and downloads their source.',
  usage: ['deployments SLUG', 'deployments retry|cancel|rollback [SLUG] ID', 'deployments source [SLUG] ID [--out FILE]'],
  options: {
    limit: '=N number of deployments to list (default 20)',
    status: '=STATUS queued, building, deploying, ready, failed or canceled',
    out: '=FILE file for the source (.tar.gz)',
    'no-cache': 'retry: build without results of earlier builds',
    'no-follow': 'do not wait for the new deployment to finish',
  },
  async run(context) {
    const subcommand = context.positionals[0]
    if (subcommand === 'retry' || subcommand === 'cancel' || subcommand === 'rollback') {
      if (context.positionals.length > 1) return runAction(context, subcommand)
    }
    if (subcommand === 'source' && context.positionals.length > 1) return downloadSource(context)
    return list(context)
  },
}

async function list(context: CommandContext): Promise<number> {
  const [slug = ''] = requirePositionals(context, 'SLUG')
  const limit = Number(stringFlag(context.flags, 'limit') ?? 20)
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit must be a whole number of at least 1.')
  const client = context.connect()
  const results: Deployment[] = []
  let cursor: string | undefined
  do {
    const page = await client.call('listDeployments', {
      params: { slug },
      query: { limit: String(Math.min(100, limit - results.length)), cursor, status: readStatusFlag(context) },
    })
    results.push(...page.deployments)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && results.length < limit)
  if (context.is_json) context.terminal.out(JSON.stringify({ deployments: results, next_cursor: cursor ?? null }))
  else if (results.length === 0) context.terminal.out('No deployments yet.')
  else {
    const rows = results.map((one) => [
      one.number === undefined ? '-' : `#${one.number}`,
      one.id,
      one.is_current ? `${deploymentStatusLabels[one.status]}, ${currentLabel.toLowerCase()}` : deploymentStatusLabels[one.status],
      triggerLabels[one.trigger],
      one.target === 'preview' ? (one.branch ?? '-') : 'production',
      one.commit_sha === null ? (one.source === 'git' ? '-' : nameSource(one)) : `${one.commit_sha.slice(0, 7)}${one.is_dirty ? '+' : ''}`,
      one.build_ms === null ? '-' : `${(one.build_ms / 1000).toFixed(1)} s`,
      formatRelativeTime(one.created_at, context.clock.now()),
    ])
    for (const line of formatTable(context.terminal, ['NUMBER', 'ID', 'STATUS', 'TRIGGER', 'TARGET', 'SOURCE', 'BUILD', 'CREATED'], rows))
      context.terminal.out(line)
  }
  return exitCodes.success
}

async function runAction(context: CommandContext, subcommand: 'retry' | 'cancel' | 'rollback'): Promise<number> {
  const client = context.connect()
  const params = await resolveParams(context, client, subcommand)
  if (subcommand === 'cancel') {
    const response = await client.call('cancelDeployment', { params })
    context.terminal.out(context.is_json ? JSON.stringify(response) : `Canceled ${params.id}.`)
    return exitCodes.success
  }
  if (subcommand === 'rollback' && context.flags['no-cache'] === true)
    throw new UsageError('A rollback does not build again. Use --no-cache with retry.')
  if (subcommand === 'rollback' && !context.is_json) await printRollbackPlan(context, client, params)
  const response = await (context.flags['no-cache'] === true
    ? client.call('createDeployment', { params: { slug: params.slug }, body: { deployment_id: params.id, no_cache: true } })
    : client.call(subcommand === 'retry' ? 'retryDeployment' : 'rollbackDeployment', { params }))
  if (context.flags['no-follow'] === true) {
    context.terminal.out(context.is_json ? JSON.stringify(response) : `Queued ${response.deployment_id}.`)
    return exitCodes.success
  }
  await followBuild(context, client, params.slug, response.deployment_id)
  return reportOutcome(context, client, params.slug, response.deployment_id)
}

/** Says whether the build is used again. An instance of an earlier version does not know. */
async function printRollbackPlan(context: CommandContext, client: ApiClient, params: { slug: string; id: string }): Promise<void> {
  const answer = await client.call('planRollback', { params }).catch(() => null)
  if (answer) context.terminal.out(describeRollback(answer.plan))
}

async function downloadSource(context: CommandContext): Promise<number> {
  const client = context.connect()
  const params = await resolveParams(context, client, 'source')
  const file = resolve(context.cwd, stringFlag(context.flags, 'out') ?? `${params.slug}-${params.id}.tar.gz`)
  await downloadToFile(context, file, () => client.download('downloadSource', { params }, context.signal))
  context.terminal.out(context.is_json ? JSON.stringify({ file }) : `Wrote ${file}.`)
  return exitCodes.success
}

async function resolveParams(context: CommandContext, client: ApiClient, subcommand: string): Promise<{ slug: string; id: string }> {
  const [, first = '', second] = requirePositionals(context, subcommand, '[SLUG]', '[ID]')
  return second === undefined ? { slug: await findProjectSlug(client, first), id: first } : { slug: first, id: second }
}

/** The API looks deployments up by project, so an ID alone is searched in every project. */
async function findProjectSlug(client: ApiClient, id: string): Promise<string> {
  let lastError: ApiError | undefined
  for (const { slug } of await listAllProjects(client)) {
    try {
      await client.call('getDeployment', { params: { slug, id } })
      return slug
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      lastError = error
    }
  }
  throw lastError ?? new UsageError(`There is no deployment “${id}”. List them with: homeport deployments SLUG`)
}

function readStatusFlag(context: CommandContext): Deployment['status'] | undefined {
  // The instance rejects unknown values.
  return stringFlag(context.flags, 'status') as Deployment['status'] | undefined
}
