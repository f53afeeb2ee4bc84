import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import Docker from 'dockerode'
import { nodeFlags } from '../../server/cli/prepare.mjs'
import type { Deployment, DeploymentDetail } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import type { Platform } from '../../server/platform.ts'
import { createDockerView } from './docker.ts'
import type { PlatformCalls, PlatformSettings } from './platform-process.ts'
import { buildProgram, compileCache } from './programs.ts'
import { dockerSocket } from './requirements.ts'
import { isFullTier } from './tier.ts'
import { until } from './until.ts'

export { until }

type PlatformInfo = Pick<Platform, 'api_url' | 'edge_url' | 'dashboard_url' | 'version' | 'notices' | 'instance'>

/** A whole platform with its own data folder and process, and shortcuts for its API. */
export interface TestPlatform extends Client {
  runtime: PlatformSettings['runtime']
  handle: PlatformInfo & {
    [Name in keyof PlatformCalls]: (...args: Parameters<PlatformCalls[Name]>) => Promise<Awaited<ReturnType<PlatformCalls[Name]>>>
  }
  data_dir: string
  pid: number
  /** Lines of the platform's own log. */
  readonly log: string[]
  /** Advances the platform's clock and runs the timers that are due. */
  advance(ms: number): Promise<void>
  /** Advances the clock by days or months. Unlike `advance`, a timer that is due many times runs once. */
  jump(ms: number): Promise<void>
  /**
   * Advances the clock in steps that are too short to be detected as a sleep of the machine. A timer with a period of one second runs once per step.
   */
  advanceInSteps(ms: number): Promise<void>
  /** The time by the platform's clock, in milliseconds since 1970. */
  now(): Promise<number>
  /** Ends the process with SIGKILL, like a power failure. */
  kill(): Promise<void>
  /** Stops the platform and removes everything that it created, in Docker too. */
  remove(): Promise<void>
}

/** An idle check, which runs every second, treats a delay of five seconds as a sleep of the machine. */
const idleStep_ms = 4_000

export interface Client {
  /** One API call as the owner, or with another token. `body` is the parsed JSON. */
  api<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    token?: string | null,
  ): Promise<{ status: number; headers: Headers; body: Body }>
  /** A request to a host name at the edge. */
  fetchEdge(host: string, path?: string): Promise<{ status: number; body: string; headers: Record<string, unknown> }>
  /**
   * `pushes`: a commit on the production branch is deployed automatically, as by default, which would interfere with other tests. Without
   * `pushes` and `previews` the repository is not watched, because that would run git about once per minute of simulated time.
   */
  createProject(input: { slug: string; repo_url?: string; name?: string; pushes?: boolean; previews?: boolean }): Promise<Project>
  deploy(slug: string): Promise<Deployment>
  getDeployment(slug: string, id: string): Promise<DeploymentDetail>
  /** Waits until a deployment has finished, and returns it with its log. */
  waitForEnd(slug: string, id: string): Promise<DeploymentDetail>
  getProject(slug: string): Promise<Project>
}

/** Without the scripts of version managers, each of which takes a second to start a toolchain that the platform finds without it. */
const path = process.env.PATH?.split(delimiter)
  .filter((folder) => basename(folder) !== 'shims')
  .join(delimiter)

/** A user's platform limits its heap, which costs a sixth of its speed. Only the full tier measures memory. */
const memoryFlags = isFullTier ? nodeFlags : []

/** `rate_limited`: keeps the default rate limits, which a suite that polls would soon exceed. */
export async function startTestPlatform({
  rate_limited = false,
  ...options
}: Omit<PlatformSettings, 'data_dir'> & { data_dir?: string; rate_limited?: boolean }): Promise<TestPlatform> {
  const data_dir = options.data_dir ?? mkdtempSync(join(tmpdir(), 'homeport-data-'))
  // The runner keeps its folder if a test failed, so that the log can be read. Without a runner the log is removed with the platform.
  const logsRoot = process.env.HOMEPORT_TEST_LOGS
  const logFolder = mkdtempSync(join(logsRoot ?? tmpdir(), 'homeport-log-'))
  const log_file = join(logFolder, 'platform.log')
  // A folder that the caller provides is kept. A platform whose test has ended removes only a folder that was created for it.
  const processSettings = JSON.stringify({
    ...options,
    data_dir,
    log_file,
    is_temporary: options.data_dir === undefined,
    keeps_log: logsRoot !== undefined,
  })
  const child = fork(await buildProgram('platform-process'), [processSettings], {
    env: { ...process.env, PATH: path, NODE_COMPILE_CACHE: compileCache },
    execArgv: memoryFlags,
    // Not inherited, because a runner waits until the output of its workers is closed, and a platform that cleans up may outlive its worker.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  child.stdout?.pipe(process.stdout, { end: false })
  const { ready, call, exited } = await waitUntilReady(child)
  const client = createClient(ready.instance)
  if (!rate_limited) await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, rate_limit_anonymous: 1_000_000 })

  const lines = () => readFileSync(log_file, 'utf8').split('\n').slice(0, -1)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    await call('stop')
    await exited
  }
  return {
    ...client,
    runtime: options.runtime,
    handle: {
      ...ready,
      signInUrl: () => call('signInUrl'),
      advance: (ms) => call('advance', ms),
      jump: (ms) => call('jump', ms),
      now: () => call('now'),
      setLanAddresses: (addresses) => call('setLanAddresses', addresses),
      resync: () => call('resync'),
      stop,
    },
    data_dir,
    pid: ready.instance.pid,
    get log() {
      return lines()
    },
    advance: (ms) => call('advance', ms),
    jump: (ms) => call('jump', ms),
    async advanceInSteps(ms) {
      for (let left_ms = ms; left_ms > 0; left_ms -= idleStep_ms) await call('jump', Math.min(idleStep_ms, left_ms))
    },
    now: () => call('now'),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async remove() {
      if (child.exitCode === null && child.signalCode === null) {
        const { body } = await client.api<{ projects?: Project[] }>('GET', '/v1/projects?limit=100')
        for (const project of body.projects ?? []) await client.api('DELETE', `/v1/projects/${project.slug}`)
        await stop()
      }
      if (options.runtime === 'docker') await createDockerView(readInstanceId(data_dir, lines())).removeAll()
      for (const folder of [data_dir, ...(logsRoot === undefined ? [logFolder] : [])]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

type Call = <Name extends keyof PlatformCalls>(
  name: Name,
  ...args: Parameters<PlatformCalls[Name]>
) => Promise<Awaited<ReturnType<PlatformCalls[Name]>>>

/** Waits until the platform is ready. This and every call reject with its output once it has ended. */
async function waitUntilReady(child: ChildProcess): Promise<{ ready: PlatformInfo; call: Call; exited: Promise<unknown> }> {
  let printed = ''
  child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const exited = once(child, 'close')
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const started = Promise.withResolvers<PlatformInfo>()
  let end: Error | undefined
  void exited.then(() => {
    end = new Error(`The platform process ended with ${child.exitCode ?? child.signalCode}.\n${printed}`)
    for (const { reject } of [started, ...waiting.values()]) reject(end)
  })
  child.on('message', (message: { ready: PlatformInfo } | { id: number; value?: unknown; error?: string }) => {
    if ('ready' in message) return started.resolve(message.ready)
    const answer = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.error === undefined) answer?.resolve(message.value)
    else answer?.reject(new Error(message.error))
  })
  let calls = 0
  const call = ((name, ...args) => {
    if (end) return Promise.reject(end)
    const id = calls++
    const answer = Promise.withResolvers<unknown>()
    waiting.set(id, answer)
    child.send({ id, name, args })
    return answer.promise
  }) as Call
  return { ready: await started.promise, call, exited }
}

/** A file that builds and apps of the process runtime can watch: in the data folder they see only their own folders and this file. */
export function signalFileIn(data_dir: string, name: string): string {
  const folder = join(data_dir, 'toolchains')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return join(folder, name)
}

export function createClient(instance: { api_url: string; edge_url: string; token: string }): Client {
  const client: Client = {
    async api<Body>(method: string, path: string, body?: unknown, token: string | null = instance.token) {
      const response = await fetch(`${instance.api_url}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          // After a stall of the machine, a kept connection may have been closed, which the request would notice too late.
          connection: 'close',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Body }
    },

    fetchEdge: (host, path = '/') => requestEdge(instance.edge_url, host, path),

    async createProject({ pushes = false, previews = true, ...input }) {
      const { status, body } = await client.api<{ project: Project }>('POST', '/v1/projects', { name: input.slug, ...input })
      if (status !== 201) throw new Error(`creating ${input.slug} answered ${status}: ${JSON.stringify(body)}`)
      if (!pushes || !previews) await client.api('PATCH', `/instance/projects/${input.slug}/watching`, { deploys_pushes: pushes, previews })
      return body.project
    },

    async deploy(slug) {
      const { status, body } = await client.api<{ deployment: Deployment }>('POST', `/v1/projects/${slug}/deploy`)
      if (status !== 201) throw new Error(`deploying ${slug} answered ${status}: ${JSON.stringify(body)}`)
      return body.deployment
    },

    async getDeployment(slug, id) {
      const { status, body } = await client.api<{ deployment: DeploymentDetail }>('GET', `/v1/projects/${slug}/deployments/${id}`)
      if (status !== 200) throw new Error(`deployment ${id} answered ${status}: ${JSON.stringify(body)}`)
      return body.deployment
    },

    async waitForEnd(slug, id) {
      return until(
        async () => {
          const deployment = await client.getDeployment(slug, id)
          if (!['ready', 'failed', 'canceled'].includes(deployment.status)) throw new Error(`${deployment.status}\n${deployment.build_log}`)
          return deployment
        },
        { what: `the end of ${id}` },
      )
    },

    async getProject(slug) {
      const { body } = await client.api<{ project: Project }>('GET', `/v1/projects/${slug}`)
      return body.project
    },
  }
  return client
}

/** A plain request to the edge's port, because Node does not resolve *.localhost and fetch drops a Host header. */
export function requestEdge(edgeUrl: string, host: string, path = '/'): Promise<{ status: number; body: string; headers: Record<string, unknown> }> {
  const { hostname, port } = new URL(edgeUrl)
  return new Promise((resolve, reject) => {
    const clientRequest = request({ host: hostname, port, path, agent: false, headers: { host: `${host}:${port}` } }, (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => (body += piece))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }))
      answer.on('error', reject)
    })
    clientRequest.on('error', reject)
    clientRequest.end()
  })
}

/** The containers and images of a deployment. */
export async function listDockerLeftovers(deploymentId: string): Promise<string[]> {
  const docker = new Docker({ socketPath: dockerSocket })
  const filters = { label: [`homeport.deployment=${deploymentId}`] }
  const containers = await docker.listContainers({ all: true, filters })
  const images = await docker.listImages({ filters: { reference: [`*/*:${deploymentId}*`] } })
  return [...containers.map((one) => `container ${one.Id}`), ...images.map((one) => `image ${one.Id}`)]
}

/** The label of the instance's containers and images, from the platform's log. */
export function readInstanceId(data_dir: string, log: string[]): string {
  for (const line of log) {
    const { instance_id } = JSON.parse(line) as { instance_id?: string }
    if (instance_id !== undefined) return instance_id
  }
  throw new Error(`the log of ${data_dir} names no instance id`)
}
