import { resolve } from 'node:path'
import type { PlannedSource } from '../contract/source-plans.ts'
import { type CliCommand, type CommandContext, exitCodes, stringFlag, UsageError } from './command.ts'
import { printFacts } from './print-plan.ts'

export const plan: CliCommand = {
  summary: 'Shows what a deployment of a folder, a repository or a project would do, without deploying.',
  usage: ['plan [PATH]', 'plan URL [--branch NAME]', 'plan --project SLUG'],
  options: {
    project: '=SLUG the linked repository of this project, with its settings',
    branch: '=NAME branch of the repository (default: main)',
    'root-directory': '=FOLDER folder of the app in the source',
    yaml: 'print an equivalent homeport.yaml',
  },
  details:
    'Lists the services and managed services, and every fact with the file, the line or the default that it comes from. Exits with 1 if the source cannot be deployed. A folder must be on the machine of the instance; homeport config check needs no instance.',
  async run(context) {
    const { positionals, flags, terminal, is_json } = context
    if (positionals.length > 1) throw new UsageError('Too many arguments.')
    const planned = await fetchPlan(context, positionals[0])
    const isPossible = planned.problems.length === 0
    if (is_json) terminal.out(JSON.stringify({ plan: planned }))
    else if (!isPossible) printProblems(context, planned)
    else if (flags.yaml === true) terminal.out((planned.homeport_yaml ?? '').trimEnd())
    else printPlan(context, planned)
    return isPossible ? exitCodes.success : exitCodes.failure
  },
}

async function fetchPlan(context: CommandContext, target: string | undefined): Promise<PlannedSource> {
  const { flags, cwd } = context
  const slug = stringFlag(flags, 'project')
  const branch = stringFlag(flags, 'branch')
  const root_directory = stringFlag(flags, 'root-directory')
  const isAddress = target !== undefined && isRepositoryAddress(target)
  if (slug !== undefined && target !== undefined) throw new UsageError('Give a folder, a repository or a project, but only one of them.')
  if (branch !== undefined && !isAddress) throw new UsageError('--branch needs the URL of a repository.')
  const client = context.connect()
  if (slug !== undefined) return (await client.call('planProject', { params: { slug }, body: { root_directory } }, planTimeout_ms)).plan
  if (isAddress)
    return (await client.call('planRepository', { body: { repo_url: target, repo_branch: branch, root_directory } }, planTimeout_ms)).plan
  return (await client.call('planFolder', { body: { path: resolve(cwd, target ?? '.'), root_directory } })).plan
}

/** The instance fetches for three minutes at most, and two repositories at once. */
const planTimeout_ms = 10 * 60_000

/** `https://…`, `ssh://…`, or `user@host:path`. */
const isRepositoryAddress = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text) || /^[\w.-]+@[\w.-]+:/.test(text)

function printProblems({ terminal }: CommandContext, { problems, apps }: PlannedSource): void {
  for (const { file, line, message, hint } of problems)
    terminal.err(`${file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `}${message} ${hint}`)
  if (apps.length > 0) terminal.err(`Apps in this source, for --root-directory: ${apps.map(({ directory }) => directory).join(', ')}`)
}

function printPlan({ terminal }: CommandContext, planned: PlannedSource): void {
  const { file, commit, notes, missing_variables, managed } = planned
  const source = file === null ? 'Detected from the files' : `Read from ${file}`
  terminal.out(commit === null ? `${source}.` : `${source}, commit ${commit.sha.slice(0, 7)} of ${commit.branch}.`)
  printFacts(planned, terminal)
  for (const note of notes) terminal.out(note)
  const added = managed.filter(({ is_added }) => !is_added).map(({ label }) => label)
  if (added.length > 0) terminal.out(`A production deployment adds ${added.join(', ')}.`)
  if (missing_variables.length > 0) terminal.out(`The project must have these variables: ${missing_variables.join(', ')}`)
}
