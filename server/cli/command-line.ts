import { version } from '../contract/index.ts'
import { activity } from './activity.ts'
import { backup, backups } from './backup.ts'
import { billing } from './billing.ts'
import { buildCache } from './build-cache.ts'
import { cache } from './cache.ts'
import type { ApiClient } from './client.ts'
import { ApiError } from '../client/api-error.ts'
import { type CommandContext, type CliCommand, exitCodes, type Flags, formatCommandHelp, formatUsage, parseArguments, UsageError } from './command.ts'
import { config } from './config.ts'
import { db } from './db.ts'
import { deploy } from './deploy.ts'
import { deployments } from './deployments.ts'
import { dev } from './dev.ts'
import { disk } from './disk.ts'
import { dockerfile } from './dockerfile.ts'
import { expose } from './expose.ts'
import { domains } from './domains.ts'
import { doctor } from './doctor.ts'
import { env } from './env.ts'
import { fork } from './fork.ts'
import { createHelpCommand } from './help.ts'
import { hooks } from './hooks.ts'
import { hosts } from './hosts.ts'
import { instances } from './instances.ts'
import { lan } from './lan.ts'
import { logs } from './logs.ts'
import { mail } from './mail.ts'
import { mcp } from './mcp.ts'
import { metrics } from './metrics.ts'
import { drains } from './drains.ts'
import { node } from './node.ts'
import { notifications } from './notifications.ts'
import { open } from './open.ts'
import { password } from './password.ts'
import { plan } from './plan.ts'
import { previews } from './previews.ts'
import { promote, pull } from './promote.ts'
import { services } from './services.ts'
import { volumes } from './volumes.ts'
import { projects } from './projects.ts'
import { registries } from './registries.ts'
import { requests } from './requests.ts'
import { traces } from './traces.ts'
import { restore } from './restore.ts'
import { run, shell } from './run.ts'
import { samples } from './samples.ts'
import { scale } from './scale.ts'
import { settings } from './settings.ts'
import { team } from './team.ts'
import { tokens } from './tokens.ts'
import { trust } from './trust.ts'
import { user } from './user.ts'

/** The commands that call the API. `serve` is passed in separately, because it loads the platform. */
export const clientCommands = {
  deploy,
  dev,
  expose,
  fork,
  samples,
  dockerfile,
  config,
  plan,
  projects,
  deployments,
  previews,
  run,
  shell,
  services,
  scale,
  volumes,
  registries,
  mail,
  logs,
  requests,
  traces,
  activity,
  notifications,
  drains,
  hooks,
  env,
  domains,
  db,
  cache,
  'build-cache': buildCache,
  metrics,
  lan,
  trust,
  hosts,
  password,
  open,
  doctor,
  disk,
  user,
  team,
  tokens,
  mcp,
  instances,
  node,
  promote,
  pull,
  billing,
  settings,
  backup,
  backups,
  restore,
} satisfies Record<string, CliCommand>

/** The command context without the parts that are parsed from the arguments. */
export type CommandEnvironment = Omit<CommandContext, 'positionals' | 'flags' | 'program' | 'is_json' | 'connect' | 'openUrl'> & {
  connect(flags: Flags): ApiClient
  openUrl(flags: Flags, ...rest: Parameters<CommandContext['openUrl']>): Promise<boolean>
}

/** Runs one command and returns its exit code. Errors are printed on standard error. */
export async function runCommandLine(
  args: string[],
  environment: CommandEnvironment,
  hostCommands: Record<'serve' | 'standby', CliCommand>,
): Promise<number> {
  const commands: Record<string, CliCommand> = { serve: hostCommands.serve, ...clientCommands, standby: hostCommands.standby }
  commands.help = createHelpCommand(commands, () => formatOverview(commands))
  const { terminal } = environment
  const [name, ...rest] = args
  if (name === '--version' || name === '-v') {
    terminal.out(version)
    return exitCodes.success
  }
  if (name === undefined || name === '--help' || name === '-h') {
    terminal[name === undefined ? 'err' : 'out'](formatOverview(commands))
    return name === undefined ? exitCodes.usage : exitCodes.success
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    terminal.err(`Unknown command “${name}”. homeport --help lists all commands.`)
    return exitCodes.usage
  }
  let json = rest.includes('--json')
  try {
    const { positionals, flags, program } = parseArguments(command, rest)
    if (flags.help === true) {
      terminal.out(formatCommandHelp(name, command))
      return exitCodes.success
    }
    json = flags.json === true
    return await command.run({
      ...environment,
      positionals,
      flags,
      program,
      is_json: json,
      connect: (url) => environment.connect(url === undefined ? flags : { ...flags, url }),
      openUrl: (url, options) => environment.openUrl(flags, url, options),
    })
  } catch (error) {
    return reportError(error, name, command, json, environment)
  }
}

function reportError(error: unknown, name: string, command: CliCommand, json: boolean, { terminal, signal }: CommandEnvironment): number {
  if (error instanceof UsageError) {
    terminal.err(
      json
        ? JSON.stringify({ error: 'usage', message: error.message })
        : `${error.message}\n\n${formatUsage(command)}\n\nhomeport ${name} --help shows all options.`,
    )
    return exitCodes.usage
  }
  if (error instanceof ApiError && error.code === 'unreachable') {
    terminal.err(json ? JSON.stringify({ error: 'not_reachable', message: error.message }) : error.message)
    return exitCodes.unreachable
  }
  if (error instanceof ApiError) {
    if (json) terminal.err(JSON.stringify({ error: error.code, message: error.message, issues: error.issues, request_id: error.request_id }))
    else {
      terminal.err(`${error.code}: ${error.message}`)
      for (const { path, message } of error.issues) if (!error.message.includes(message)) terminal.err(`  ${path}: ${message}`)
      if (error.request_id !== null) terminal.err(`Request ID: ${error.request_id}`)
    }
    return exitCodes.failure
  }
  if (!signal.aborted) terminal.err(error instanceof Error ? error.message : String(error))
  return exitCodes.failure
}

function formatOverview(commands: Record<string, CliCommand>): string {
  return [
    'Homeport: a deployment platform on your own machine.',
    '',
    'Usage: homeport COMMAND [options]',
    '',
    ...Object.entries(commands).map(([name, command]) => `  ${name.padEnd(14)}${command.summary}`),
    '',
    'homeport COMMAND --help shows the options of a command, homeport help lists guides.\nExit codes: 0 success, 1 failure, 2 usage error, 3 instance unreachable.',
  ].join('\n')
}
