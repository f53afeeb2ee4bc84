import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Deployment } from '../contract/deployments.ts'
import { servicePresets } from '../contract/service-presets.ts'
import {
  compareSettings,
  compareVariables,
  listMissingSettings,
  readPromotedSettings,
  reversedChanges,
  selectedChanges,
} from '../client/promotion/compare.ts'
import { chooseParts, listNotCopied, offerParts, type PartChoice, type PartOffer } from '../client/promotion/parts.ts'
import { type PromotionReportLine, putReportLine, reportOutcomeLabels } from '../client/promotion/report.ts'
import type { DumpedService, PromotionProgress, PromotionRequest, PromotionStepContext } from '../client/promotion/request.ts'
import { loadSourceProject, loadTargetProject, type SourceProject } from '../client/promotion/sides.ts'
import { promotionStepNames, promotionSteps } from '../client/promotion/steps.ts'
import type { ApiClient } from './client.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'
import { selectRemote } from './instances.ts'
import { createPromotionFiles } from './promotion-client.ts'
import { formatBytes } from './terminal.ts'

const options = {
  slug: '=OTHER slug of the project on the other instance (default: the same)',
  variables: '=KEYS variables whose values are copied, separated by commas, or all',
  volumes: '=NAMES volumes whose files are copied, separated by commas, or all, or none',
  databases: '=NAMES data to copy: postgresql, mariadb, all or none',
  'replace-data': 'replace data on the other instance; a snapshot or dump of it is taken first',
  'keep-settings': 'keep the settings of an existing project',
}
const details = [
  'The other instance gets the source of the current version, the settings, the managed services, the database and the kept paths, and builds it.',
  'Values of variables, files of volumes and data of databases are copied only when you name them; on a terminal, you are asked for each.',
  'At the end, it lists what was copied, what was not, and why. After a failure, run the same command again. INSTANCE is an ID, a name or a URL of homeport instances.',
].join('\n')

export const promote: CliCommand = {
  summary: 'Sends a project to another instance.',
  usage: ['promote SLUG INSTANCE [--slug OTHER] [--variables KEYS|all] [--volumes NAMES|all] [--databases NAMES|all] [--replace-data]'],
  options,
  details,
  run: (context) => run(context, 'promote'),
}

export const pull: CliCommand = {
  summary: 'Fetches a project from another instance.',
  usage: ['pull SLUG INSTANCE [--slug OTHER] [--variables KEYS|all] [--volumes NAMES|all] [--databases NAMES|all] [--replace-data]'],
  options,
  details,
  run: (context) => run(context, 'pull'),
}

async function run(context: CommandContext, kind: 'promote' | 'pull'): Promise<number> {
  const [slug = '', selector = ''] = requirePositionals(context, 'SLUG', 'INSTANCE')
  const own = context.connect()
  const remote = await selectRemote(context, selector)
  const other = own.through(remote.id)
  const [from, to] = kind === 'promote' ? [own, other] : [other, own]
  const names = kind === 'promote' ? { from: 'this instance', to: remote.name } : { from: remote.name, to: 'this instance' }
  const files = await createPromotionFiles()
  try {
    return await promoteProject(context, { from, to, names, slug, target: stringFlag(context.flags, 'slug') ?? slug, files })
  } finally {
    await files.remove()
  }
}

interface PromotionSides {
  from: ApiClient
  to: ApiClient
  names: { from: string; to: string }
  slug: string
  /** Its slug on the target. */
  target: string
  files: Awaited<ReturnType<typeof createPromotionFiles>>
}

async function promoteProject(context: CommandContext, { from, to, names, slug, target, files }: PromotionSides): Promise<number> {
  const { terminal, signal, flags } = context
  const [ours, theirs] = [files.connect(from), files.connect(to)]
  const [source, there] = await Promise.all([loadSourceProject(ours, slug, null, signal), loadTargetProject(theirs, target, signal)])
  const origin = chooseSource(source, there.is_instance ? names.from : null)
  if (origin.kind === 'git' && there.project && there.project.repo_url !== origin.repo_url)
    throw new UsageError(`The project ${target} on ${names.to} has another repository. Name another one with --slug.`)

  const settings = readPromotedSettings(source.project, source)
  const theirSettings = there.project ? readPromotedSettings(there.project, there) : null
  const rows = compareSettings(settings, theirSettings)
  const variables = compareVariables(source.variables, there.variables)
  const offer = offerParts(source, there)
  const chosenVariables = readNames(
    flags.variables,
    'variables',
    variables.filter(isCopyable).map(({ key }) => key),
  )
  const parts = chooseParts(source, offer, await chooseData(context, offer))
  const request: PromotionRequest = {
    from: { client: ours, slug },
    to: { client: theirs, slug: target },
    source: origin,
    new_name: there.project ? null : source.project.name,
    settings: flags['keep-settings'] === true ? {} : selectedChanges(rows, new Set(rows.map(({ setting }) => setting))),
    before: reversedChanges(rows),
    variables: chosenVariables,
    parts,
  }
  const missingSettings = theirSettings ? listMissingSettings(settings, theirSettings) : []
  const notCopied = listNotCopied(source, { variables, chosenVariables, missingSettings, offer, parts })
  const done = await runSteps(context, request)
  const deployment = await waitForDeployment(context, to, target, done)
  const report = (done.report ?? []).reduce(putReportLine, notCopied)
  if (context.is_json) terminal.out(JSON.stringify({ deployment, report }))
  else {
    terminal.out(deployment.status === 'ready' ? `${target} is live on ${names.to}.` : `The deployment on ${names.to} is ${deployment.status}.`)
    printReport(context, report)
  }
  return deployment.status === 'ready' ? exitCodes.success : exitCodes.failure
}

const isCopyable = ({ difference, is_write_only }: { difference: string; is_write_only?: true }): boolean =>
  difference === 'only_here' && is_write_only !== true

function chooseSource({ is_instance, deployment, project }: SourceProject, fromName: string | null): PromotionRequest['source'] {
  if (is_instance && deployment) {
    const { commit_sha, commit_message, commit_author } = deployment
    const message = commit_message?.split('\n')[0]?.trim() || `Promoted from ${fromName}`
    const commit = { ...(commit_sha !== null && { commit_sha }), commit_message: message, ...(commit_author !== null && { commit_author }) }
    return { kind: 'archive', deployment_id: deployment.id, ...(fromName !== null && { commit }) }
  }
  if (is_instance) throw new UsageError('This project has no ready deployment. Deploy it first.')
  if (project.repo_url === null)
    throw new UsageError('That account does not provide sources and this project has no Git URL, so it cannot be copied.')
  return { kind: 'git', repo_url: project.repo_url, repo_branch: project.repo_branch }
}

/** A list of names, or `all`. */
function readNames<Name extends string>(flag: string | boolean | undefined, option: string, known: readonly Name[]): Set<Name> {
  if (typeof flag !== 'string' || flag === 'none') return new Set()
  if (flag === 'all') return new Set(known)
  const wanted = flag.split(',').map((name) => name.trim())
  const unknown = wanted.find((name) => !known.some((one) => one === name))
  if (unknown !== undefined) throw new UsageError(`--${option}: “${unknown}” cannot be copied. Available: ${known.join(', ') || 'none'}.`)
  return new Set(known.filter((name) => wanted.includes(name)))
}

/** The named volumes; on a terminal, the user is asked about the others. */
async function chooseData(context: CommandContext, { volumes, database, dumps }: PartOffer): Promise<PartChoice> {
  const { flags, terminal } = context
  const asks = terminal.is_interactive && !context.is_json
  const ask = async (what: string): Promise<boolean> => /^y(es)?$/i.test((await context.prompt(`Copy ${what}? [y/N] `))?.trim() ?? '')
  const databaseNames = [...(database ? ['postgresql'] : []), ...dumps.map(({ service }) => service)]
  const chosenVolumes = readNames(
    flags.volumes,
    'volumes',
    volumes.map(({ name }) => name),
  )
  const chosenDatabases = readNames(flags.databases, 'databases', databaseNames)
  if (asks && flags.volumes === undefined)
    for (const { name, size_bytes } of volumes)
      if (await ask(`the files of the volume ${name}${size_bytes === null ? '' : ` (${formatBytes(size_bytes)})`}`)) chosenVolumes.add(name)
  if (asks && flags.databases === undefined) {
    if (database && (await ask(`the data of PostgreSQL${database.size_bytes === null ? '' : ` (${formatBytes(database.size_bytes)})`}`)))
      chosenDatabases.add('postgresql')
    for (const { service } of dumps) if (await ask(`the data of ${servicePresets[service].label}`)) chosenDatabases.add(service)
  }
  return {
    volumes: chosenVolumes,
    copies_database: chosenDatabases.has('postgresql'),
    copied_services: new Set(dumps.map(({ service }): DumpedService => service).filter((service) => chosenDatabases.has(service))),
    replaces_data: flags['replace-data'] === true,
  }
}

async function runSteps({ terminal, signal }: CommandContext, request: PromotionRequest): Promise<PromotionProgress> {
  const done: PromotionProgress = {}
  const steps: PromotionStepContext = {
    signal,
    onProgress() {},
    persist() {},
    pause: (ms) => wait(ms, undefined, { signal }),
    createKey: randomUUID,
  }
  for (const name of promotionStepNames(request)) {
    terminal.err(stepTexts[name])
    const { note } = await promotionSteps[name](request, done, steps)
    if (note !== '') terminal.err(`  ${note}`)
  }
  return done
}

const stepTexts: Record<ReturnType<typeof promotionStepNames>[number], string> = {
  source: 'Fetching the source',
  project: 'Preparing the project',
  services: 'Adding services',
  volumes: 'Copying volumes',
  database: 'Copying the database',
  variables: 'Copying variables',
  upload: 'Uploading the source',
  deploy: 'Starting the deployment',
  data: 'Waiting for the deployment, then copying data',
}

const poll_ms = 1_000

async function waitForDeployment(
  { terminal, signal }: CommandContext,
  client: ApiClient,
  slug: string,
  done: PromotionProgress,
): Promise<Deployment> {
  const params = { slug, id: done.deployment_id ?? '' }
  terminal.err(`Deploying as ${params.id}`)
  for (;;) {
    const { deployment } = await client.call('getDeployment', { params, query: { build_log: 'false' } })
    if (deployment.finished_at !== null) return deployment
    await wait(poll_ms, undefined, { signal })
  }
}

function printReport({ terminal }: CommandContext, report: PromotionReportLine[]): void {
  for (const outcome of ['copied', 'kept', 'not_copied'] as const) {
    const lines = report.filter((line) => line.outcome === outcome)
    if (lines.length === 0) continue
    terminal.out(`${reportOutcomeLabels[outcome]}:`)
    for (const { item, note } of lines) terminal.out(`  ${item}: ${note}`)
  }
}
