import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type InstanceFile, readInstanceFile } from '../../server/lib/instance-file.ts'
import { buildProgram, compileCache } from './programs.ts'
import { until } from './until.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface ProcessResult {
  code: number | null
  out: string
  err: string
}

/** Runs the command line in its own process until it exits. */
export async function runHomeport(args: string[], more: { env?: Record<string, string>; cwd?: string; input?: string } = {}): Promise<ProcessResult> {
  const cli = await buildProgram('homeport')
  const child = spawn(process.execPath, [cli, ...args], { cwd: more.cwd, env: cleanEnvironment(more.env), stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(more.input ?? '')
  return collectResult(child)
}

export interface RunningCommand {
  /** What it has written to standard output and standard error until now. */
  output(): string
  kill(signal: NodeJS.Signals): void
  ended: Promise<ProcessResult>
}

/** Starts the command line in its own process, by another program if one is given. */
export async function startHomeport(
  args: string[],
  cwd: string,
  more: { env?: Record<string, string>; by?: string[] } = {},
): Promise<RunningCommand> {
  const cli = await buildProgram('homeport')
  const [program = '', ...words] = [...(more.by ?? []), process.execPath, cli, ...args]
  const child = spawn(program, words, { cwd, env: cleanEnvironment(more.env), stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return { output: () => output, kill: (signal) => void child.kill(signal), ended: collectResult(child) }
}

export interface RunningInstance {
  instance: InstanceFile
  data: string
  pid: number
  /** Runs a command against the instance. */
  run(...args: string[]): Promise<ProcessResult>
  /** Sends a request to the API; `path` such as `/v1/projects`. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Sends a signal to the platform process only and waits for its exit. */
  stop(signal?: NodeJS.Signals): Promise<ProcessResult>
}

/** Starts `homeport serve` on free ports and waits until it is ready. */
export async function startInstance(options: { data: string; args?: string[]; env?: Record<string, string> }): Promise<RunningInstance> {
  const args = options.args ?? ['--port', '0', '--edge-port', '0', '--runtime', 'process']
  // The same flags as in `npm start` (nodeFlags in server/cli/prepare.mjs).
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=4', '--heap-growing-percent=25', await buildProgram('homeport'), 'serve', '--data', options.data, '--no-open', ...args],
    {
      env: cleanEnvironment(options.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const ended = collectResult(child)
  const instance = await waitUntilReady(child, options.data, ended)
  return {
    instance,
    data: options.data,
    pid: instance.pid,
    run: (...words) => runHomeport([...words, '--data', options.data]),
    fetch: (path, init = {}) => fetch(instance.api_url + path, { ...init, headers: withToken(instance.token, init.headers) }),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

function withToken(token: string, given?: HeadersInit): Headers {
  const headers = new Headers(given)
  headers.set('authorization', `Bearer ${token}`)
  // After a stall of the machine, a kept connection may have been closed, which the request would notice too late.
  headers.set('connection', 'close')
  return headers
}

async function waitUntilReady(child: ChildProcess, data: string, ended: Promise<ProcessResult>): Promise<InstanceFile> {
  let end: ProcessResult | undefined
  void ended.then((ran) => (end = ran))
  const seen = await until(
    () => {
      const instance = readInstanceFile(data)
      return instance?.pid === child.pid ? instance : end
    },
    { what: 'instance.json' },
  )
  if ('code' in seen) throw new Error(`homeport serve ended with ${seen.code} before it was ready:\n${seen.out}${seen.err}`)
  return seen
}

async function collectResult(child: ChildProcess): Promise<ProcessResult> {
  let out = ''
  let err = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

/** A separate temporary folder for a test. */
export function createTempFolder(name: string): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), `homeport-${name}-`))
  return { path, remove: () => existsSync(path) && rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Requests an app from the edge by its host name, because Node does not resolve `*.localhost`. */
export function fetchFromEdge(edgeUrl: string, slug: string, path = '/'): Promise<{ status: number; text: string }> {
  const { port } = new URL(edgeUrl)
  return new Promise((resolve, reject) => {
    const clientRequest = request({ host: '127.0.0.1', port, path, headers: { host: `${slug}.localhost:${port}` } }, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    clientRequest.on('error', reject)
    clientRequest.end()
  })
}

/** An environment without the settings of the developer's own Homeport. */
function cleanEnvironment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(HOMEPORT_|VITEST|FORCE_COLOR|DISPLAY$|WAYLAND_DISPLAY$|npm_)/.test(name)),
  )
  return { ...own, NO_COLOR: '1', HOMEPORT_CHROMIUM: 'off', NODE_COMPILE_CACHE: compileCache, ...env }
}
