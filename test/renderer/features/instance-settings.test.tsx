import { fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { InstanceSettings } from '../../../renderer/features/instance/instance-settings.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Settings, settings } from '../../../server/contract/instance.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSettings = (own: Partial<Settings> = {}) =>
  createExample(settings, {
    on_exit: 'default',
    build_concurrency: 2,
    keep_deployments: 5,
    build_timeout_s: 900,
    build_memory_mb: 2048,
    rate_limit_authenticated: 600,
    rate_limit_anonymous: 60,
    sleep_after_s: 1800,
    frozen_for_s: 0,
    frozen_budget_mb: 700,
    cache_memory_mb: 64,
    cache_disk_mb: 1024,
    metrics: true,
    request_log: true,
    screenshots: true,
    platform_ip: '203.0.113.10',
    dns_resolvers: ['8.8.8.8', '8.8.4.4'],
    dns_server: 5353,
    plan: 'enterprise',
    email_verified: true,
    payment_method: true,
    ...own,
  })
const renderSettings = (own: Partial<Settings> = {}, answers = {}) =>
  renderPart(<InstanceSettings />, { data: [[queryKeys.settings, createSettings(own)]], answers })
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const valueOf = (label: string) => screen.getByLabelText<HTMLInputElement>(label).value
const saveButton = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Save settings' })

test('the settings have their units, and nothing to save', () => {
  renderSettings()
  expect(screen.getAllByRole<HTMLInputElement>('textbox').map(({ value }) => value)).toEqual([
    '15 min',
    '2 GB',
    '30 min',
    '0 s',
    '700 MB',
    '64 MB',
    '1 GB',
    '203.0.113.10',
    '8.8.8.8, 8.8.4.4',
  ])
  expect(screen.getAllByRole<HTMLInputElement>('spinbutton').map(({ value }) => value)).toEqual(['2', '5', '600', '60', '5353'])
  expect(screen.getAllByRole<HTMLSelectElement>('combobox').map(({ value }) => value)).toEqual(['default', 'enterprise'])
  expect(saveButton().disabled).toBe(true)
})

test('settings that are not set are empty', () => {
  renderSettings({ build_concurrency: null, platform_ip: null, dns_resolvers: null, dns_server: null })
  expect(['Concurrent builds', 'IP address for A records', 'DNS resolvers', 'Built-in DNS server port'].map(valueOf)).toEqual(['', '', '', ''])
})

test.each<[string, string, Partial<Settings>]>([
  ['When Homeport quits', 'stop', { on_exit: 'stop' }],
  ['When Homeport quits', 'keep', { on_exit: 'keep' }],
  ['Concurrent builds', '3', { build_concurrency: 3 }],
  ['Concurrent builds', '', { build_concurrency: null }],
  ['Deployments to keep', '7', { keep_deployments: 7 }],
  ['Build timeout', '2 h', { build_timeout_s: 7200 }],
  ['Build memory', '512 MB', { build_memory_mb: 512 }],
  ['Requests per minute, signed in', '50', { rate_limit_authenticated: 50 }],
  ['Requests per minute, anonymous', '5', { rate_limit_anonymous: 5 }],
  ['Sleep after', '90', { sleep_after_s: 90 }],
  ['Freeze for', '1 h', { frozen_for_s: 3600 }],
  ['Memory for frozen apps', '2 GB', { frozen_budget_mb: 2048 }],
  ['Memory cache', '128', { cache_memory_mb: 128 }],
  ['Disk cache', '0', { cache_disk_mb: 0 }],
  ['IP address for A records', ' 203.0.113.9 ', { platform_ip: '203.0.113.9' }],
  ['IP address for A records', ' ', { platform_ip: null }],
  ['DNS resolvers', '9.9.9.9,  1.1.1.1 ', { dns_resolvers: ['9.9.9.9', '1.1.1.1'] }],
  ['DNS resolvers', ' , ', { dns_resolvers: null }],
  ['Built-in DNS server port', '53', { dns_server: 53 }],
  ['Built-in DNS server port', '', { dns_server: null }],
  ['Simulated plan', 'basic', { plan: 'basic' }],
])('“%s” of “%s” is saved alone', async (label, value, body) => {
  const { user, sent } = renderSettings()
  fill(label, value)
  await user.click(saveButton())
  expect(sent).toEqual([{ operation: 'updateSettings', params: {}, body }])
})

test.each<[string, Partial<Settings>]>([
  ['Collect request metrics', { metrics: false }],
  ['Log requests', { request_log: false }],
  ['Take screenshots of deployments', { screenshots: false }],
  ['Email is verified', { email_verified: false }],
  ['Has a card', { payment_method: false }],
])('“%s” is turned off', async (label, body) => {
  const { user, sent } = renderSettings()
  await user.click(screen.getByLabelText(label))
  await user.click(saveButton())
  expect(sent).toEqual([{ operation: 'updateSettings', params: {}, body }])
})

test('what happens to apps can be set to the default again', async () => {
  const { user, sent } = renderSettings({ on_exit: 'stop' })
  fill('When Homeport quits', 'default')
  await user.click(saveButton())
  expect(sent).toMatchObject([{ body: { on_exit: 'default' } }])
})

test.each([
  ['Build timeout', 'soon', 'Enter a duration, such as 90 s, 15 min or 2 h.'],
  ['Build memory', 'much', 'Enter a size, such as 512 MB or 2 GB.'],
])('“%s” of “%s” is an error and is not sent', async (label, value, message) => {
  const { user, sent } = renderSettings()
  fill(label, value)
  fireEvent.blur(screen.getByLabelText(label))
  expect([valueOf(label), screen.getByRole('alert').textContent]).toEqual([value, message])
  await user.click(screen.getByLabelText('Has a card'))
  await user.click(saveButton())
  expect(sent).toEqual([])
  fill(label, '300')
  expect(screen.queryByRole('alert')).toBeNull()
  await user.click(saveButton())
  expect(sent).toHaveLength(1)
})

test('a duration is written in full once its field is left', () => {
  renderSettings()
  fill('Build timeout', '90')
  expect(valueOf('Build timeout')).toBe('90')
  fireEvent.blur(screen.getByLabelText('Build timeout'))
  expect(valueOf('Build timeout')).toBe('1 min 30 s')
})

test('a number that is deleted stays empty', () => {
  renderSettings()
  fill('Deployments to keep', '')
  expect(valueOf('Deployments to keep')).toBe('')
})

test('saved settings are shown, and nothing is left to save', async () => {
  const { user } = renderSettings({}, { updateSettings: { settings: createSettings({ keep_deployments: 7 }) } })
  fill('Deployments to keep', '7')
  expect(saveButton().disabled).toBe(false)
  await user.click(saveButton())
  await waitFor(() => expect(saveButton().disabled).toBe(true))
  expect(valueOf('Deployments to keep')).toBe('7')
  expect(useUi.getState().toasts.map(({ text }) => text)).toEqual(['Settings saved.'])
})

const invalid = (path: string) =>
  Response.json(
    { error: 'invalid_input', message: 'Check the fields.', issues: [{ path, message: 'That is wrong.' }], request_id: 'req_1' },
    { status: 400 },
  )
test.each([
  ['build_concurrency', 'Concurrent builds 2 That is wrong.'],
  ['keep_deployments', 'Deployments to keep 7 That is wrong.'],
  ['build_timeout_s', 'Build timeout 15 min That is wrong.'],
  ['platform_ip', 'IP address for A records 203.0.113.10 That is wrong.'],
  ['dns_resolvers', 'DNS resolvers 8.8.8.8, 8.8.4.4 That is wrong.'],
  ['dns_server', 'Built-in DNS server port 5353 That is wrong.'],
])('an error of %s is shown at its field', async (path, expected) => {
  const { user, text } = renderSettings({}, { updateSettings: invalid(path) })
  fill('Deployments to keep', '7')
  await user.click(saveButton())
  await waitFor(() => expect(text()).toContain(expected))
  expect(text()).not.toContain('Check the fields.')
})

test('another error is shown below the fields', async () => {
  const { user, text } = renderSettings({}, { updateSettings: problemResponse('owner_password_required', 'Set a password.') })
  fill('Deployments to keep', '7')
  await user.click(saveButton())
  await waitFor(() => expect(text()).toContain('Set a password. owner_password_required'))
})

test('the settings load, and a failure can be tried again', async () => {
  const answers: { getSettings: Response } = { getSettings: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<InstanceSettings />, { answers })
  expect(text()).toBe('Settings Loading')
  await waitFor(() => expect(text()).toMatch(/^Settings Not for you\. forbidden .*Try again$/))
  answers.getSettings = Response.json({ settings: createSettings() })
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(screen.queryByDisplayValue('15 min')).toBeTruthy())
})
