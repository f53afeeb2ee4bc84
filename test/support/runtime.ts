import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { StepLog } from '../../server/contract/build-log.ts'
import type { BuildPlan, ServerPlan, StaticPlan } from '../../server/contract/build-plan.ts'
import { newId } from '../../server/lib/id.ts'
import { silentLog } from '../../server/lib/log.ts'
import type { Artifact, ReplicaExit, Replica, Runtime, RuntimeOptions, ServiceRequest } from '../../server/runtime/runtime.ts'
import type { RegistryAccess } from '../../server/runtime/registries.ts'
import { until } from './until.ts'

const root = join(import.meta.dirname, '../..')

/** Options for separate drivers: their own data folder, and the certificates of the machine. */
export async function runtimeOptions(): Promise<RuntimeOptions & { remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-runtime-'))
  return {
    instance_id: `test-${newId('evt').slice(-8)}`,
    data_dir: folder,
    log: silentLog,
    ca_file: process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE,
    node_path: join(root, 'node_modules/node/bin/node'),
    npm_cli_path: join(root, 'node_modules/npm/bin/npm-cli.js'),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  }
}

export interface RecordedLog extends StepLog {
  lines: string[]
}

export function createRecordedLog(onLine: (line: string) => void = () => {}): RecordedLog {
  const lines: string[] = []
  const add = (line: string) => {
    lines.push(line)
    onLine(line)
  }
  return {
    lines,
    line: (_stream, line) => add(line),
    note: (line) => add(line),
  }
}

type Files = Record<string, string>

/** A folder with these files, below the data folder of the options. */
export async function writeSource(options: RuntimeOptions, files: Files): Promise<string> {
  const folder = join(options.data_dir, 'sources', newId('evt'))
  await mkdir(folder, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

const defaultNodeWork = {
  node_version: '24',
  package_manager: { name: 'npm' as const, version: null },
  install_directory: '.',
  app_directory: '.',
  install_command: null,
  build_command: null,
  install_inputs: ['package.json'],
  install_key: 'none',
  cache_directories: [],
}

export const serverPlan = (more: Partial<ServerPlan> = {}): BuildPlan => ({
  framework: 'node',
  explanation: [],
  facts: [],
  work: { ...defaultNodeWork, kind: 'server', start_command: ['node', 'server.js'], variables: {}, ...more },
})

export const staticPlan = (more: Partial<StaticPlan> = {}): BuildPlan => ({
  framework: 'html',
  explanation: [],
  facts: [],
  work: { ...defaultNodeWork, kind: 'static', output_directory: '.', spa_fallback: false, server_entries: [], ...more },
})

/** The source's own Dockerfile. */
export const dockerfilePlan: BuildPlan = {
  framework: 'dockerfile',
  explanation: [],
  facts: [],
  work: {
    kind: 'dockerfile',
    context_directory: '.',
    dockerfile: 'Dockerfile',
    text: null,
    ignored: [],
    port: null,
    target: null,
    arguments: {},
  },
}

export interface BuildOptions {
  files?: Files
  /** An existing source folder, in place of `files`. */
  folder?: string
  plan: BuildPlan
  project_id?: string
  deployment_id?: string
  variables?: Record<string, string>
  build_secrets?: Record<string, string>
  memory_mb?: number
  cpus?: number
  skips_cache?: boolean
  registries?: RegistryAccess
  signal?: AbortSignal
  log?: RecordedLog
}

export interface BuiltApp {
  artifact: Artifact
  log: RecordedLog
  deployment_id: string
  project_id: string
}

export async function buildApp(runtime: Runtime, options: RuntimeOptions, build: BuildOptions): Promise<BuiltApp> {
  const log = build.log ?? createRecordedLog()
  const deployment_id = build.deployment_id ?? newId('dpl')
  const project_id = build.project_id ?? newId('prj')
  const open = runtime.openBuild({
    project_id,
    deployment_id,
    folder: build.folder ?? (await writeSource(options, build.files ?? {})),
    plan: build.plan,
    variables: build.variables ?? {},
    build_secrets: build.build_secrets ?? {},
    memory_mb: build.memory_mb ?? 1024,
    cpus: build.cpus ?? null,
    skips_cache: build.skips_cache ?? false,
    registries: build.registries ?? { logins: [], uses_docker_login: false },
    signal: build.signal ?? new AbortController().signal,
  })
  try {
    await open.install(log)
    return { artifact: await open.build(log), log, deployment_id, project_id }
  } finally {
    await open.close()
  }
}

export interface StartOptions {
  variables?: Record<string, string>
  memory_mb?: number
  cpus?: number
  service?: ServiceRequest
  onLine?: (line: string, stream: string) => void
}

export interface StartedApp {
  instance: Replica
  lines: string[]
  exit: Promise<ReplicaExit>
  /** Resolves once the exit was reported. Without `grace_ms` the replica is killed. */
  stop(grace_ms?: number): Promise<ReplicaExit>
}

export async function startApp(runtime: Runtime, built: Omit<BuiltApp, 'log'>, more: StartOptions = {}): Promise<StartedApp> {
  if (built.artifact.kind === 'static') throw new Error('A static artifact is not started.')
  const lines: string[] = []
  const exit = Promise.withResolvers<ReplicaExit>()
  let exits = 0
  const instance = await runtime.start({
    project_id: built.project_id,
    deployment_id: built.deployment_id,
    artifact: built.artifact,
    variables: more.variables ?? {},
    memory_mb: more.memory_mb ?? 256,
    cpus: more.cpus ?? 1,
    listen_port: null,
    ...(more.service && { service: more.service }),
    signal: new AbortController().signal,
    onLine: (stream, line) => (more.onLine ? more.onLine(line, stream) : lines.push(line)),
    onExit(ended) {
      if (++exits > 1) throw new Error('onExit was called twice.')
      exit.resolve(ended)
    },
  })
  const stop = async (grace_ms = 0) => {
    await runtime.stop(instance.id, grace_ms)
    return exit.promise
  }
  return { instance, lines, exit: exit.promise, stop }
}

/** Retries until there is a response, like a health check. */
export const waitForResponse = ({ host, port }: Replica): Promise<string> =>
  eventually(async () => (await fetch(`http://${host}:${port}/`)).text(), `an answer from ${host}:${port}`)

/** Retries until nothing is thrown. On timeout, the last error is reported. */
export const eventually = async <T>(look: () => Promise<T> | T, what = 'all assertions to hold'): Promise<T> =>
  (await until(async () => ({ value: await look() }), { what })).value

export const runProgram = (file: string, args: string[], environment: Record<string, string> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(file, args, { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...environment } }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
  })

/** Files below a folder that contain a text in plain bytes. */
export const findFilesContaining = (text: string, folder: string): Promise<string[]> =>
  runProgram('grep', ['-rlaF', '--', text, folder]).then(
    (out) => out.trim().split('\n'),
    () => [],
  )

export const listEntries = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
