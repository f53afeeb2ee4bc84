import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import type { Deployment, DeploymentDetail } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import { type Platform, startPlatform } from '../../server/index.ts'
import type { MasterKey } from '../../server/keys/keys.ts'
import type { Clock } from '../../server/lib/clock.ts'
import { createLog } from '../../server/lib/log.ts'
import { readOptions, type StripeOptions } from '../../server/options.ts'
import type { RegistrarChoice } from '../../server/registrar/index.ts'
import type { Screenshotter } from '../../server/screenshot/screenshot.ts'
import { viewEngine } from './docker.ts'
import { chromiumPath, dockerSocket } from './requirements.ts'
import { until } from './until.ts'

export { until }

/** A whole platform on a folder of its own, in this process, and short ways to talk to it. */
export interface TestPlatform extends Client {
  runtime: 'process' | 'docker'
  platform: Platform
  data_dir: string
  /** Lines of the platform's own log. */
  log: string[]
  /** Stops it and removes all that it made, in Docker too. */
  remove(): Promise<void>
}

export interface Client {
  /** One call of the API as the owner, or with another token. The answer's JSON is in `body`. */
  api<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    token?: string | null,
  ): Promise<{ status: number; headers: Headers; body: Body }>
  /** A request to a name at the edge. */
  edge(host: string, path?: string): Promise<{ status: number; body: string; headers: Record<string, unknown> }>
  /** `pushes`: a commit on its production branch is deployed by itself, as for everybody; a test of something else would race it. */
  createProject(input: { slug: string; repo_url?: string; name?: string; pushes?: boolean }): Promise<Project>
  deploy(slug: string): Promise<Deployment>
  deployment(slug: string, id: string): Promise<DeploymentDetail>
  /** Waits until a deployment has ended, and returns it with its log. */
  ended(slug: string, id: string, timeout_ms?: number): Promise<DeploymentDetail>
  project(slug: string): Promise<Project>
}

/** `rate_limited`: keeps the contract's rates; a suite that asks for states would soon meet them. */
export async function startTestPlatform(options: {
  runtime: 'process' | 'docker'
  data_dir?: string
  port?: number
  edge_port?: number
  rate_limited?: boolean
  /** Pictures are taken of what is deployed, by this machine's Chromium or by what is given; else by nothing. */
  screenshots?: true | Screenshotter
  /** Stand for this machine's addresses on a network; of 127.0.0.0/8, which Linux has whole. */
  lan_addresses?: () => string[]
  /** A payment processor, such as `startStripe().options`. */
  stripe?: StripeOptions
  /** Where names are bought, such as `startPorkbun().options`; else the local registrar. */
  registrar?: RegistrarChoice
  clock?: Clock
  /** Such as one of a keychain; else that of a file. */
  master_key?: MasterKey
  /** A mail server; without one nothing is sent. */
  smtp_url?: string
}): Promise<TestPlatform> {
  const data_dir = options.data_dir ?? mkdtempSync(join(tmpdir(), 'homeport-data-'))
  const log: string[] = []
  const platform = await startPlatform(
    {
      ...readOptions({ data: data_dir, port: String(options.port ?? 0), 'edge-port': String(options.edge_port ?? 0), runtime: options.runtime }),
      chromium: options.screenshots === true ? (chromiumPath ?? 'auto') : 'off',
      stripe: options.stripe ?? null,
      registrar: options.registrar ?? { name: 'local' },
      smtp_url: options.smtp_url ?? null,
    },
    {
      log: createLog((line) => log.push(line)),
      // Never the hosts file and the certificates of this very machine.
      names: { hosts_path: join(data_dir, 'hosts'), root: join(data_dir, 'system'), home: join(data_dir, 'home') },
      ...(typeof options.screenshots === 'object' ? { screenshotter: options.screenshots } : {}),
      ...(options.master_key === undefined ? {} : { masterKey: options.master_key }),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
      ...(options.lan_addresses === undefined ? {} : { lan_addresses: options.lan_addresses }),
    },
  )
  const client = createClient(platform.instance)
  if (options.rate_limited !== true)
    await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, rate_limit_anonymous: 1_000_000 })
  return {
    ...client,
    runtime: options.runtime,
    platform,
    data_dir,
    log,
    async remove() {
      const { body } = await client.api<{ projects?: Project[] }>('GET', '/v1/projects?limit=100')
      for (const project of body.projects ?? []) await client.api('DELETE', `/v1/projects/${project.slug}`)
      await platform.stop()
      if (options.runtime === 'docker') await viewEngine(labelled(data_dir, log)).removeAll()
      rmSync(data_dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

export function createClient(instance: { api_url: string; edge_url: string; token: string }): Client {
  const client: Client = {
    async api<Body>(method: string, path: string, body?: unknown, token: string | null = instance.token) {
      const response = await fetch(`${instance.api_url}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          // After a stall of the machine one that was kept is closed by now, which a call would learn too late.
          connection: 'close',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Body }
    },

    edge: (host, path = '/') => askEdge(instance.edge_url, host, path),

    async createProject({ pushes = false, ...input }) {
      const { status, body } = await client.api<{ project: Project }>('POST', '/v1/projects', { name: input.slug, ...input })
      if (status !== 201) throw new Error(`creating ${input.slug} answered ${status}: ${JSON.stringify(body)}`)
      if (!pushes) await client.api('PATCH', `/instance/projects/${input.slug}/watching`, { deploys_pushes: false })
      return body.project
    },

    async deploy(slug) {
      const { status, body } = await client.api<{ deployment: Deployment }>('POST', `/v1/projects/${slug}/deploy`)
      if (status !== 201) throw new Error(`deploying ${slug} answered ${status}: ${JSON.stringify(body)}`)
      return body.deployment
    },

    async deployment(slug, id) {
      const { status, body } = await client.api<{ deployment: DeploymentDetail }>('GET', `/v1/projects/${slug}/deployments/${id}`)
      if (status !== 200) throw new Error(`deployment ${id} answered ${status}: ${JSON.stringify(body)}`)
      return body.deployment
    },

    async ended(slug, id, timeout_ms = 120_000) {
      return until(
        async () => {
          const deployment = await client.deployment(slug, id)
          return ['ready', 'failed', 'canceled'].includes(deployment.status) ? deployment : undefined
        },
        { timeout_ms, what: `the end of ${id}` },
      )
    },

    async project(slug) {
      const { body } = await client.api<{ project: Project }>('GET', `/v1/projects/${slug}`)
      return body.project
    },
  }
  return client
}

/** Node does not resolve *.localhost and fetch drops a Host header: hence a plain request to the edge's port. */
export function askEdge(edgeUrl: string, host: string, path = '/'): Promise<{ status: number; body: string; headers: Record<string, unknown> }> {
  const { hostname, port } = new URL(edgeUrl)
  return new Promise((resolve, reject) => {
    const question = request({ host: hostname, port, path, agent: false, headers: { host: `${host}:${port}` } }, (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => (body += piece))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }))
      answer.on('error', reject)
    })
    question.on('error', reject)
    question.end()
  })
}

/** Containers and images that bear a deployment's label. */
export async function dockerLeftovers(deploymentId: string): Promise<string[]> {
  const docker = new Docker({ socketPath: dockerSocket })
  const filters = { label: [`homeport.deployment=${deploymentId}`] }
  const containers = await docker.listContainers({ all: true, filters })
  const images = await docker.listImages({ all: true, filters })
  return [...containers.map((one) => `container ${one.Id}`), ...images.map((one) => `image ${one.Id}`)]
}

/** What its containers and images are labelled with: said once in the platform's log at its start. */
function labelled(data_dir: string, log: string[]): string {
  for (const line of log) {
    const { instance_id } = JSON.parse(line) as { instance_id?: string }
    if (instance_id !== undefined) return instance_id
  }
  throw new Error(`the log of ${data_dir} names no instance id`)
}
