import { screen, waitFor, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import LogsPage from '../../../renderer/features/logs/page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { previewOperations } from '../../../server/contract/previews.ts'
import { project } from '../../../server/contract/projects.ts'
import { serviceOperations } from '../../../server/contract/services.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import { TargetSelects } from '../../../renderer/features/logs/index.ts'

const ts = '2026-01-31T12:00:00.000Z'
const [service] = createExample(serviceOperations.listServices.success.json).services
const createService = (name: string, is_main: boolean, replicas: number[] = []) => ({
  ...service!,
  name,
  is_main,
  replicas: replicas.map((replica) => ({ ...service!.replicas[0]!, replica })),
})
const [preview] = createExample(previewOperations.listPreviews.success.json).previews

/** A stream that stays open. */
const streamOf = (events: [name: string, data: object][]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        const text = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join('')
        controller.enqueue(new TextEncoder().encode(`: open\n\n${text}`))
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )
const log = (line: string, deployment_id: string | null = 'dpl_1') =>
  ['log', { seq: 1, ts, stream: 'stdout', line, deployment_id }] as [string, object]
const state = (name: string, deployment_id = 'dpl_1') => ['state', { state: name, ts, exit_code: null, deployment_id }] as [string, object]

interface State {
  search?: string
  status?: 'live' | 'created'
  services?: ReturnType<typeof createService>[]
  branches?: string[]
  answers?: PartOptions['answers']
  data?: NonNullable<PartOptions['data']>
}
const showPage = ({ search = '', status = 'live', services = [createService('web', true)], branches = [], answers = {}, data = [] }: State = {}) => {
  history.replaceState(null, '', `/app/${search}`)
  return renderPart(<LogsPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), createExample(project, { status })],
      [queryKeys.previews('my-shop'), branches.map((branch) => ({ ...preview!, branch }))],
      [queryKeys.services('my-shop', new URLSearchParams(search).get('branch')), { services }],
      [
        queryKeys.deployments('my-shop', {}),
        {
          pages: [{ deployments: [createExample(deployment, { id: 'dpl_1', number: 1, commit_message: 'First version' })], next_cursor: null }],
          pageParams: [null],
        },
      ],
      ...data,
    ],
    answers,
  })
}
const readState = () => screen.getByRole('status').textContent
const readLines = () => screen.queryAllByTestId('log-text').map(({ textContent }) => textContent)

test.each<[string, State, string, string]>([
  ['while it connects', {}, 'Live', 'Opening the log…'],
  ['of an app that is not deployed, while it connects', { status: 'created' }, 'Not deployed yet', 'Opening the log…'],
])('the log %s', (_, options, label, empty) => {
  const { text } = showPage(options)
  expect(readState()).toBe(label)
  expect(text()).toContain(empty)
})

test.each<[string, 'live' | 'created', string]>([
  ['is deployed', 'live', 'No output yet. The app’s output appears here live.'],
  ['is not deployed', 'created', 'Nothing is running yet. Deploy the project to see the app’s output here live.'],
])('an open log without lines of a project that %s', async (_, status, expected) => {
  showPage({ status, answers: { streamRuntimeLog: streamOf([]) } })
  expect(await screen.findByText(expected)).toBeTruthy()
  expect(screen.queryAllByRole('button', { name: /Jump to time…|Download full log/ }).length).toBe(status === 'live' ? 2 : 0)
  expect(screen.queryAllByRole('link', { name: 'Search all logs' }).length).toBe(status === 'live' ? 1 : 0)
})

test.each([
  ['starting', 'The app is starting'],
  ['running', 'The app is running'],
  ['cold', 'The app is asleep; viewing the log does not wake it'],
  ['exited', 'The app has exited'],
  ['oom', 'The app was stopped because it exceeded its memory limit'],
  ['stopped', 'The app is stopped'],
])('an app that is %s', async (name, label) => {
  showPage({ answers: { streamRuntimeLog: streamOf([state(name)]) } })
  await waitFor(() => expect(readState()).toBe(label))
})

test('lines of the app, of its states and of what was skipped', async () => {
  const events: [string, object][] = [
    log('hello'),
    state('cold'),
    state('starting'),
    state('running'),
    ['lagged', { dropped: 12 }],
    state('exited', 'dpl_2'),
  ]
  showPage({ answers: { streamRuntimeLog: streamOf(events) } })
  await waitFor(() => expect(readLines().length).toBe(6))
  expect(readLines().join(' | ')).toBe(
    'hello | asleep after being idle; the next request wakes it (#1 First version) | waking up for a request (#1 First version) | awake (#1 First version) | 12 lines were skipped because they arrived faster than this page could show them | exited (deployment …dpl_2)',
  )
})

test('the lines of two deployments are sections by their titles', async () => {
  showPage({ answers: { streamRuntimeLog: streamOf([log('one'), log('two', 'dpl_000002'), log('three', null)]) } })
  const select = await screen.findByRole('combobox', { name: 'Log section' })
  expect(
    within(select)
      .getAllByRole('option')
      .map(({ textContent }) => textContent),
  ).toEqual(['Everything', '#1 First version', 'Deployment …000002'])
})

test('a log that is refused says why', async () => {
  showPage({ answers: { streamRuntimeLog: problemResponse('project_not_found', 'There is no such project.') } })
  await waitFor(() => expect(readState()).toBe('There is no such project.'))
})

test('a log whose connection is lost is opened again', async () => {
  showPage({ answers: { streamRuntimeLog: problemResponse('internal_error', 'Something went wrong.') } })
  await waitFor(() => expect(readState()).toBe('Connection lost; reconnecting…'))
})

test.each<[string, string, string, string]>([
  ['the main service', '', 'web', 'streamRuntimeLog'],
  ['another service', '?service=worker', 'worker', 'streamServiceLog'],
  ['a replica of the main service', '?replica=2', 'web', 'streamServiceLog'],
  ['a replica that is no number', '?replica=two', 'web', 'streamRuntimeLog'],
])('the log of %s is opened', async (_, search, _name, operation) => {
  const services = [createService('web', true, [1, 2]), createService('worker', false)]
  showPage({ search, services, answers: { [operation]: streamOf([log('from this log')]) } })
  expect(await screen.findByText('from this log')).toBeTruthy()
})

test('the log waits for its choices', () => expect(renderPart(<LogsPage slug="my-shop" />).text()).toBe('Loading'))

test('a time opens a part of the log', async () => {
  const { user } = showPage({ search: '?service=worker', services: [createService('worker', false)] })
  await user.click(screen.getByRole('button', { name: 'Jump to time…' }))
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Jump to time…' }))
  await user.click(screen.getByRole('button', { name: 'Jump' }))
  expect(location.pathname).toBe('/projects/my-shop/logs')
  expect(location.search).toMatch(/^\?service=worker&at=\d{4}-/)
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('a hosted account has no search and no download', async () => {
  useConnection.setState({ current: { ...localConnection, id: 'remote_1' } })
  showPage({ data: [[queryKeys.session, null]], answers: { streamRuntimeLog: streamOf([log(`req_${'0'.repeat(26)}`)]) } })
  await waitFor(() => expect(readLines().length).toBe(1))
  expect(screen.queryAllByRole('button', { name: /Jump to time…|Download full log/ })).toEqual([])
  expect(screen.queryAllByRole('link')).toEqual([])
})

test.each<[string, State, string]>([
  ['one service and no preview', {}, ''],
  ['replicas', { services: [createService('web', true, [1, 2])] }, 'Replica: All replicas, Replica 1, Replica 2'],
  ['a replica that is gone', { search: '?replica=3', services: [createService('web', true, [1])] }, 'Replica: All replicas, Replica 1, Replica 3'],
  ['services', { services: [createService('web', true), createService('worker', false)] }, 'Service: Main service, worker'],
  ['a service that is gone', { search: '?service=old' }, 'Service: Main service, old'],
  ['previews', { branches: ['docs'] }, 'Environment: Production, Preview of docs'],
])('a project with %s offers a choice', (_, options, expected) => {
  showPage(options)
  const choices = screen.getAllByRole('combobox').filter((select) => !select.getAttribute('aria-label')?.startsWith('Log '))
  expect(
    choices
      .map(
        (select) =>
          `${select.getAttribute('aria-label')}: ${within(select)
            .getAllByRole('option')
            .map(({ textContent }) => textContent)
            .join(', ')}`,
      )
      .join(' | '),
  ).toBe(expected)
})

test('another service and environment replace the address, another replica adds to it', async () => {
  const services = [createService('web', true, [1, 2]), createService('worker', false)]
  const { user } = showPage({ search: '?search=cart', services, branches: ['docs'], data: [[queryKeys.services('my-shop', 'docs'), { services }]] })
  await user.selectOptions(screen.getByRole('combobox', { name: 'Replica' }), '2')
  expect(location.search).toBe('?search=cart&replica=2')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Service' }), 'worker')
  expect(location.search).toBe('?service=worker')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Environment' }), 'docs')
  expect(location.search).toBe('?branch=docs')
})

test.each([
  [{ slug: 'my-shop', branch: null, service: 'worker' }, 'Service', '', { slug: 'my-shop', branch: null, service: null }],
  [{ slug: 'my-shop', branch: null, service: null }, 'Service', 'worker', { slug: 'my-shop', branch: null, service: 'worker' }],
  [{ slug: 'my-shop', branch: null, service: 'worker' }, 'Environment', 'docs', { slug: 'my-shop', branch: 'docs', service: null }],
  [{ slug: 'my-shop', branch: 'docs', service: null }, 'Environment', '', { slug: 'my-shop', branch: null, service: null }],
])('from %j, the choice “%s: %s” leads to %j', async (target, name, value, expected) => {
  const onChange = vi.fn()
  const services = [createService('web', true), createService('worker', false)]
  const { user } = renderPart(<TargetSelects target={target} onChange={onChange} />, {
    data: [
      [queryKeys.previews('my-shop'), [{ ...preview!, branch: 'docs' }]],
      [queryKeys.services('my-shop', target.branch), { services }],
    ],
  })
  await user.selectOptions(screen.getByRole('combobox', { name }), value)
  expect(onChange.mock.calls).toEqual([[expected]])
})

test('choices wait for what they offer', () => {
  const { text } = renderPart(<TargetSelects target={{ slug: 'my-shop', branch: null, service: 'worker' }} onChange={vi.fn()} />)
  expect([text(), screen.queryByRole('combobox')]).toEqual(['', null])
})
