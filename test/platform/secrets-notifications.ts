import { expect } from 'vitest'
import { newId } from '../../server/lib/id.ts'

type Ask = <Body = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  more?: { isHandout?: boolean },
) => Promise<{ status: number; body: Body }>

const base = '/instance/projects/teller'

/** The URL of a Slack webhook, a signing secret and a deploy hook of the project. Nothing answers at the addresses. */
export async function addNotificationSecrets(ask: Ask, secrets: Map<string, string>): Promise<void> {
  const slack = `https://127.0.0.1:1/services/${newId('evt')}`
  secrets.set('Slack URL', slack)
  expect((await ask('POST', `${base}/notifications/targets`, { type: 'slack', address: slack })).status).toBe(201)
  await ask('POST', `${base}/notifications/targets`, { type: 'slack', address: `http://${slack}` })
  const webhook = await ask<{ signing_secret: string }>(
    'POST',
    `${base}/notifications/targets`,
    { type: 'webhook', address: 'https://127.0.0.1:1/hook' },
    { isHandout: true },
  )
  secrets.set('signing secret', webhook.body.signing_secret)
  const header = `Bearer ${newId('evt')}`
  secrets.set('header of a log drain', header)
  const drainUrl = `https://127.0.0.1:1/ingest/${newId('evt')}`
  secrets.set('URL of a log drain', drainUrl)
  const drain = await ask<{ signing_secret: string }>(
    'POST',
    `${base}/log-drains`,
    { kind: 'http', address: drainUrl, headers: [{ name: 'Authorization', value: header }], sources: ['app', 'build', 'request'] },
    { isHandout: true },
  )
  secrets.set('signing secret of a log drain', drain.body.signing_secret)
  await ask('POST', `${base}/log-drains`, { kind: 'http', address: `http://${drainUrl}`, headers: [{ name: 'Host', value: header }] })
  // In the data folder, which is searched.
  expect((await ask('POST', `${base}/log-drains`, { kind: 'file', address: 'all', sources: ['app', 'build', 'request'] })).status).toBe(201)
  const hook = await ask<{ token: string }>('POST', `${base}/deploy-hooks`, { name: 'CMS' }, { isHandout: true })
  secrets.set('deploy hook', hook.body.token)
}

export async function readNotifications(ask: Ask, secrets: Map<string, string>): Promise<void> {
  await ask('POST', `/hooks/deploy/${secrets.get('deploy hook')!}/more`)
  const { log_drains } = (await ask<{ log_drains: { id: string }[] }>('GET', `${base}/log-drains`)).body
  for (const { id } of log_drains) await ask('POST', `${base}/log-drains/${id}/test`)
  for (const path of ['log-drains', 'notifications/targets', 'notifications/deliveries', 'deploy-hooks']) await ask('GET', `${base}/${path}`)
}
