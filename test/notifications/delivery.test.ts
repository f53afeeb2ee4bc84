import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { NotificationDelivery } from '../../server/contract/notifications.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

/* From a failed deployment to a receiver on this machine: signatures, attempts by the clock, and what a crash leaves. */

const folder = mkdtempSync(join(tmpdir(), 'homeport-notifications-'))
const data_dir = join(folder, 'data')
let mailServer: MailServer
let receiver: WebhookReceiver
let home: TestPlatform
/** `ahead_ms`: a platform that starts again must not be behind the clock that the tests have moved. */
const start = (ahead_ms = 0) => startTestPlatform({ runtime: 'process', data_dir, smtp_url: mailServer.url, ahead_ms })

beforeAll(async () => {
  mailServer = await startMailServer()
  receiver = await startWebhookReceiver()
  home = await start()
  await home.createProject({ slug: 'shop', repo_url: `file://${folder}/no-repository` })
})
afterEach(async () => {
  const { body } = await home.api<{ targets: { id: string }[] }>('GET', targetsPath)
  for (const { id } of body.targets) await home.api('DELETE', `${targetsPath}/${id}`)
  receiver.received.splice(0)
  receiver.statuses.splice(0)
})
afterAll(async () => {
  await home?.remove()
  await receiver?.close()
  await mailServer?.close()
  rmSync(folder, { recursive: true, force: true })
})

const base = '/instance/projects/shop/notifications'
const targetsPath = `${base}/targets`
const addTarget = async (body: object) => {
  const response = await home.api<{ target: { id: string }; signing_secret: string | null }>('POST', targetsPath, body)
  expect([response.status, response.body]).toEqual([201, response.body])
  return { id: response.body.target.id, secret: response.body.signing_secret ?? '' }
}
const addWebhook = () => addTarget({ type: 'webhook', address: receiver.url })
const failDeployment = async () => {
  const { id } = await home.deploy('shop')
  await home.waitForEnd('shop', id)
  return id
}
const deliveries = async () => (await home.api<{ deliveries: NotificationDelivery[] }>('GET', `${base}/deliveries`)).body.deliveries
const waitForDelivery = (isReached: (delivery: NotificationDelivery) => boolean) =>
  until(async () => (await deliveries()).find(isReached), { what: 'a delivery in the expected state' })

const addPerson = async (email: string) => (await home.api<{ token: string }>('POST', '/instance/users', { email })).body.token

/** Written by the words of the help topic, not by the code of the server. */
function isSignedBy(secret: string, header: string, body: string): boolean {
  const { t, v1 } = Object.fromEntries(header.split(',').map((part) => part.split('='))) as { t: string; v1: string }
  return createHmac('sha256', secret).update(`${t}.${body}`).digest('hex') === v1
}

test('a failed deployment reaches a webhook, signed, with the ID of the delivery', async () => {
  const { id: targetId, secret } = await addWebhook()
  const deployment = await failDeployment()
  const [request] = await receiver.waitFor(1)
  const payload = JSON.parse(request?.body ?? '') as Record<string, unknown>
  expect(request?.path).toBe('/hook?key=of-the-receiver')
  expect(payload).toMatchObject({ type: 'deployment.failed', project: { slug: 'shop' }, data: { deployment_id: deployment } })
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'homeport-event': 'deployment.failed',
    'homeport-delivery': payload.id,
  })
  const signature = String(request?.headers['homeport-signature'])
  expect(isSignedBy(secret, signature, request?.body ?? '')).toBe(true)
  expect(isSignedBy(secret, signature, `${request?.body} `)).toBe(false)
  expect(isSignedBy('whsec_other', signature, request?.body ?? '')).toBe(false)
  expect(Math.abs(Number(/^t=(\d+),/.exec(signature)?.[1]) - (await home.now()) / 1000)).toBeLessThan(3600)

  const delivery = await waitForDelivery(({ status }) => status === 'delivered')
  expect(delivery).toMatchObject({
    id: payload.id,
    target_id: targetId,
    event: 'deployment.failed',
    project: 'shop',
    next_attempt_at: null,
    attempts: [{ number: 1, status: 200, error: null }],
  })
})

test('another account sends email to the members of its team only while they are members', async () => {
  const token = await addPerson('crew@example.com')
  await addPerson('leaving@example.com')
  const membership = { owner_email: 'crew@example.com', member_email: 'leaving@example.com' }
  expect((await home.api('POST', '/instance/team', membership)).status).toBe(201)
  const ask = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${home.handle.api_url}/instance/notifications/${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Body
  }
  const { target } = await ask<{ target: { id: string } }>('POST', 'targets', { type: 'email', address: membership.member_email })
  await ask('POST', `targets/${target.id}/test`)
  await mailServer.waitForEmail(membership.member_email)
  expect((await home.api('POST', '/instance/team/remove', membership)).status).toBe(200)
  const { delivery } = await ask<{ delivery: { id: string } }>('POST', `targets/${target.id}/test`)
  const found = await until(
    async () => {
      const { deliveries: all } = await ask<{ deliveries: NotificationDelivery[] }>('GET', 'deliveries')
      return all.find(({ id, attempts }) => id === delivery.id && attempts.length > 0)
    },
    { what: 'the attempt' },
  )
  expect(found.attempts[0]?.error).toBe('The address is not that of a member of the team any more. Delete this target.')
  expect(mailServer.emails.filter(({ to }) => to.includes(membership.member_email))).toHaveLength(1)
})

test('email and Slack get the title, the reason and a link', async () => {
  await addTarget({ type: 'email', address: 'team@example.com' })
  await addTarget({ type: 'slack', address: receiver.url })
  await home.api('PATCH', '/v1/projects/shop', { name: 'Shop <&> <!channel>' })
  const deployment = await failDeployment()
  const [slack] = await receiver.waitFor(1)
  expect(JSON.parse(slack?.body ?? '')).toEqual({
    text: expect.stringMatching(
      new RegExp(
        `^\\*Deployment of Shop &lt;&amp;&gt; &lt;!channel&gt; failed\\*\\n[^]+\\n<http://[^>]+/projects/shop/deployments/${deployment}\\|Open in Homeport>$`,
      ),
    ),
  })
  expect(slack?.headers['homeport-signature']).toBeUndefined()
  const email = await mailServer.waitForEmail('team@example.com')
  expect(email.headers).toContain('Subject: Deployment of Shop')
  expect(email.text).toContain(`/projects/shop/deployments/${deployment}`)
  await home.api('PATCH', '/v1/projects/shop', { name: 'Shop' })
})

describe('attempts', () => {
  test('are repeated after a growing time, with the same ID and a new signature, until one succeeds', async () => {
    const { secret } = await addWebhook()
    receiver.statuses.push(500, 302)
    await failDeployment()
    const first = await waitForDelivery(({ attempts }) => attempts.length === 1)
    expect(first).toMatchObject({ status: 'pending', attempts: [{ status: 500, error: 'The response has the status 500.' }] })
    await home.advance(10_000)
    const second = await waitForDelivery(({ attempts }) => attempts.length === 2)
    expect(second.attempts[1]).toMatchObject({ status: 302, error: 'The response is a redirect (302), which is not followed.' })
    expect(receiver.received).toHaveLength(2)
    await home.advance(40_000)
    const third = await waitForDelivery(({ status }) => status === 'delivered')
    expect(third.attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 500],
      [2, 302],
      [3, 200],
    ])
    expect(new Set(receiver.received.map(({ headers }) => headers['homeport-delivery']))).toEqual(new Set([first.id]))
    expect(receiver.received.every(({ headers, body }) => isSignedBy(secret, String(headers['homeport-signature']), body))).toBe(true)
    expect(receiver.received.map(({ path }) => path)).not.toContain('/redirected')
  })

  test('end after eight, and a redelivery begins again with the same ID', async () => {
    await addWebhook()
    receiver.statuses.push(...Array<number>(8).fill(503))
    await failDeployment()
    for (let count = 1; count < 8; count++) {
      await waitForDelivery(({ attempts }) => attempts.length === count)
      await home.jump(10_000 * 4 ** (count - 1))
    }
    const failed = await waitForDelivery(({ status }) => status === 'failed')
    expect(failed).toMatchObject({ next_attempt_at: null })
    expect(failed.attempts).toHaveLength(8)
    await home.api('POST', `${base}/deliveries/${failed.id}/redeliver`)
    const again = await waitForDelivery(({ status }) => status === 'delivered')
    expect([again.id, again.attempts.length]).toEqual([failed.id, 9])
  })

  test('of a slow or broken target do not delay another one', async () => {
    receiver.statuses.push(503)
    await addWebhook()
    await failDeployment()
    await waitForDelivery(({ attempts }) => attempts.length === 1)
    const other = await startWebhookReceiver()
    await addTarget({ type: 'webhook', address: other.url })
    await failDeployment()
    await other.waitFor(1)
    await other.close()
  })
})

test('a test notification, and one of a target that is off', async () => {
  const { id } = await addWebhook()
  const { status, body } = await home.api<{ delivery: NotificationDelivery }>('POST', `${targetsPath}/${id}/test`)
  expect([status, body.delivery]).toMatchObject([201, { event: 'test', status: 'pending' }])
  await receiver.waitFor(1)
  await home.api('PATCH', `${targetsPath}/${id}`, { is_enabled: false })
  await failDeployment()
  expect((await deliveries()).map(({ event }) => event)).toEqual(['test'])
})

test('a kill loses nothing: what was not delivered is sent after the restart, with the same ID', async () => {
  await addWebhook()
  receiver.statuses.push(503)
  await failDeployment()
  const pending = await waitForDelivery(({ attempts }) => attempts.length === 1)
  const now = await home.now()
  await home.kill()
  home = await start(now - Date.now())
  await home.advance(10_000)
  const requests = await receiver.waitFor(2)
  expect(requests.map(({ headers }) => headers['homeport-delivery'])).toEqual([pending.id, pending.id])
  const delivered = await waitForDelivery(({ status }) => status === 'delivered')
  expect(delivered.id).toBe(pending.id)
})

test('neither log nor database contains an address or a secret', async () => {
  const { secret } = await addWebhook()
  await addTarget({ type: 'slack', address: receiver.url.replace('of-the-receiver', 'of-the-slack-channel') })
  receiver.statuses.push(500, 500)
  await failDeployment()
  await receiver.waitFor(2)
  const files = ['homeport.db', 'homeport.db-wal'].map((name) => readFileSync(join(data_dir, name)).toString('latin1'))
  for (const text of [...files, home.log.join('\n'), JSON.stringify(await deliveries())])
    for (const mark of [secret, 'of-the-receiver', 'of-the-slack-channel']) expect(text).not.toContain(mark)
  expect(JSON.stringify((await home.api('GET', targetsPath)).body)).not.toMatch(new RegExp(`of-the-slack-channel|${secret}`))
})
