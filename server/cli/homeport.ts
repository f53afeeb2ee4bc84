import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { systemClock } from '../lib/clock.ts'
import { withSecrets, readDockerHost, readRemoteToken, detectTerminal, readInstanceLocation } from '../options.ts'
import { openInBrowser } from './open-browser.ts'
import { createApiClient } from './client.ts'
import { exitCodes, stringFlag } from './command.ts'
import { runCommandLine } from './command-line.ts'
import { findInstance } from './find-instance.ts'
import { createLineWriter } from './line-writer.ts'
import { openProcessIo } from './process-io.ts'
import { startProgram } from './run-program.ts'
import { serve } from './serve.ts'
import { standby } from './standby.ts'

/** The command `homeport`: binds the command line to this process. `homeport.mjs` runs its bundle. */
const isTerminal = process.stdout.isTTY
const { has_colour, has_display } = detectTerminal(isTerminal)
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
// `homeport logs app | head` closes the output early, which is not a failure. `serve` keeps running without a reader.
const isServer = process.argv[2] === 'serve' || process.argv[2] === 'standby'
if (!isServer) process.stdout.on('error', () => process.exit(0))

async function promptUser(question: string, isSecret: boolean): Promise<string | undefined> {
  const isTyped = isSecret && process.stdin.isTTY
  // For a secret, readline turns off the terminal's echo, and its own echo goes to a stream that discards it.
  const output = isTyped ? new Writable({ write: (_piece, _encoding, done) => done() }) : process.stderr
  const lines = createInterface({ input: process.stdin, output, terminal: isTyped })
  if (isTyped) process.stderr.write(question)
  try {
    // The end of piped input resolves to undefined, because readline would wait forever.
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)))
    return await Promise.race([lines.question(isTyped ? '' : question, { signal: stop.signal }), ended])
  } catch {
    return undefined
  } finally {
    lines.close()
    if (isTyped) process.stderr.write('\n')
  }
}

/** All of the input without its last line end, such as a key of several lines. */
async function readInput(): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

const resolveLocator = (flags: Parameters<typeof stringFlag>[0]) =>
  readInstanceLocation({ data: stringFlag(flags, 'data'), url: stringFlag(flags, 'url'), token: stringFlag(flags, 'token') })

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  {
    terminal: {
      out: createLineWriter(process.stdout),
      err: createLineWriter(process.stderr),
      flush: () => new Promise((resolve) => process.stdout.write('', () => resolve())),
      is_interactive: isTerminal && process.stdin.isTTY,
      has_colour,
    },
    cwd: process.cwd(),
    clock: systemClock,
    connect: (flags) => createApiClient({ ...findInstance(resolveLocator(flags)), agent: process.argv[2] === 'mcp' ? 'mcp' : 'cli' }),
    openUrl: (flags, url, { is_secret }) => openInBrowser(url, { is_secret, has_display, data_dir: resolveLocator(flags).data_dir }),
    prompt: (question, { is_secret = false, has_lines = false } = {}) =>
      has_lines && !process.stdin.isTTY ? readInput() : promptUser(question, is_secret),
    remote_token: readRemoteToken(),
    docker_host: readDockerHost(),
    runProgram: (file, args, secrets) =>
      new Promise((resolve) => {
        spawn(file, args, { stdio: 'inherit', env: withSecrets(secrets) })
          .once('error', () => resolve(undefined))
          .once('exit', (code) => resolve(code ?? exitCodes.failure))
      }),
    startProgram,
    openIo: openProcessIo,
    signal: stop.signal,
  },
  { serve, standby },
)

// Handles of an aborted command or a platform that did not stop in time would keep the process alive.
if (stop.signal.aborted || isServer) process.exit()
