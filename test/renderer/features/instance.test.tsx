import { screen, waitFor, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { InstanceHeader } from '../../../renderer/features/instance/instance-header.tsx'
import { OwnerPage } from '../../../renderer/features/instance/owner-page.tsx'
import InstancePage from '../../../renderer/features/instance/page.tsx'
import { RuntimeReport } from '../../../renderer/features/instance/runtime-report.tsx'
import type { RuntimeStatus } from '../../../server/contract/instance.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const example = createExample(allOperations.getSession.success.json)
const createSession = (is_instance_owner: boolean, instance: Partial<typeof example.instance> = {}) => ({
  ...example,
  user: { ...example.user, email: 'ada@example.com', is_instance_owner },
  account: { ...example.account, plan: 'pro' },
  instance: { ...example.instance, runtime: createRuntime({}), ...instance },
})
const createRuntime = (own: Partial<RuntimeStatus>): RuntimeStatus => ({
  name: 'docker',
  version: '29.1',
  reason: 'It runs.',
  is_forced: false,
  ...own,
})
const usage = { cpu: { percent: 12.4, cores: 8 }, memory: { used_bytes: 4e9, total_bytes: 16e9 }, apps: { live: 1200, asleep: 3, failed: 0 } }

const ownerTabs = ['Overview', 'Settings', 'Network', 'Disk', 'Backups']
test.each<[string, ReturnType<typeof createSession> | null, boolean, string[]]>([
  ['an owner', createSession(true), false, ownerTabs],
  ['an owner in the desktop app', createSession(true), true, [...ownerTabs, 'Desktop']],
  ['an owner of a cluster', createSession(true, { runtime: createRuntime({ name: 'swarm' }) }), false, [...ownerTabs, 'Nodes']],
  ['a user', createSession(false), true, []],
  ['a hosted account', null, true, []],
])('the tabs of %s', (_, session, isDesktop, tabs) => {
  if (isDesktop) vi.stubGlobal('homeport', {})
  renderPart(<InstanceHeader />, { data: [[queryKeys.session, session]] })
  expect(screen.queryAllByRole('link').map(({ textContent }) => textContent)).toEqual(tabs)
  expect(document.querySelector('.tabs[aria-hidden]')).toBeNull()
})

test('the current tab is marked', () => {
  history.replaceState(null, '', '/instance/disk')
  renderPart(<InstanceHeader />, { data: [[queryKeys.session, createSession(true, { version: '1.2.3' })]] })
  expect(screen.getByText('Homeport 1.2.3')).toBeTruthy()
  expect(screen.getAllByRole('link', { current: 'page' }).map(({ textContent }) => textContent)).toEqual(['Disk'])
})

test('the tabs have their space while the user is unknown', () => {
  expect(renderPart(<InstanceHeader />).text()).toBe('Instance')
  expect(document.querySelector('.tabs[aria-hidden]')).toBeTruthy()
})

test.each<[string, object | null | undefined, string]>([
  ['loads', undefined, 'Instance Loading'],
  [
    'is shown to the owner',
    createSession(true, { version: '1.2.3' }),
    'Instance Homeport 1.2.3 [Instance] Overview Settings Network Disk Backups The settings',
  ],
  ['is not shown to others', createSession(false, { version: '1.2.3' }), 'Instance Homeport 1.2.3 Only for the owner.'],
  ['is not shown to a hosted account', null, 'Instance Only for the owner.'],
])('a page for the owner %s', (_, session, expected) => {
  const page = (
    <OwnerPage deniedMessage="Only for the owner.">
      <p>The settings</p>
    </OwnerPage>
  )
  const { text } = renderPart(page, { data: session === undefined ? [] : [[queryKeys.session, session]] })
  expect(text().replace(/(Overview)(Settings)(Network)(Disk)(Backups)/, '$1 $2 $3 $4 $5')).toBe(expected)
})

test('a page whose session cannot be loaded says why', async () => {
  const { text } = renderPart(<OwnerPage deniedMessage="Only for the owner.">The settings</OwnerPage>, {
    answers: { getSession: problemResponse('forbidden', 'Not for you.') },
  })
  await waitFor(() => expect(text()).toMatch(/^Instance Not for you\. forbidden .*Try again$/))
})

const toUseContainers = 'To use containers, start'
test.each<[string, Partial<RuntimeStatus>, string]>([
  ['Docker', {}, 'Docker 29.1 is ready It runs.'],
  ['an unknown runtime without a version', { name: 'pods' as RuntimeStatus['name'], version: null }, 'pods is ready It runs.'],
  [
    'processes',
    { name: 'process' },
    `Running without containers It runs. ${toUseContainers} Docker, OrbStack, Colima or Podman, then restart Homeport. Learn more Check again`,
  ],
  [
    'processes by choice',
    { name: 'process', is_forced: true },
    `Running without containers It runs. ${toUseContainers} Homeport without --runtime process. Learn more`,
  ],
])('the runtime is %s', (_, own, expected) => {
  const { text } = renderPart(<RuntimeReport />, { data: [[queryKeys.session, createSession(true, { runtime: createRuntime(own) })]] })
  expect(text()).toBe(`[Runtime] ${expected}`)
})

test('the runtime is checked again', async () => {
  const answers = { getSession: createSession(true, { runtime: createRuntime({}) }) as typeof example }
  const { user, text } = renderPart(<RuntimeReport />, {
    data: [[queryKeys.session, createSession(true, { runtime: createRuntime({ name: 'process' }) })]],
    answers,
  })
  await user.click(screen.getByRole('button', { name: 'Check again' }))
  await waitFor(() => expect(text()).toBe('[Runtime] Docker 29.1 is ready It runs.'))
})

const addresses = { api_url: 'http://api', edge_url: 'http://apps', edge_https_url: 'https://apps', dashboard_url: 'http://dash' } as const
test.each<[boolean, Partial<typeof example.instance>, string, string[]]>([
  [false, { ...addresses, encryption: 'keychain' }, 'in the keychain of this machine', ['API', 'Apps', 'Apps, HTTPS', 'Dashboard']],
  [false, { ...addresses, edge_https_url: null, encryption: 'file_key' }, 'in a file in the data folder', ['API', 'Apps', 'Dashboard']],
  [true, { ...addresses, encryption: 'file_key' }, 'in a file in the data folder', ['API', 'Apps', 'Apps, HTTPS', 'Dashboard']],
])('the overview for an owner (%s)', (isOwner, instance, keyLocation, names) => {
  const { text } = renderPart(<InstancePage />, {
    data: [
      [queryKeys.session, createSession(isOwner, instance)],
      [queryKeys.instanceUsage, usage],
    ],
  })
  expect(text()).toContain(`Secrets are encrypted with a master key stored ${keyLocation}. Addresses`)
  const list = screen.getByRole('region', { name: 'Addresses' })
  expect(
    within(list)
      .getAllByRole('term')
      .map(({ textContent }) => textContent),
  ).toEqual(names)
  expect(text().includes('[Summary]')).toBe(isOwner)
  expect(text().includes('Health Check again')).toBe(isOwner)
  expect(text().includes('Your account ada@example.com, Pro plan. Only the owner can manage settings and people.')).toBe(!isOwner)
})

test.each<[string, [readonly string[], unknown][], string]>([
  ['is loading', [], 'Instance Loading'],
  [
    'is of a hosted account',
    [[queryKeys.session, null]],
    'No details for this instance It supports the API, but it cannot be managed from this dashboard.',
  ],
])('the overview that %s', (_, data, expected) => expect(renderPart(<InstancePage />, { data }).text()).toBe(expected))

test('the overview waits for the load of the machine', () => {
  const { text } = renderPart(<InstancePage />, { data: [[queryKeys.session, createSession(true)]] })
  expect(text()).toContain('Loading')
  expect(text()).not.toContain('Addresses')
})

test('the overview that cannot be loaded says why, and is tried again', async () => {
  const answers: { getSession: Response } = { getSession: problemResponse('forbidden', 'Not for you.') }
  const { user, text } = renderPart(<InstancePage />, { answers })
  await waitFor(() => expect(text()).toMatch(/^Not for you\. forbidden .*Try again$/))
  answers.getSession = Response.json(createSession(false))
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(text()).toContain('Your account'))
  expect(document.title).toBe('Instance · Homeport')
})
