import type Docker from 'dockerode'
import { sleep, systemClock } from '../lib/clock.ts'
import { rejectAfter } from '../runtime/docker/connection.ts'
import { toReadable } from '../runtime/docker/engine.ts'
import { createStreamDemuxer } from '../runtime/docker/stream-demuxer.ts'
import type { RunStatement } from './provision.ts'

/** Separators of columns and rows in psql's output; they occur in no name, number or size. */
const [fieldSeparator, recordSeparator] = ['\x1f', '\x1e']

/** Long enough for every statement of this module; the timeout protects against an engine that hangs. */
const execTimeout_ms = 60_000

/** Runs a program in the container as the user postgres. Input is passed on standard input and not as an argument. */
export async function execAsPostgres(
  container: Docker.Container,
  command: string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  const options = { Cmd: command, User: 'postgres', AttachStdin: true, AttachStdout: true, AttachStderr: true }
  const exec = await rejectAfter(execTimeout_ms, container.exec(options))
  const stream = await exec.start({ hijack: true, stdin: true })
  const out = { stdout: '', stderr: '' }
  const frames = createStreamDemuxer((name, data) => (out[name] += data.toString()))
  const ended = new Promise<void>((resolve, reject) => stream.once('end', resolve).once('close', resolve).once('error', reject))
  stream.on('data', frames.write)
  stream.end(input)
  try {
    await rejectAfter(execTimeout_ms, ended)
    return { code: await waitForExitCode(exec), out: out.stdout, err: out.stderr }
  } finally {
    toReadable(stream).destroy()
  }
}

/** The output of a program ends separately from the program, whose exit Docker may report a moment later. */
async function waitForExitCode(exec: Docker.Exec): Promise<number> {
  const deadline = systemClock.monotonic() + execTimeout_ms
  for (;;) {
    const { Running, ExitCode } = await rejectAfter(execTimeout_ms, exec.inspect())
    if (!Running || systemClock.monotonic() > deadline) return ExitCode ?? -1
    await sleep(systemClock, 10)
  }
}

/** Runs statements as the superuser, through the socket in the container. */
export const createContainerStatementRunner =
  (container: Docker.Container, psql: string): RunStatement =>
  async (database, statement) => {
    const options = ['-X', '-q', '-A', '-t', '-F', fieldSeparator, '-R', recordSeparator, '-v', 'ON_ERROR_STOP=1']
    const { code, out, err } = await execAsPostgres(
      container,
      [psql, '-h', '/tmp', '-U', 'postgres', '-d', database, ...options, '-f', '-'],
      `${statement};\n`,
    )
    if (code !== 0) throw new Error(`The database server refused: ${err.trim() || `psql exited with ${code}`}`)
    const rows = out.replace(/\n$/, '')
    return rows === '' ? [] : rows.split(recordSeparator).map((row) => row.split(fieldSeparator))
  }
