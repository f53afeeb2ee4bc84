import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { localizeTimes, mergeChecks } from '../../../renderer/features/instance/check-labels.ts'
import { Doctor } from '../../../renderer/features/instance/doctor.tsx'
import { InstanceLoad } from '../../../renderer/features/instance/instance-load.tsx'
import { type DoctorCheckWithHelp, doctorCheckWithHelp } from '../../../server/contract/instance.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createCheck = (own: Partial<DoctorCheckWithHelp>) =>
  createExample(doctorCheckWithHelp, { name: 'git', status: 'ok', message: 'Git 2.50.', hint: null, help: null, ...own })
const createUsage = ({ cores = 8, failed = 0 } = {}) => ({
  cpu: { percent: 12.4, cores },
  memory: { used_bytes: 4e9, total_bytes: 16e9 },
  apps: { live: 1200, asleep: 3, failed },
})

test.each<[string, DoctorCheckWithHelp[], string]>([
  ['one that is fine', [createCheck({ help: 'engine' })], 'OK Git Git 2.50.'],
  [
    'one with a problem',
    [createCheck({ status: 'warning', message: 'Git is old.', hint: 'Update it.', help: 'engine' })],
    'Needs attention Git Git is old. Update it. How to fix it',
  ],
  [
    'three with the same problem',
    ['a.test', 'b.test', 'c.test'].map((name) => createCheck({ name: `name ${name}`, status: 'failed', message: `${name} fails.` })),
    'Failed a.test, b.test, c.test a.test fails.',
  ],
  [
    'four with the same problem',
    ['a.test', 'b.test', 'c.test', 'd.test'].map((name) => createCheck({ name: `name ${name}`, status: 'failed', message: `${name} fails.` })),
    'Failed a.test, b.test and 2 more a.test fails.',
  ],
])('the health of %s', (_, checks, expected) => {
  expect(renderPart(<Doctor />, { data: [[queryKeys.doctor, checks]] }).text()).toBe(`Health Check again ${expected}`)
})

test('health checks are repeated', async () => {
  const { user, text } = renderPart(<Doctor />, { data: [[queryKeys.doctor, []]], answers: { doctor: { checks: [createCheck({})] } } })
  expect(text()).toBe('Health Check again')
  await user.click(screen.getByRole('button', { name: 'Check again' }))
  await waitFor(() => expect(text()).toContain('Git 2.50.'))
})

test('health checks that fail', async () => {
  const { text } = renderPart(<Doctor />, { answers: { doctor: problemResponse('forbidden', 'Not for you.') } })
  expect(text()).toBe('Health Check again Loading')
  await waitFor(() => expect(text()).toContain('Not for you. forbidden'))
  expect(text()).not.toContain('Loading')
})

test('checks become one line if only their subjects differ', () => {
  const names = (...checks: Partial<DoctorCheckWithHelp>[]) => mergeChecks(checks.map(createCheck)).map(({ labels }) => labels)
  expect(names({ name: 'name a', message: 'x' }, { name: 'name b', message: 'x' })).toEqual([['a'], ['b']])
  const warning = { status: 'warning', message: 'x', hint: null } as const
  expect(names({ ...warning, name: 'name a' }, { ...warning, name: 'name b' })).toEqual([['a', 'b']])
  expect(names({ ...warning, name: 'name a' }, { ...warning, name: 'name b', status: 'failed' })).toEqual([['a'], ['b']])
  expect(names({ ...warning, name: 'name a' }, { ...warning, name: 'name b', hint: 'Fix it.' })).toEqual([['a'], ['b']])
  expect(names({ ...warning, name: 'name a' }, { ...warning, name: 'name b', message: 'y' })).toEqual([['a'], ['b']])
})

test.each<[string, DoctorCheckWithHelp['status'][], string, string]>([
  ['healthy', ['ok', 'ok'], 'Healthy', 'live'],
  ['with a warning', ['ok', 'warning'], '1 problem', 'busy'],
  ['with a failure', ['warning', 'failed'], '2 problems', 'fail'],
])('the summary of an instance that is %s', (_, statuses, expected, tone) => {
  const checks = statuses.map((status, index) => createCheck({ name: `name ${index}`, status, message: `${status}.` }))
  const { text } = renderPart(<InstanceLoad />, { data: [[queryKeys.doctor, checks]] })
  expect(text()).toBe(`[Summary] Health ${expected} 2 checks CPU Memory Disk Apps live`)
  expect(document.querySelector('.status-icon')?.getAttribute('class')).toContain(`tone-${tone}`)
})

test.each([
  [createUsage(), 'of 8 cores', '3 asleep'],
  [createUsage({ cores: 1, failed: 2 }), 'of 1 core', '3 asleep, 2 failed'],
])('the load of an instance', (usage, cores, apps) => {
  const disk = { kinds: [], total_bytes: 2e9, free_bytes: 9e9, data_dir: '/data' }
  const { text } = renderPart(<InstanceLoad />, {
    data: [
      [queryKeys.instanceUsage, usage],
      [queryKeys.disk, disk],
    ],
  })
  expect(text()).toBe(`[Summary] Health CPU 12 % ${cores} Memory 4.0 GB of 16.0 GB Disk 2.0 GB 9.0 GB free Apps live 1,200 ${apps}`)
})

test('figures that cannot be loaded are dashes', async () => {
  const problem = problemResponse('forbidden', 'Not for you.')
  const { text } = renderPart(<InstanceLoad />, { answers: { doctor: problem, getInstanceUsage: problem, getDisk: problem } })
  await waitFor(() => expect(text()).toBe('[Summary] Health – CPU – Memory – Disk – Apps live –'))
})

test('times in a message are shown in local time', () => {
  const text = localizeTimes('Valid from 2026-01-31T12:00:00.000Z to 2026-02-28T12:00Z, not 2026-02-28.')
  expect(text).toMatch(/^Valid from Jan 31, 2026, [\d:]+ to Feb 28, 2026, [\d:]+, not 2026-02-28\.$/)
})
