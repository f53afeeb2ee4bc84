import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BuildSettings, SourcePlan } from '../contract/build-plan.ts'
import { createHomeportSchema } from '../contract/homeport-yaml.ts'
import type { ProjectConfig } from '../contract/project-config.ts'
import { type CliCommand, type CommandContext, exitCodes, UsageError } from './command.ts'
import { printFacts } from './print-plan.ts'

const defaultUrl = 'http://127.0.0.1:4600'
const auto: BuildSettings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' }

export const config: CliCommand = {
  summary: 'Checks or writes homeport.yaml, the file in which a source describes its services.',
  usage: ['config check [PATH]', 'config init [PATH]', 'config schema'],
  options: { force: 'init: replace an existing homeport.yaml' },
  details:
    'check reads the configuration of a folder (homeport.yaml, else compose.yaml, Procfile and others), lists each line that cannot be used, and lists each setting with the file, the line or the default that it comes from. init writes a homeport.yaml with the same services, or with those that are detected. schema prints the JSON Schema of the file. None of these needs a running instance.',
  async run(context) {
    const [action, path, ...rest] = context.positionals
    if (rest.length > 0 || (action === 'schema' && path !== undefined)) throw new UsageError('Too many arguments.')
    const folder = resolve(context.cwd, path ?? '.')
    if (action === 'check') return check(folder, context)
    if (action === 'init') return init(folder, context)
    if (action !== 'schema') throw new UsageError('Use config check, config init or config schema.')
    context.terminal.out(JSON.stringify(createHomeportSchema(), null, context.is_json ? undefined : 2))
    return exitCodes.success
  },
}

type Plan = { source: ProjectConfig; plan: SourcePlan } | { failure: Failure }
interface Failure {
  file: string | null
  message: string
  hint: string
  problems: readonly { line: number | null; column: number | null; message: string; hint: string }[]
}

async function read(folder: string): Promise<Plan> {
  if (!existsSync(folder)) throw new UsageError(`There is no folder ${folder}.`)
  // Loaded here, because few commands need it.
  const { ConfigFailure, DetectFailure, planSource, readProjectConfig } = await import('../builder/index.ts')
  try {
    const source = await readProjectConfig(folder)
    return { source, plan: await planSource({ folder, settings: auto }) }
  } catch (error) {
    if (!(error instanceof DetectFailure)) throw error
    const { message, hint } = error
    const details = error instanceof ConfigFailure ? { file: error.file, problems: error.problems } : { file: null, problems: [] }
    return { failure: { ...details, message, hint } }
  }
}

function printFailure({ terminal, is_json }: CommandContext, failure: Failure): number {
  const { file, message, hint, problems } = failure
  if (is_json) {
    const listed = problems.length > 0 ? problems : [{ line: null, column: null, message, hint }]
    terminal.out(JSON.stringify({ file, is_valid: false, problems: listed, config: null }))
  } else if (problems.length === 0) terminal.err(`${message} ${hint}`)
  else {
    for (const { line, column, ...problem } of problems)
      terminal.err(`${file}${line === null ? '' : `:${line}:${column}`}: ${problem.message} ${problem.hint}`)
    terminal.err(`${file} has ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}.`)
  }
  return exitCodes.failure
}

async function check(folder: string, context: CommandContext): Promise<number> {
  const { terminal, is_json } = context
  const result = await read(folder)
  if ('failure' in result) return printFailure(context, result.failure)
  const { source, plan: sourcePlan } = result
  const { describeSource } = await import('../builder/index.ts')
  const planned = await describeSource({ folder, settings: auto, variables: [], health_path: '/', schema_url: '' })
  if (is_json) {
    const { services, builds, managed, facts, apps } = planned
    const plan = { services, builds, managed, facts, apps }
    terminal.out(JSON.stringify({ file: source.file, is_valid: true, problems: [], config: source, plan }))
    return exitCodes.success
  }
  if (source.file === null) terminal.out('No configuration file: one web service, detected from the source.')
  for (const sentence of source.explanation) terminal.out(sentence)
  for (const { services, plan: build } of sourcePlan.builds) {
    if (services.length > 0) terminal.out(`Build of ${services.join(', ')}:`)
    for (const sentence of build.explanation) terminal.out(services.length > 0 ? `  ${sentence}` : sentence)
  }
  printFacts(planned, terminal)
  if (source.required_variables.length > 0) terminal.out(`The project must have these variables: ${source.required_variables.join(', ')}`)
  terminal.out(source.file === null ? 'homeport config init writes a homeport.yaml for it.' : `${source.file} is valid.`)
  return exitCodes.success
}

async function init(folder: string, context: CommandContext): Promise<number> {
  const { terminal, is_json, flags } = context
  const target = join(folder, 'homeport.yaml')
  const existing = ['homeport.yaml', 'homeport.yml'].find((name) => existsSync(join(folder, name)))
  if (existing !== undefined && !flags.force) {
    terminal.err(`${existing} already exists. Check it with homeport config check, or replace it with --force.`)
    return exitCodes.failure
  }
  const result = await read(folder)
  if ('failure' in result) return printFailure(context, result.failure)
  const { formatHomeportYaml, createWebService } = await import('../builder/index.ts')
  const { source, plan } = result
  const found = source.services.length > 0 ? source : { ...source, main: 'web', services: [createWebService()] }
  const build_notes = new Map(plan.builds.map(({ services, plan: build }) => [services[0] ?? 'web', build.explanation.slice(0, 1)]))
  writeFileSync(target, formatHomeportYaml(found, { schema_url: `${findUrl(context)}/schemas/homeport.json`, build_notes }))
  const services = found.services.map(({ name }) => name)
  if (is_json) terminal.out(JSON.stringify({ file: 'homeport.yaml', from: source.file, services }))
  else terminal.out(`Wrote homeport.yaml${source.file === null ? '' : ` from ${source.file}`}: ${services.join(', ')}.`)
  return exitCodes.success
}

/** The address of a running instance, which serves the schema; else the default one. */
function findUrl(context: CommandContext): string {
  try {
    return context.connect().url
  } catch {
    return defaultUrl
  }
}
