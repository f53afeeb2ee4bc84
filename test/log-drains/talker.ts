import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { LogDrain } from '../../server/contract/log-drains.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { createTestAuthority } from '../support/tls.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const server = `
require('node:http').createServer((request, response) => {
  const url = new URL(request.url, 'http://app')
  const count = Number(url.searchParams.get('count') ?? 1)
  const say = (from) => {
    let text = ''
    const to = Math.min(count, from + 500)
    for (let n = from; n < to; n++) text += decodeURIComponent(url.pathname.slice(1)) + (count > 1 ? ' ' + n : '') + ' ' + (url.searchParams.get('pad') ?? '') + '\\n'
    if (to === count) process.stdout.write(text, () => response.end('said'))
    else process.stdout.write(text, () => say(to))
  }
  if (url.pathname === '/') response.end('ok')
  else say(0)
}).listen(process.env.PORT, process.env.HOST)
`

export const drainsPath = '/instance/projects/talker/log-drains'

export type ReceivedLine = Record<string, unknown> & { message: string }
export const linesOf = (body: string) =>
  body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ReceivedLine)
export const messagesOf = (lines: ReceivedLine[]) => lines.map(({ message }) => message.trim())

/** A platform with an app that prints what it is asked to, and a receiver of HTTP. The platform trusts the authority. */
export async function startTalker() {
  const folder = createTempFolder('log-drains')
  const authority = createTestAuthority()
  writeFileSync(join(folder.path, 'ca.pem'), (await authority.ensure()).certificate)
  const repository = makeRepository({
    'package.json': JSON.stringify({ name: 'talker', private: true, scripts: { build: 'node -p "6*7"', start: 'node server.js' } }),
    'server.js': server,
  })
  const receiver = await startWebhookReceiver()

  /** `ahead_ms`: a platform that starts again must not be behind the clock that the tests have moved. */
  const start = async (ahead_ms = 0): Promise<TestPlatform> => {
    const { NODE_EXTRA_CA_CERTS: before } = process.env
    process.env.NODE_EXTRA_CA_CERTS = join(folder.path, 'ca.pem')
    try {
      return await startTestPlatform({ runtime: 'process', data_dir: join(folder.path, 'data'), ahead_ms })
    } finally {
      if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS
      else process.env.NODE_EXTRA_CA_CERTS = before
    }
  }

  let home = await start()
  await home.createProject({ slug: 'talker', repo_url: repository.url })
  const { id: deployment } = await home.deploy('talker')
  expect(await home.waitForEnd('talker', deployment)).toMatchObject({ status: 'ready' })

  const drains = async () => (await home.api<{ log_drains: LogDrain[] }>('GET', drainsPath)).body.log_drains
  const addDrain = async (body: object) => {
    const response = await home.api<{ log_drain: LogDrain; signing_secret: string | null }>('POST', drainsPath, body)
    expect([response.status, response.body]).toEqual([201, response.body])
    return { id: response.body.log_drain.id, secret: response.body.signing_secret ?? '' }
  }
  const receivedLines = () => receiver.received.flatMap(({ body }) => linesOf(body))
  const untilAdvanced = <T>(check: () => Promise<T | undefined> | T | undefined, what: string, ms = 1_000): Promise<T> =>
    until(
      async () => {
        await home.advance(ms)
        return check()
      },
      { what },
    )

  return {
    get home() {
      return home
    },
    folder,
    authority,
    receiver,
    addDrain,
    receivedLines,
    /** Advances the clock until there is a result. */
    untilAdvanced,
    addHttp: (body: object = {}) => addDrain({ kind: 'http', address: receiver.url, sources: ['app'], ...body }),
    stateOf: async (id: string) => (await drains()).find((drain) => drain.id === id)!.state,
    async say(text: string, query = '') {
      expect((await home.fetchEdge('talker.localhost', `/${encodeURIComponent(text)}${query}`)).body).toBe('said')
    },
    /** Waits until a line is in the stored log: the app has answered once it is in the pipe. */
    async untilStored(text: string) {
      const url = `${home.handle.api_url}/instance/projects/talker/runtime-log`
      const readLog = async () => (await fetch(url, { headers: { authorization: `Bearer ${home.handle.instance.token}` } })).text()
      await until(async () => ((await readLog()).includes(text) ? true : undefined), { what: `“${text}” in the log` })
    },
    waitForLines: (isReached: (lines: ReceivedLine[]) => boolean) =>
      untilAdvanced(() => (isReached(receivedLines()) ? receivedLines() : undefined), 'lines at the receiver'),
    /** Kills the platform and starts it again. `meanwhile` runs while it is down. */
    async restart(meanwhile: () => void) {
      const ahead_ms = (await home.now()) - Date.now()
      await home.kill()
      meanwhile()
      home = await start(ahead_ms)
    },
    async reset() {
      for (const { id } of await drains()) await home.api('DELETE', `${drainsPath}/${id}`)
      receiver.received.splice(0)
      receiver.statuses.splice(0)
    },
    async close() {
      await home.remove()
      await receiver.close()
      repository.remove()
      folder.remove()
    },
  }
}
export type Talker = Awaited<ReturnType<typeof startTalker>>
