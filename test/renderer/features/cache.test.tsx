import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { Purge } from '../../../renderer/features/cache/purge.tsx'
import { Summary } from '../../../renderer/features/cache/summary.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Metrics, metrics } from '../../../server/contract/metrics.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createProject = (own: Partial<Project> = {}) => createExample(project, { slug: 'shop', name: 'Shop', has_purge_token: false, ...own })
const createMetrics = (own: Partial<Metrics['cache']> = {}) =>
  createExample(metrics, { cache: { hits: 3, misses: 1200, bypass: 0, hit_ratio: 0.5, objects: 2, bytes: 2000, ...own } })
const metricsKey = queryKeys.metrics('shop', '24h')
const renderSummary = (own: Partial<Metrics['cache']> = {}, caching_enabled = true, answers: PartOptions['answers'] = {}) =>
  renderPart(<Summary project={createProject({ caching_enabled })} onPurgeAll={() => {}} />, { data: [[metricsKey, createMetrics(own)]], answers })
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ text }) => text)
const isRemote = () => useConnection.setState({ current: { ...localConnection, id: 'rem_1', origin: 'https://deploy.example.com' } })

const cachingHint = 'Responses that the app marks as cacheable are served by the edge, even while the app sleeps.'
test.each<[string, Partial<Metrics['cache']>, string, number]>([
  ['several of each', { hits: 3 }, '50 %hit rate (last 24 h) 3 hits 1,200 misses 0 bypass Stored now: 2 responses, 2 kB', 2],
  ['one of each', { hits: 1, misses: 1, bypass: 1, objects: 1 }, '50 %hit rate (last 24 h) 1 hit 1 miss 1 bypass Stored now: 1 response, 2 kB', 3],
  [
    'only bypasses',
    { hits: 0, misses: 0, bypass: 2, hit_ratio: null },
    'No data yetno requests in the last 24 h 0 hits 0 misses 2 bypass Stored now: 2 responses, 2 kB',
    1,
  ],
  [
    'nothing',
    { hits: 0, misses: 0, hit_ratio: null, objects: 0, bytes: 0 },
    'No data yetno requests in the last 24 h 0 hits 0 misses 0 bypass Stored now: 0 responses, 0 B',
    0,
  ],
])('the cache had %s', (_, own, expected, bars) => {
  expect(renderSummary(own).text()).toBe(`[Edge cache] ${expected} Cache responses at the edge ${cachingHint} Purge everything…`)
  expect(document.querySelectorAll('[style*="flex-grow"]')).toHaveLength(bars)
})

test('figures that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { getMetrics: problemResponse('project_not_found', 'It is gone.') }
  const { user, text } = renderPart(<Summary project={createProject()} onPurgeAll={() => {}} />, { answers })
  expect(text()).toMatch(/^\[Edge cache\] Cache responses/)
  expect(document.querySelectorAll('.skeleton')).toHaveLength(1)
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  expect(document.querySelectorAll('.skeleton')).toHaveLength(0)
  answers.getMetrics = createMetrics()
  await user.click(button('Try again'))
  expect(await screen.findByText('1,200')).toBeTruthy()
})

test.each([
  ['off', true, 'Every request goes to the app and nothing is stored. Turn caching on to serve responses from the edge.'],
  ['on', false, cachingHint],
])('the cache is turned %s, which shows at once', async (_, before, hint) => {
  const { user, sent, text } = renderSummary({}, before)
  const toggle = screen.getByRole('switch', { name: 'Cache responses at the edge' })
  await user.click(toggle)
  expect(sent).toEqual([{ operation: 'updateProject', params: { slug: 'shop' }, body: { caching_enabled: !before } }])
  expect(toggle.getAttribute('aria-checked')).toBe(String(!before))
  expect(text()).toContain(hint)
})

test('a switch that fails goes back', async () => {
  const { user } = renderSummary({}, true, { updateProject: problemResponse('project_not_found', 'It is gone.') })
  const toggle = screen.getByRole('switch', { name: 'Cache responses at the edge' })
  await user.click(toggle)
  await waitFor(() => expect(toasts()).toEqual(['It is gone.']))
  expect(toggle.getAttribute('aria-checked')).toBe('true')
})

test.each([
  ['tags', ['  a, b\nb   c '], 'By tag', 'Purge 3 tags', { operation: 'purgeTags', params: { slug: 'shop' }, body: { tags: ['a', 'b', 'c'] } }],
  ['URLs', ['/a b\n\n /c '], 'By URL', 'Purge 2 URLs', { operation: 'purgeUrls', params: { slug: 'shop' }, body: { urls: ['/a b', '/c'] } }],
  ['one tag', ['a'], 'By tag', 'Purge', { operation: 'purgeTags', params: { slug: 'shop' }, body: { tags: ['a'] } }],
])('a purge of %s is sent', async (_, [text = ''], by, name, expected) => {
  const { user, sent } = renderPart(<Purge slug="shop" />, { answers: { purgeTags: { ok: true, purged: 2 }, purgeUrls: { ok: true, purged: 2 } } })
  await user.click(screen.getByRole('radio', { name: by }))
  const field = screen.getByRole('textbox')
  await user.type(field, text)
  await user.click(button(name))
  expect(sent).toEqual([expected])
  await waitFor(() => expect(field).toHaveProperty('value', ''))
  expect(toasts()).toEqual(['Purged 2 stored responses.'])
})

test.each([
  [
    'tags',
    'By tag',
    ' ',
    51,
    'Tags',
    'Separate with spaces, commas or new lines. The app sets tags in Surrogate-Key or Cache-Tag. Only matching entries are purged.',
  ],
  ['URLs', 'By URL', '\n', 101, 'URLs', 'One per line: a path with its query, or a full URL. All variants are purged.'],
])('the number of %s is limited', async (noun, by, separator, count, label, hint) => {
  const { user, sent, text } = renderPart(<Purge slug="shop" />)
  await user.click(screen.getByRole('radio', { name: by }))
  expect(text()).toBe(`Purge [Purge by] By tag By URL ${label} ${hint} Purge`)
  expect(button('Purge')).toHaveProperty('disabled', true)
  const entries = Array.from({ length: count }, (_unused, index) => `/${index}`)
  await user.click(screen.getByLabelText(label))
  await user.paste(entries.join(separator))
  expect(text()).toMatch(new RegExp(`${count} entries; purge at most ${count - 1} at once. Purge ${count} ${noun}$`))
  expect(button(`Purge ${count} ${noun}`)).toHaveProperty('disabled', true)
  await user.clear(screen.getByLabelText(label))
  await user.paste(entries.slice(1).join(separator))
  expect(button(`Purge ${count - 1} ${noun}`)).toHaveProperty('disabled', false)
  expect(sent).toEqual([])
})

test('a change of what is purged empties the field', async () => {
  const { user } = renderPart(<Purge slug="shop" />)
  await user.type(screen.getByLabelText('Tags'), 'a')
  await user.click(screen.getByRole('radio', { name: 'By URL' }))
  expect(screen.getByLabelText('URLs')).toHaveProperty('value', '')
})

test('a purge that fails says why until the text changes', async () => {
  const { user, text } = renderPart(<Purge slug="shop" />, { answers: { purgeTags: problemResponse('cache_purge_failed', 'Try again.') } })
  await user.type(screen.getByLabelText('Tags'), 'a')
  await user.click(button('Purge'))
  expect(await screen.findByText('Try again.')).toBeTruthy()
  expect(screen.getByLabelText('Tags')).toHaveProperty('value', 'a')
  await user.type(screen.getByLabelText('Tags'), 'b')
  expect(text()).not.toContain('Try again.')
})

test('a hosted account purges by tag only', () => {
  isRemote()
  const { text } = renderPart(<Purge slug="shop" />, { data: [[queryKeys.session, null]] })
  expect(text()).toMatch(/^Purge Tags Separate/)
})
