/** Streams stay open only for readers who still have access. The content of streams is tested in streams.test.ts. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EventStream } from '../../server/contract/operation.ts'
import type { OperationContext } from '../../server/features/context.ts'
import type { ApiServerOptions } from '../../server/api/server.ts'
import { newId } from '../../server/lib/id.ts'
import { insertDeployment } from '../../server/store/deployments.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { waitForAbort, silentStream } from '../support/event-stream.ts'
import { deploymentRow } from '../support/database-rows.ts'
import { until } from '../support/until.ts'

let server: ApiServer
let owner: Record<string, string>
/** What every log yields, in place of its lines. */
let source: (context: OperationContext) => EventStream
let opened = 0

const withSource = ({ handlers }: ApiServerOptions): Partial<ApiServerOptions> => ({
  handlers: {
    ...handlers,
    async streamRuntimeLog(context) {
      opened++
      return source(context)
    },
    async streamBuildLog(context) {
      return source(context)
    },
    async downloadSource({ signal }) {
      return endlessFile(signal)
    },
  },
})

beforeAll(async () => {
  server = await startApiServer({ overrides: withSource })
  owner = bearer(server.owner.token)
  await server.createProject('abc')
})
beforeEach(() => {
  source = ({ signal }) => silentStream(signal)
  opened = 0
})
afterAll(() => server.close())

/** An endless file. */
async function* endlessFile(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield Buffer.from('begun')
  await waitForAbort(signal)
}

describe('a stream of a project ends within 5 s when its reader', () => {
  let projects = 0
  const asOwner = (method: string, at: string, body?: unknown) =>
    server.fetch(at, { method, headers: { ...owner, 'content-type': 'application/json' }, body: body === undefined ? null : JSON.stringify(body) })
  const team = () => ({ owner_email: server.owner.email, member_email: 'member@example.com' })
  let member: Record<string, string>

  beforeAll(async () => {
    const made = (await (await asOwner('POST', '/instance/users', { email: 'member@example.com' })).json()) as { token: string }
    member = bearer(made.token)
  })

  /** A project that the member can see, and a path for each kind of its streams. */
  async function shared() {
    const slug = `shared-${++projects}`
    const { id: project_id } = await server.createProject(slug)
    await asOwner('POST', '/instance/team', team())
    const id = newId('dpl')
    await server.store.db.write((tx) => insertDeployment(tx, deploymentRow({ id, project_id }), []))
    const at = `/v1/projects/${slug}`
    return {
      slug,
      paths: [
        `${at}/runtime-logs`,
        `${at}/runtime-logs?branch=new-look`,
        `${at}/deployments/${id}/logs`,
        `/instance/projects/${slug}/deployments/${id}/source`,
      ],
    }
  }
  /** Resolves when the stream ends; a truncated file rejects. */
  const open = async (at: string, headers: Record<string, string>) => {
    const response = await server.fetch(at, { headers })
    expect([at, response.status]).toEqual([at, 200])
    let isOver = false
    const ended = response.text().then(
      (text) => ((isOver = true), text),
      () => ((isOver = true), 'cut off'),
    )
    return { ended, isOver: () => isOver }
  }

  it.each([
    ['is removed from the team', () => asOwner('POST', '/instance/team/remove', team())],
    ['leaves the team', () => leave()],
    ['loses it by deletion', (slug: string) => asOwner('DELETE', `/v1/projects/${slug}`)],
    [
      'loses it by deletion, and another is created with its slug',
      async (slug: string) => {
        await asOwner('DELETE', `/v1/projects/${slug}`)
        await server.createProject(slug)
      },
    ],
    [
      'loses it by a move to another account',
      (slug: string) =>
        server.store.db.write((tx) => tx.statement('UPDATE projects SET account_id = ? WHERE slug = ?').run(server.stranger.account_id, slug)),
    ],
  ])('%s: ends every kind of stream of the project, and none of another', async (_what, lose) => {
    const { slug, paths } = await shared()
    const streams = await Promise.all(paths.map((at) => open(at, member)))
    const [other, events] = [await open('/v1/projects/abc/runtime-logs', owner), await open('/instance/events', member)]
    await lose(slug)
    await server.clock.advance(5_000)
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual([':\n\n', ':\n\n', ':\n\n', 'cut off'])
    expect([other.isOver(), events.isOver()]).toEqual([false, false])
  })

  const leave = () =>
    server.fetch('/instance/team/leave', {
      method: 'POST',
      headers: { ...member, 'content-type': 'application/json' },
      body: JSON.stringify({ account_id: server.owner.account_id }),
    })

  it('is removed from the team, without receiving queued data', async () => {
    const { slug } = await shared()
    source = async function* ({ signal }) {
      while (!signal.aborted) yield { data: 'x'.repeat(64 * 1024) }
    }
    const reader = connect(server.port, '127.0.0.1').pause()
    const closed = once(reader, 'close')
    reader.on('error', () => {})
    reader.write(`GET /v1/projects/${slug}/runtime-logs HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: ${member.authorization}\r\n\r\n`)
    await until(() => opened === 1 || undefined, { what: 'an open stream' })
    await asOwner('POST', '/instance/team/remove', team())
    await server.clock.advance(5_000)
    reader.resume()
    await closed
  })
})
