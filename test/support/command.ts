import { Readable, Writable } from 'node:stream'
import type { ProgramIo } from '../../server/cli/attach-command.ts'
import { createApiClient } from '../../server/cli/client.ts'
import { runCommandLine } from '../../server/cli/command-line.ts'
import { startProgram } from '../../server/cli/run-program.ts'
import { serve } from '../../server/cli/serve.ts'
import { standby } from '../../server/cli/standby.ts'
import { type Clock, systemClock } from '../../server/lib/clock.ts'
import type { ProcessResult } from './instance-process.ts'

/** The instance and user that commands run against. */
export interface CommandTarget {
  api_url: string
  token: string | undefined
}

/** The answers of a user who is prompted on a terminal; without it there is no terminal. */
interface CommandEnvironment {
  answers?: string[]
  remote_token?: string
  docker_host?: string
  clock?: Clock
  /** What a one-off command reads. */
  input?: string
  /** The terminal of a one-off command, instead of pipes. */
  io?: ProgramIo
  /** Aborted by Ctrl-C or SIGTERM. */
  signal?: AbortSignal
  /** Called with the complete standard output after each line. */
  onOutput?(out: string): void
}

/** Runs commands in this process, over real HTTP. Only tests of process behavior (signals, pipes, exit codes) need a separate process. */
export async function runCommand(
  target: CommandTarget,
  cwd: string,
  args: string[],
  {
    answers,
    remote_token,
    docker_host,
    clock = systemClock,
    input = '',
    io,
    signal = new AbortController().signal,
    onOutput,
  }: CommandEnvironment = {},
): Promise<ProcessResult & { prompts: { question: string; is_secret: boolean }[] }> {
  let [out, err] = ['', '']
  const prompts: { question: string; is_secret: boolean }[] = []
  const code = await runCommandLine(
    args,
    {
      terminal: {
        out(line) {
          out += `${line}\n`
          onOutput?.(out)
        },
        err: (line) => void (err += `${line}\n`),
        flush: async () => {},
        is_interactive: answers !== undefined,
        has_colour: false,
      },
      cwd,
      clock,
      connect: () => createApiClient({ url: target.api_url, token: target.token }),
      openUrl: async () => false,
      prompt: async (question, { is_secret = false } = {}) => {
        prompts.push({ question, is_secret })
        return answers?.shift()
      },
      remote_token,
      docker_host,
      runProgram: async () => undefined,
      startProgram,
      openIo: () =>
        io ?? {
          input: Readable.from([Buffer.from(input)], { objectMode: false }),
          output: collect((text) => (out += text)),
          errors: collect((text) => (err += text)),
          terminal: null,
        },
      signal,
    },
    { serve, standby },
  )
  return { code, out, err, prompts }
}

const collect = (add: (text: string) => void) =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      add(chunk.toString())
      done()
    },
  })

export interface CommandLine {
  (...args: string[]): Promise<ProcessResult>
  /** The JSON document that a command prints with `--json`. */
  json<Document>(...args: string[]): Promise<Document>
}

/** The command line of one user in one folder. */
export function commandLine(target: CommandTarget, cwd: string, environment?: CommandEnvironment): CommandLine {
  const run = (...args: string[]) => runCommand(target, cwd, args, environment)
  return Object.assign(run, {
    json: async <Document>(...args: string[]) => JSON.parse((await run(...args, '--json')).out) as Document,
  })
}
