import { resolve } from 'node:path'
import type { Deployment } from '../contract/deployments.ts'
import type { Client } from './client.ts'
import { Refusal } from './client.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { finish, followBuild } from './follow-build.ts'
import { everyProject } from './projects.ts'
import { takeFile } from './take-file.ts'
import { ago, table } from './terminal.ts'

export const deployments: Command = {
  summary: 'Lists deployments; repeats, cancels or brings back one, or takes the source that it was built from.',
  forms: ['deployments SLUG', 'deployments retry|cancel|rollback [SLUG] ID', 'deployments source [SLUG] ID [--out FILE]'],
  options: {
    limit: '=N how many to list (default 20)',
    status: '=STATUS queued, building, deploying, ready, failed or canceled',
    out: '=FILE where to write the source (a .tar.gz)',
    'no-follow': 'do not wait for the new deployment',
  },
  async run(call) {
    const verb = call.words[0]
    if (verb === 'retry' || verb === 'cancel' || verb === 'rollback') {
      if (call.words.length > 1) return act(call, verb)
    }
    if (verb === 'source' && call.words.length > 1) return takeSource(call)
    return list(call)
  },
}

async function list(call: Call): Promise<number> {
  const [slug = ''] = words(call, 'SLUG')
  const limit = Number(text(call.flags, 'limit') ?? 20)
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit takes a whole number from 1.')
  const client = call.connect()
  const found: Deployment[] = []
  let cursor: string | undefined
  do {
    const page = await client.call('listDeployments', {
      params: { slug },
      query: { limit: String(Math.min(100, limit - found.length)), cursor, status: statusOf(call) },
    })
    found.push(...page.deployments)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && found.length < limit)
  if (call.json) call.terminal.out(JSON.stringify({ deployments: found, next_cursor: cursor ?? null }))
  else if (found.length === 0) call.terminal.out('No deployments yet.')
  else {
    const rows = found.map((one) => [
      one.id,
      one.is_current ? `${one.status}, serving` : one.status,
      one.trigger,
      one.target === 'preview' ? (one.branch ?? '-') : 'production',
      one.commit_sha === null ? '-' : `${one.commit_sha.slice(0, 7)}${one.is_dirty ? '+' : ''}`,
      one.build_ms === null ? '-' : `${(one.build_ms / 1000).toFixed(1)} s`,
      ago(one.created_at, call.clock.now()),
    ])
    for (const line of table(call.terminal, ['ID', 'STATUS', 'BY', 'FOR', 'COMMIT', 'BUILD', 'WHEN'], rows)) call.terminal.out(line)
  }
  return exitCodes.done
}

async function act(call: Call, verb: 'retry' | 'cancel' | 'rollback'): Promise<number> {
  const client = call.connect()
  const params = await paramsOf(call, client, verb)
  if (verb === 'cancel') {
    const answer = await client.call('cancelDeployment', { params })
    call.terminal.out(call.json ? JSON.stringify(answer) : `Canceled ${params.id}.`)
    return exitCodes.done
  }
  const answer = await client.call(verb === 'retry' ? 'retryDeployment' : 'rollbackDeployment', { params })
  if (call.flags['no-follow'] === true) {
    call.terminal.out(call.json ? JSON.stringify(answer) : `Queued ${answer.deployment_id}.`)
    return exitCodes.done
  }
  await followBuild(call, client, params.slug, answer.deployment_id)
  return finish(call, client, params.slug, answer.deployment_id)
}

/** What was built, to be kept, looked at, or uploaded elsewhere. */
async function takeSource(call: Call): Promise<number> {
  const client = call.connect()
  const params = await paramsOf(call, client, 'source')
  const file = resolve(call.cwd, text(call.flags, 'out') ?? `${params.slug}-${params.id}.tar.gz`)
  await takeFile(call, file, () => client.download('downloadSource', { params }, call.signal))
  call.terminal.out(call.json ? JSON.stringify({ file }) : `Wrote ${file}.`)
  return exitCodes.done
}

async function paramsOf(call: Call, client: Client, verb: string): Promise<{ slug: string; id: string }> {
  const [, first = '', second] = words(call, verb, '[SLUG]', '[ID]')
  return second === undefined ? { slug: await slugOfDeployment(client, first), id: first } : { slug: first, id: second }
}

/** An id alone says which deployment is meant, but the API asks by project. */
async function slugOfDeployment(client: Client, id: string): Promise<string> {
  let refused: Refusal | undefined
  for (const { slug } of await everyProject(client)) {
    try {
      await client.call('getDeployment', { params: { slug, id } })
      return slug
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error
      refused = error
    }
  }
  throw refused ?? new UsageError(`No project has a deployment “${id}”. List them with: homeport deployments SLUG`)
}

function statusOf(call: Call): Deployment['status'] | undefined {
  // The instance refuses a word that is none.
  return text(call.flags, 'status') as Deployment['status'] | undefined
}
