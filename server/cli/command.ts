import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Clock } from '../lib/clock.ts'
import { UsageError } from '../options.ts'
import type { ApiClient } from './client.ts'
import type { Terminal } from './terminal.ts'

/** Exit codes of every command. */
export const exitCodes = { success: 0, failure: 1, usage: 2, unreachable: 3 } as const

export { UsageError }

/** What a command works with. All that reaches outside is in here, so that a command can be run by a test. */
export interface CommandContext {
  positionals: string[]
  flags: Flags
  terminal: Terminal
  /** Print one JSON document on standard output and nothing else there. */
  is_json: boolean
  /** The folder that relative paths start from. */
  cwd: string
  clock: Clock
  /** Finds the instance by flag, environment or instance.json; throws `NotReachable`. */
  connect(): ApiClient
  /** Opens an address in the person's browser; false when there is none to open it in. `is_secret`: it signs in. */
  openUrl(url: string, options: { is_secret: boolean }): Promise<boolean>
  /** Asks on the terminal; undefined when nobody is there to answer. `is_secret`: what is typed is not shown. */
  prompt(question: string, options?: { is_secret?: boolean }): Promise<string | undefined>
  /** HOMEPORT_REMOTE_TOKEN: the token of another instance that is added. */
  remote_token?: string | undefined
  /** Gives the terminal to a program of this machine; its exit code, undefined when it is not there. `secrets` go into its environment. */
  runProgram(file: string, args: string[], secrets: Record<string, string>): Promise<number | undefined>
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal
}

export interface CliCommand {
  summary: string
  /** Lines after `homeport`, one per form. */
  usage: string[]
  /** Its own options: name -> what it does. `=X` in front of the text means that it takes a value. */
  options: Record<string, string>
  details?: string
  run(context: CommandContext): Promise<number>
}

/** Options of every command. */
export const globalOptions: Record<string, string> = {
  json: 'print one JSON document',
  data: '=DIR the data folder of the instance',
  url: '=URL the address of the instance',
  token: '=TOKEN an API token (HOMEPORT_TOKEN keeps it out of the process list)',
  help: 'show this',
}

const shortFlags: Record<string, string> = { follow: 'f', help: 'h' }

export type Flags = Record<string, string | boolean | undefined>

/** Throws `UsageError` for an option that the command does not have. */
export function parseArguments(command: CliCommand, args: string[]): { positionals: string[]; flags: Flags } {
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const [name, text] of Object.entries({ ...globalOptions, ...command.options })) {
    const short = shortFlags[name]
    options[name] = { type: text.startsWith('=') ? 'string' : 'boolean', ...(short === undefined ? {} : { short }) }
  }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    return { positionals, flags: values as Flags }
  } catch (error) {
    throw new UsageError(error instanceof Error ? firstSentence(error.message) : String(error))
  }
}

/** The value of an option that takes one. */
export function stringFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/** Exactly these words, by name; `[NAME]` may be missing. */
export function requirePositionals(context: CommandContext, ...names: string[]): string[] {
  const required = names.filter((name) => !name.startsWith('['))
  const missing = required[context.positionals.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  const extra = context.positionals[names.length]
  if (extra !== undefined) throw new UsageError(`“${extra}” is one word too many.`)
  return context.positionals
}

export function formatCommandHelp(name: string, command: CliCommand): string {
  const formatOptions = (options: Record<string, string>) =>
    Object.entries(options).map(([option, line]) => {
      const [, value = '', what = line] = /^=(\S+) (.*)$/.exec(line) ?? []
      const short = shortFlags[option]
      return `  ${`${short === undefined ? '' : `-${short}, `}--${option}${value === '' ? '' : ` ${value}`}`.padEnd(26)}${what}`
    })
  return [
    command.summary,
    '',
    'Usage:',
    ...command.usage.map((form) => `  homeport ${form}`),
    '',
    'Options:',
    ...formatOptions(command.options),
    ...formatOptions(
      name === 'serve' ? { json: globalOptions.json ?? '', data: globalOptions.data ?? '', help: globalOptions.help ?? '' } : globalOptions,
    ),
    ...(command.details === undefined ? [] : ['', command.details]),
  ].join('\n')
}

/** parseArgs explains at length how to write positional arguments; its first sentence says what was wrong. */
const firstSentence = (message: string) => `${message.split('. ')[0]?.replace(/\.$/, '') ?? message}.`
