import { describe, expect, it } from 'vitest'
import type { DeploymentStep } from '../../server/contract/deployments.ts'
import { slug } from '../../server/contract/shared.ts'
import { findErrorLine } from '../../server/client/error-line.ts'
import { stripAnsi } from '../../renderer/lib/ansi.ts'
import type { LogLine } from '../../renderer/features/logs/log-line.ts'
import { appUrl } from '../../renderer/api/app-url.ts'
import { wasStepReached } from '../../renderer/lib/deployment-progress.ts'
import { checkLabel } from '../../server/contract/check-labels.ts'
import { localizeTimes, mergeChecks } from '../../renderer/features/instance/check-labels.ts'
import {
  formatAgo,
  formatBytes,
  formatDuration,
  formatDateTime,
  projectNameFromSource,
  formatSince,
  formatTime,
  slugify,
} from '../../renderer/lib/format.ts'
import { formatTimeRange } from '../../renderer/lib/chart-scale.ts'
import { projectBadge, servingBadge } from '../../renderer/components/status.tsx'

describe('a slug from a name', () => {
  it.each([
    ['My Grand Café', 'my-grand-cafe'],
    ['  --Ægir & Söner №1--  ', 'gir-soner-no1'],
    ['x'.repeat(80), 'x'.repeat(50)],
    [`${'y'.repeat(49)} z`, 'y'.repeat(49)],
  ])('%s', (name, expected) => {
    expect(slugify(name)).toBe(expected)
    expect(slug.safeParse(expected).success).toBe(true)
  })
})

it.each([
  ['https://example.com/me/my-app.git', 'my-app'],
  ['git@example.com:me/my-app.git', 'my-app'],
  ['file:///home/me/my-app/.git', 'my-app'],
  ['/home/me/my-app/', 'my-app'],
  ['C:\\Users\\me\\my-app', 'my-app'],
])('a name from %s', (address, name) => expect(projectNameFromSource(address)).toBe(name))

it.each([
  [0, '0 ms'],
  [99, '99 ms'],
  [400, '0.4 s'],
  [9_949, '9.9 s'],
  [12_400, '12 s'],
  [185_000, '3 min 05 s'],
  [7_800_000, '2 h 10 min'],
])('%d ms are %s', (ms, words) => expect(formatDuration(ms)).toBe(words))

it('formats a relative time', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z')
  expect(formatAgo('2026-01-31T11:59:40.000Z', now)).toBe('just now')
  expect(formatAgo('2026-01-31T11:57:00.000Z', now)).toBe('3 min ago')
  expect(formatAgo('2026-01-31T07:00:00.000Z', now)).toBe('5 h ago')
  expect(formatAgo('2026-01-29T12:00:00.000Z', now)).toBe('2 d ago')
})

it('formats times with 24 hours, and midnight as 00', () => {
  const at = (hours: number) => new Date(2026, 0, 31, hours, 5, 9)
  expect(formatDateTime(at(16).toISOString())).toMatch(/16:05:09$/)
  expect(formatDateTime(at(0).toISOString())).toMatch(/00:05:09$/)
  expect(formatTime(at(16))).toBe('16:05:09')
  expect(formatTimeRange(at(0).toISOString(), 900)).toMatch(/00:05 to 00:20$/)
})

it('formats a duration', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z')
  expect(['2026-01-31T11:59:40.000Z', '2026-01-31T11:51:00.000Z', '2025-11-21T12:00:00.000Z'].map((at) => formatSince(at, now))).toEqual([
    'for less than a minute',
    'for 9 min',
    expect.stringMatching(/^since .*2025$/),
  ])
})

it('distinguishes unneeded steps from those that a deployment did not reach', () => {
  const steps = (['done', 'skipped', 'failed', 'skipped', 'skipped'] as const).map((status, index) => ({ ...step(index), status }))
  const reached = (status: 'failed' | 'canceled' | 'ready') => steps.map((_, index) => wasStepReached(status, steps, index))
  expect(reached('failed')).toEqual([true, true, true, false, false])
  expect(reached('canceled')).toEqual([true, true, true, false, false])
  expect(reached('ready')).toEqual([true, true, true, true, true])
})

it('a serving version stays live during the next build, and has its own badge', () => {
  const project = { status: 'building', is_cold: false } as const
  expect([projectBadge(project).label, projectBadge(project, true).label, projectBadge({ ...project, is_cold: true }, true).label]).toEqual([
    'Building',
    'Live',
    'Live, asleep',
  ])
  expect((['building', 'live', 'crashed'] as const).map((status) => servingBadge({ status }).shape)).toEqual(['disc', 'disc', 'cross'])
})

it('labels checks in the user’s terms, and times in the reader’s locale', () => {
  expect(
    [
      'runtime docker',
      'runtime of a later version',
      'databases docker',
      'databases docker 17',
      'port api',
      'certificates nss',
      'name shop.localhost',
      'disk',
    ].map(checkLabel),
  ).toEqual([
    'Docker',
    'of a later version',
    'Database server',
    'Database server (PostgreSQL 17)',
    'API and dashboard port',
    'Certificates (nss)',
    'shop.localhost',
    'Disk',
  ])
  const at = '2026-01-31T12:00:00.000Z'
  expect(localizeTimes(`Last copy: ${at}.`)).toBe(`Last copy: ${formatDateTime(at)}.`)
})

it('formats bytes like file managers', () => {
  expect([999, 1_500, 2_340_000, 182_000_000, 1_250_000_000].map(formatBytes)).toEqual(['999 B', '2 kB', '2.3 MB', '182 MB', '1.3 GB'])
})

it('combines a slug with the host and port of the edge', () => {
  expect(appUrl('my-app', 'http://127.0.0.1:4680')).toBe('http://my-app.localhost:4680')
  expect(appUrl('my-app', 'http://localhost:4680/')).toBe('http://my-app.localhost:4680')
  expect(appUrl('my-app', 'https://apps.example.com')).toBe('https://my-app.apps.example.com')
})

describe('the error line', () => {
  const steps: DeploymentStep[] = [
    { name: 'install', status: 'done', started_at: null, finished_at: null },
    { name: 'build', status: 'failed', started_at: null, finished_at: null },
  ]
  const failed = { steps, error: null }
  const lines = (...texts: [text: string, source?: LogLine['source'], group?: string][]): LogLine[] =>
    texts.map(([text, source = 'stdout', group = 'build'], index) => ({ text, source, group, ts: null, number: index + 1 }))

  it('is the first error of the failed step', () => {
    const log = lines(
      ['npm error old', 'stderr', 'install'],
      ['compiling'],
      ['src/a.ts(3,1): error TS2304: Cannot find name x', 'stdout'],
      ['npm error code ELIFECYCLE', 'stderr'],
    )
    expect(findErrorLine(log, failed, stripAnsi)?.line.number).toBe(3)
  })
  it('is the line after an announcement', () => {
    const log = lines(['\u001b[31merror during build:\u001b[0m', 'stderr'], ['Could not resolve "./prices.ts"', 'stderr'])
    expect(findErrorLine(log, failed, stripAnsi)?.line.number).toBe(2)
  })
  it('is the line that the failure quotes', () => {
    const log = lines(
      ['Laying the keel'],
      ['Water is coming in: HULL is not set', 'stderr'],
      ['npm error Lifecycle script `build` failed with error:', 'stderr'],
    )
    const message = '`npm run build` ended with exit code 1 after 0.2 s. A variable is missing: HULL (log: “Water is coming in: HULL is not set”).'
    expect(findErrorLine(log, { steps, error: { code: 'build_failed', message, hint: '' } }, stripAnsi)?.line.number).toBe(2)
    expect(findErrorLine(log, failed, stripAnsi)?.line.number).toBe(2)
  })
  it('is the error of an app that throws during startup, not the source line that Node prints above it', () => {
    const texts = ['/app/server.js:1', "throw new Error('no harbour')", '^', '', 'Error: no harbour', '    at file:///app/server.js:1:7']
    const log = lines(...texts.map((text): [string, 'stderr', string] => [text, 'stderr', 'start']))
    const started: DeploymentStep[] = [{ name: 'health_check', status: 'failed', started_at: null, finished_at: null }]
    expect(findErrorLine(log, { steps: started, error: null }, stripAnsi)?.line.number).toBe(5)
  })
  it('is the last line when none looks like an error', () => {
    expect(findErrorLine(lines(['one'], ['two']), failed, stripAnsi)?.line.number).toBe(2)
  })
  it('is null when nothing failed, or the log is empty', () => {
    expect(findErrorLine(lines(['one']), { steps: [], error: null }, stripAnsi)).toBeNull()
    expect(findErrorLine([], failed, stripAnsi)).toBeNull()
  })
})

function step(index: number): DeploymentStep {
  return {
    name: (['clone', 'install', 'build', 'start', 'route'] as const)[index] ?? 'route',
    status: 'pending',
    started_at: null,
    finished_at: null,
  }
}

it('shows equal problems of different names as one', () => {
  const check = (name: string, status: 'ok' | 'warning') => ({
    name,
    status,
    message: `${checkLabel(name)} does not resolve.`,
    hint: 'Edit it.',
    help: null,
  })
  const checks = [check('name a.test', 'warning'), check('git', 'ok'), check('name b.test', 'warning'), check('disk', 'warning')]
  expect(mergeChecks(checks).map(({ labels }) => labels)).toEqual([['a.test', 'b.test', 'Disk'], ['Git']])
  expect(mergeChecks([check('name a.test', 'ok'), check('name b.test', 'ok')])).toHaveLength(2)
})
