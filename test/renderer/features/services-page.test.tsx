import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { CronRuns } from '../../../renderer/features/services/cron-runs.tsx'
import { AutoscalingSection } from '../../../renderer/features/services/autoscaling.tsx'
import ServicesPage from '../../../renderer/features/services/page.tsx'
import type { ScalingDecision } from '../../../server/contract/autoscaling.ts'
import { preview } from '../../../server/contract/previews.ts'
import { project } from '../../../server/contract/projects.ts'
import { cronRun, type CronRun, service, type Service } from '../../../server/contract/services.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const past = '2026-01-31T09:00:00.000Z'
const createService = (own: Partial<Service> = {}) =>
  createExample(service, {
    name: 'web',
    kind: 'web',
    is_main: false,
    ports: [],
    volumes: [],
    replicas: [],
    autoscaling: null,
    next_run_at: null,
    ...own,
  })
interface PageState {
  search?: string
  services?: Service[] | null
  release_command?: string | null
}
function openPage({ search = '', services = [], release_command = null }: PageState = {}) {
  history.replaceState(null, '', `/projects/my-shop/services${search}`)
  const found = services && { services, release_command, deployment_id: null }
  return renderPart(<ServicesPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), createExample(project, { slug: 'my-shop', name: 'My shop' })],
      [queryKeys.previews('my-shop'), [createExample(preview, { branch: 'docs' })]],
      [queryKeys.services('my-shop', new URLSearchParams(search).get('branch')), found],
    ],
  })
}
const headings = () => screen.getAllByRole('heading').map(({ textContent }) => textContent)
const createRun = (own: Partial<CronRun> = {}) =>
  createExample(cronRun, {
    id: 'run_1',
    trigger: 'schedule',
    status: 'succeeded',
    scheduled_at: past,
    started_at: past,
    finished_at: '2026-01-31T09:00:02.500Z',
    message: null,
    ...own,
  })
const openRuns = (runs: CronRun[] | null, next_cursor: string | null = null, answers: Answers = {}) =>
  renderPart(<CronRuns slug="my-shop" name="report" />, {
    data: runs ? [[queryKeys.cronRuns('my-shop', 'report'), { pages: [{ runs, next_cursor }], pageParams: [null] }]] : [],
    answers,
  })
const range = { min: 1, max: 3, target_concurrency: 20 }
const openScaling = (decisions: Pick<ScalingDecision, 'time' | 'message'>[] | null, answers: Answers = {}) =>
  renderPart(<AutoscalingSection slug="my-shop" range={range} />, {
    data: decisions ? [[queryKeys.scalingDecisions('my-shop'), { decisions }]] : [],
    answers,
  })

const cron = createService({ name: 'report', kind: 'cron' })
test.each<[string, PageState, string[]]>([
  ['one app', {}, ['Services', 'This project is one app']],
  ['a hosted account', { services: null }, ['Services', 'This project is one app']],
  ['services with a cron job', { services: [createService(), cron] }, ['Services', 'Runs of report']],
  ['a cron job of a preview', { services: [cron], search: '?branch=docs' }, ['Services']],
  ['autoscaling', { services: [createService({ is_main: true, autoscaling: range })] }, ['Services', 'Autoscaling']],
  ['autoscaling of another service', { services: [createService({ autoscaling: range })] }, ['Services']],
])('the sections of %s', (_, state, expected) => {
  openPage(state)
  expect(headings()).toEqual(expected)
  expect(document.title).toContain('Services · My shop')
})

test.each([
  ['npm run migrate', true],
  [null, false],
])('the release command %j', (release_command, isShown) => {
  expect(openPage({ release_command }).text().includes('Before a new version gets traffic: npm run migrate')).toBe(isShown)
})

test.each([
  ['', 'docs', '?branch=docs'],
  ['?branch=docs', '', ''],
])('from the environment %j another is chosen', async (search, value, expected) => {
  const { user } = openPage({ search })
  await user.selectOptions(screen.getByLabelText('Environment'), value)
  expect(location.search).toBe(expected)
})

test('the page is loading, and why it cannot be loaded', async () => {
  const answers = { listServices: problemResponse('project_not_found', 'It was deleted.') }
  const { text } = renderPart(<ServicesPage slug="my-shop" />, { answers })
  expect(text()).toBe('Loading')
  await expect.poll(text).toContain('It was deleted.')
  expect(text()).not.toContain('Loading')
  expect(document.title).toContain('Services · my-shop')
})

test.each<[string, CronRun[] | null, string | null, string]>([
  ['loading', null, null, 'Loading'],
  ['none', [], null, 'No runs yet. The first one starts when it is due.'],
  ['one', [createRun()], null, 'Succeeded Jan 31, 20262.5 s'],
  [
    'manual, not finished and failed ones, and more',
    [
      createRun({ trigger: 'manual', status: 'running', finished_at: null }),
      createRun({ id: 'run_2', status: 'missed', started_at: null }),
      createRun({ id: 'run_3', status: 'failed', message: 'Exit code 1' }),
    ],
    'next',
    'Running Jan 31, 2026 · started manually Missed Jan 31, 2026 Failed Jan 31, 2026Exit code 1 Show more',
  ],
])('runs: %s', (_, runs, cursor, expected) => {
  expect(
    openRuns(runs, cursor)
      .text()
      .replaceAll(/(Succeeded|Running|Missed|Failed)(?=Jan)/g, '$1 '),
  ).toBe(`Runs of report ${expected}`)
})

test('more runs are loaded', async () => {
  const { text, user } = openRuns([createRun()], 'next', {
    listCronRuns: { runs: [createRun({ id: 'run_2', message: 'Older' })], next_cursor: null },
  })
  await user.click(screen.getByRole('button', { name: 'Show more' }))
  await expect.poll(text).toContain('Older')
  expect(text()).not.toContain('Show more')
})

test('why runs cannot be loaded', async () => {
  const { text } = openRuns(null, null, { listCronRuns: problemResponse('project_not_found', 'It was deleted.') })
  await expect.poll(text).toContain('It was deleted.')
  expect(text()).not.toContain('Loading')
})

const scaling = 'Autoscaling Change 1 to 3 replicas, target 20 concurrent requests each'
test.each<[string, Pick<ScalingDecision, 'time' | 'message'>[] | null, string]>([
  ['loading', null, `${scaling} Loading`],
  ['none', [], `${scaling} The number of replicas has not changed yet.`],
  ['one', [{ time: past, message: 'Scaled from 1 to 2.' }], `${scaling} Jan 31, 2026Scaled from 1 to 2.`],
])('changes of the number of replicas: %s', (_, decisions, expected) => expect(openScaling(decisions).text()).toBe(expected))

test('why changes of the number of replicas cannot be loaded', async () => {
  const { text } = openScaling(null, { listScalingDecisions: problemResponse('project_not_found', 'It was deleted.') })
  await expect.poll(text).toContain('It was deleted.')
  expect(text()).not.toContain('Loading')
})
