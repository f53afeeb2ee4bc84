import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Clock } from '../lib/clock.ts'
import { UsageError } from '../options.ts'
import type { ProgramIo } from './attach-command.ts'
import type { ApiClient } from './client.ts'
import type { ProgramOptions, RunningProgram } from './run-program.ts'
import type { Terminal } from './terminal.ts'

/** `failure`: the instance refused the request, or it failed. */
export const exitCodes = { success: 0, failure: 1, usage: 2, unreachable: 3 } as const

export { UsageError }

/** Everything a command works with. All I/O is passed in, so that tests can run commands. */
export interface CommandContext {
  positionals: string[]
  flags: Flags
  /** The arguments after `--`, for a command with `takes_command`. */
  program: string[]
  terminal: Terminal
  /** Print exactly one JSON document on standard output. */
  is_json: boolean
  /** Relative paths are resolved against this folder. */
  cwd: string
  clock: Clock
  /** Finds the instance by flag, environment or instance.json, unless a URL is given. Throws an ApiError `unreachable`. */
  connect(url?: string): ApiClient
  /** Opens a URL in the user's browser; returns false without one. `is_secret`: the URL signs in. */
  openUrl(url: string, options: { is_secret: boolean }): Promise<boolean>
  /** Asks on the terminal; undefined without input. `is_secret` turns off the echo; `has_lines`: input that is no terminal is read to its end. */
  prompt(question: string, options?: { is_secret?: boolean; has_lines?: boolean }): Promise<string | undefined>
  /** HOMEPORT_REMOTE_TOKEN: the token for adding another instance. */
  remote_token?: string | undefined
  /** DOCKER_HOST: the address of this machine's Docker engine. */
  docker_host?: string | undefined
  /** Runs a local program with this terminal and `secrets` in its environment. Returns its exit code, or undefined if it is not installed. */
  runProgram(file: string, args: string[], secrets: Record<string, string>): Promise<number | undefined>
  /** Starts a local program in this terminal, in a folder and with variables. */
  startProgram(file: string, args: readonly string[], options: ProgramOptions): RunningProgram
  /** Input and output of this process, for a program on another machine. */
  openIo(): ProgramIo
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal
}

export interface CliCommand {
  summary: string
  /** One line per form, without `homeport`. */
  usage: string[]
  /** Option name to description. A description that starts with `=X` takes a value. */
  options: Record<string, string>
  details?: string
  /** A user's program with its arguments may follow `--`. */
  takes_command?: true
  run(context: CommandContext): Promise<number>
}

/** Options that every command has. */
export const globalOptions: Record<string, string> = {
  json: 'print one JSON document',
  data: '=DIR data folder of the instance',
  url: '=URL URL of the instance',
  token: '=TOKEN API token (HOMEPORT_TOKEN keeps it out of the process list)',
  help: 'show this help',
}

const shortFlags: Record<string, string> = { follow: 'f', help: 'h' }

export type Flags = Record<string, string | boolean | undefined>

/** Throws `UsageError` for an unknown option. */
export function parseArguments(command: CliCommand, all: string[]): { positionals: string[]; flags: Flags; program: string[] } {
  const end = command.takes_command === true ? all.indexOf('--') : -1
  const [args, program] = end < 0 ? [all, []] : [all.slice(0, end), all.slice(end + 1)]
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const [name, text] of Object.entries({ ...globalOptions, ...command.options })) {
    const short = shortFlags[name]
    options[name] = { type: text.startsWith('=') ? 'string' : 'boolean', ...(short === undefined ? {} : { short }) }
  }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    return { positionals, flags: values as Flags, program }
  } catch (error) {
    throw new UsageError(error instanceof Error ? firstSentence(error.message) : String(error))
  }
}

export function stringFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/** Checks the positional arguments against their names; `[NAME]` is optional. */
export function requirePositionals(context: CommandContext, ...names: string[]): string[] {
  const required = names.filter((name) => !name.startsWith('['))
  const missing = required[context.positionals.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  const extra = context.positionals[names.length]
  if (extra !== undefined) throw new UsageError(`Unexpected argument “${extra}”.`)
  return context.positionals
}

export const unknownSubcommand = (word: string, known: readonly string[]): UsageError =>
  new UsageError(`Unknown subcommand “${word}”. Use ${known.slice(0, -1).join(', ')} or ${known.at(-1)}.`)

export const formatUsage = (command: CliCommand): string => ['Usage:', ...command.usage.map((form) => `  homeport ${form}`)].join('\n')

export function formatCommandHelp(name: string, command: CliCommand): string {
  const formatOptions = (options: Record<string, string>) =>
    Object.entries(options).map(([option, line]) => {
      const [, value = '', what = line] = /^=(\S+) (.*)$/.exec(line) ?? []
      const short = shortFlags[option]
      return `  ${`${short === undefined ? '' : `-${short}, `}--${option}${value === '' ? '' : ` ${value}`}`.padEnd(25)} ${what}`
    })
  return [
    command.summary,
    '',
    formatUsage(command),
    '',
    'Options:',
    ...formatOptions(command.options),
    ...formatOptions(
      name === 'serve' ? { json: globalOptions.json ?? '', data: globalOptions.data ?? '', help: globalOptions.help ?? '' } : globalOptions,
    ),
    ...(command.details === undefined ? [] : ['', command.details]),
  ].join('\n')
}

/** The messages of parseArgs are long; the first sentence names the problem. */
const firstSentence = (message: string) => `${message.split('. ')[0]?.replace(/\.$/, '') ?? message}.`
