import { screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import CachePage from '../../../renderer/features/cache/page.tsx'
import { PurgeLog } from '../../../renderer/features/cache/purge-log.tsx'
import { Webhook } from '../../../renderer/features/cache/webhook.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type CacheEvent, cacheEvent } from '../../../server/contract/cache.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createProject = (own: Partial<Project> = {}) => createExample(project, { slug: 'shop', name: 'Shop', has_purge_token: false, ...own })
const createEvents = (events: Partial<CacheEvent>[], next_cursor: string | null = null) => ({
  events: events.map((own) => createExample(cacheEvent, { tags: [], urls: [], ...own })),
  next_cursor,
})
const pageOf = (events: Partial<CacheEvent>[], next_cursor: string | null = null) => ({
  pages: [createEvents(events, next_cursor)],
  pageParams: [null],
})
const session = createExample(instanceOperations.getSession.success.json)
const renderLog = (events: Partial<CacheEvent>[], next_cursor: string | null = null, answers: PartOptions['answers'] = {}) =>
  renderPart(<PurgeLog slug="shop" />, { data: [[queryKeys.cacheEvents('shop'), pageOf(events, next_cursor)]], answers })
const renderPage = (answers: PartOptions['answers'] = {}, data: PartOptions['data'] = []) =>
  renderPart(<CachePage slug="shop" />, { data: [[queryKeys.project('shop'), createProject()], ...data], answers })
const renderWebhook = (has_purge_token: boolean, answers: PartOptions['answers'] = {}) =>
  renderPart(<Webhook project={createProject({ has_purge_token })} />, { data: [[queryKeys.session, session]], answers })
const button = (name: string) => screen.getByRole('button', { name })
const headings = () => screen.getAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent)
const toasts = () => useUi.getState().toasts.map(({ text }) => text)
const becomeRemote = () => useConnection.setState({ current: { ...localConnection, id: 'rem_1', origin: 'https://deploy.example.com' } })

beforeEach(() => history.replaceState(null, '', '/app/projects/shop/cache'))

test.each<[string, Partial<CacheEvent>, string]>([
  ['everything', { kind: 'purge_all', purged: 1200, source: 'api' }, 'Everything: 1,200 stored responsesby the API'],
  ['tags', { kind: 'purge_tags', tags: ['a'], urls: ['/no'], purged: 1, source: 'webhook' }, 'By tag: 1 stored responseaby the webhook'],
  [
    'URLs',
    { kind: 'purge_urls', tags: ['no'], urls: ['/a', '/b'], purged: 0, source: 'dashboard' },
    'By URL: 0 stored responses/a/bfrom the dashboard',
  ],
  ['a deployment', { kind: 'purge_all', purged: 2, source: 'deploy' }, 'Everything: 2 stored responsesby a deployment'],
  ['a new token', { kind: 'token_rotated', tags: ['a'], source: 'dashboard' }, 'New webhook tokenfrom the dashboard'],
])('the log has a purge of %s', (_, own, expected) => {
  expect(renderLog([own]).text()).toBe(`Purge log ${expected}Jan 31, 2026`)
})

test('an empty log says what is listed', () => {
  expect(renderLog([]).text()).toBe('Purge log No purges yet. Every purge and every new token is listed here.')
})

test('the log loads', () => expect(renderPart(<PurgeLog slug="shop" />).text()).toBe('Purge log Loading'))

test('a log that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { listCacheEvents: problemResponse('project_not_found', 'It is gone.') }
  const { user, text } = renderPart(<PurgeLog slug="shop" />, { answers })
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  expect(text()).not.toContain('Loading')
  answers.listCacheEvents = createEvents([{ kind: 'token_rotated' }])
  await user.click(button('Try again'))
  expect(await screen.findByText('New webhook token')).toBeTruthy()
})

test('older purges are shown on request', async () => {
  const { user } = renderLog([{ id: 'evt_1', kind: 'purge_all' }], 'next', {
    listCacheEvents: createEvents([{ id: 'evt_2', kind: 'token_rotated' }]),
  })
  await user.click(button('Show older'))
  expect(await screen.findByText('New webhook token')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Show older' })).toBeNull()
})

test('the webhook without a token is off', () => {
  expect(renderWebhook(false).text()).toBe(
    `Purge webhook Create token Call this URL from your CMS when content changes, so that the cache stays up to date. An empty body purges everything; tags or URLs in the body purge only matching entries. [Command] curl -X POST ${session.instance.api_url}/hooks/cache/shop \\ -H "Authorization: Bearer $PURGE_TOKEN" \\ -H "Content-Type: application/json" \\ -d '{"tags": ["front-page"]}' [Copy command] No token yet, so this URL is disabled.`,
  )
})

test('the webhook of a remote instance has its address', () => {
  becomeRemote()
  expect(renderWebhook(false).text()).toContain('curl -X POST https://deploy.example.com/hooks/cache/shop ')
})

test('the webhook uses the address of the page until the instance reports its own', () => {
  expect(renderPart(<Webhook project={createProject()} />).text()).toContain(`curl -X POST ${localConnection.origin}/hooks/cache/shop `)
})

test('a token is created and shown with a command', async () => {
  const created = { token: 'svc_secret', webhook_url: 'https://example.com/hooks/cache/shop' }
  const { user, sent, text } = renderWebhook(false, { createPurgeToken: created })
  await user.click(button('Create token'))
  expect(text()).toBe('Create token Anyone with the token can purge this project’s cache, and nothing else. Cancel Create token [Close]')
  await user.click(button('Create token'))
  expect(sent).toEqual([{ operation: 'createPurgeToken', params: { slug: 'shop' } }])
  expect(await screen.findByText('svc_secret')).toBeTruthy()
  expect(text()).toContain('Webhook token Copy it now: it is not shown again. Anyone with this token can purge the cache, and nothing else.')
  expect(text()).toContain('curl -X POST https://example.com/hooks/cache/shop \\ -H "Authorization: Bearer svc_secret"')
  await user.click(button('Done'))
  await user.click(button('Close anyway'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('a token is rotated after a warning', async () => {
  const { user, sent, text } = renderWebhook(true, { createPurgeToken: problemResponse('project_not_found', 'It is gone.') })
  expect(text()).toMatch(/^Purge webhook Rotate token… .* A token exists. It was shown when it was created; rotate it if you have lost it.$/)
  await user.click(button('Rotate token…'))
  expect(text()).toBe(
    'Rotate token? The current token stops working immediately. Update every client that uses it. Keep current token Rotate token [Close]',
  )
  await user.click(button('Rotate token'))
  expect(sent).toEqual([{ operation: 'createPurgeToken', params: { slug: 'shop' } }])
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  await user.click(button('Keep current token'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('the page loads with its project', () => {
  expect(renderPart(<CachePage slug="shop" />).text()).toBe('Loading')
  expect(document.title).toBe('Cache · shop · Homeport')
})

test('the page of an instance has an inspector', () => {
  renderPage()
  expect(headings()).toEqual(['Cache inspector', 'Purge', 'Purge webhook', 'Purge log'])
  expect(document.title).toBe('Cache · Shop · Homeport')
})

test('the page of a hosted account has no inspector', () => {
  becomeRemote()
  renderPage({}, [[queryKeys.session, null]])
  expect(headings()).toEqual(['Purge', 'Purge webhook', 'Purge log'])
})

test('everything is purged after a question', async () => {
  const { user, sent, text } = renderPage({ purgeAll: { ok: true, purged: 1 } })
  await user.click(button('Purge everything…'))
  expect(text()).toBe(
    'Purge the whole cache of Shop? Removes everything the edge has stored for this project, including previews. No data is lost, but responses are slower until the cache fills again. Cancel Purge everything [Close]',
  )
  await user.click(button('Purge everything'))
  expect(sent).toEqual([{ operation: 'purgeAll', params: { slug: 'shop' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(toasts()).toEqual(['Purged 1 stored response.'])
})

test('an address opens the question, and closing it removes the parameter', async () => {
  history.replaceState(null, '', '/app/projects/shop/cache?purge=all')
  const { user } = renderPage({ purgeAll: problemResponse('cache_purge_failed', 'Try later.') })
  await user.click(button('Purge everything'))
  expect(await screen.findByText('Try later.')).toBeTruthy()
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(location.search).toBe('')
})

test('other parameters of the address stay', async () => {
  history.replaceState(null, '', '/app/projects/shop/cache?at=purge')
  const { user } = renderPage()
  await user.click(button('Purge everything…'))
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(location.search).toBe('?at=purge')
})
