import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { DrainList } from '../../../renderer/features/log-drains/drain-list.tsx'
import LogDrainsPage from '../../../renderer/features/log-drains/page.tsx'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type LogDrain, logDrain } from '../../../server/contract/log-drains.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const at = '2026-01-31T12:00:00.000Z'
const idle: LogDrain['state'] = { status: 'waiting', delivered: 0, dropped: 0, last_success_at: null, last_dropped_at: null, last_error: null }
const createDrain = (own: Partial<LogDrain> = {}) =>
  createExample(logDrain, {
    id: 'drain_1',
    kind: 'http',
    name: 'Loki',
    address: 'logs.example.com',
    sources: ['app', 'request'],
    environments: 'production',
    is_enabled: true,
    state: idle,
    ...own,
  })
const params = { slug: 'shop', id: 'drain_1' }
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => [kind, text])
const openList = async (drains: LogDrain[], button: string, answers = {}) => {
  const part = renderPart(<DrainList slug="shop" drains={drains} />, { answers })
  await part.user.click(screen.getByRole('button', { name: button }))
  return part
}
const isDisabled = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name }).disabled

test.each<[string, object | undefined, string]>([
  ['while loading', undefined, 'Loading'],
  ['of an instance without them', { listLogDrains: problemResponse('route_not_found', 'Nothing is here.') }, 'This instance does not send logs.'],
  [
    'of an unknown project',
    { listLogDrains: problemResponse('project_not_found', 'There is no such project.') },
    'There is no such project. project_not_found',
  ],
  [
    'without drains',
    { listLogDrains: { log_drains: [] } },
    'No log drains yet Homeport sends each log line to an HTTP endpoint, a syslog server or a file,',
  ],
  ['with a drain', { listLogDrains: { log_drains: [createDrain()] } }, 'Log drains Add log drain [Log drains] LokiHTTPWaiting logs.example.com'],
])('the page %s', async (_, answers, expected) => {
  const { text } = renderPart(<LogDrainsPage slug="shop" />, { ...(answers && { answers }) })
  await waitFor(() => expect(text()).toContain(expected))
})

test.each<[string, Partial<LogDrain>, string]>([
  ['is waiting', {}, 'LokiHTTPWaiting logs.example.com App logs, Request log · Production'],
  [
    'is off and dropped a line',
    { kind: 'file', sources: ['build'], environments: 'all', state: { ...idle, status: 'off', dropped: 1, last_dropped_at: at } },
    'LokiFileOff logs.example.com Build logs · All environments 1 line dropped, last Jan 31, 2026',
  ],
  [
    'is delivering after an error',
    { state: { ...idle, status: 'delivering', delivered: 1200, last_success_at: at, last_error: { at, message: 'Refused.' } } },
    'LokiHTTPDelivering logs.example.com App logs, Request log · Production 1,200 lines delivered, last Jan 31, 2026',
  ],
  [
    'is failing',
    { kind: 'syslog', state: { ...idle, status: 'failing', last_error: { at, message: 'Refused.' } } },
    'LokiSyslogFailing logs.example.com App logs, Request log · Production Refused. Jan 31, 2026',
  ],
  [
    'is failing for an unknown reason',
    { state: { ...idle, status: 'failing' } },
    'LokiHTTPFailing logs.example.com App logs, Request log · Production',
  ],
])('a drain that %s', (_, own, expected) => {
  expect(renderPart(<DrainList slug="shop" drains={[createDrain(own)]} />).text()).toBe(
    `Log drains Add log drain [Log drains] ${expected} [Send test to Loki] Send test [Edit Loki] [Delete Loki]`,
  )
})

test.each([
  [0, 'primary', false],
  [4, 'plain', false],
  [5, 'plain', true],
])('with %i drains the button to add one is %s, disabled: %s', (count, kind, disabled) => {
  renderPart(<DrainList slug="shop" drains={Array.from({ length: count }, (_, index) => createDrain({ id: `drain_${index}` }))} />)
  expect(screen.getByRole('button', { name: 'Add log drain' }).className).toContain(`button-${kind}`)
  expect(isDisabled('Add log drain')).toBe(disabled)
})

test.each<[string | null, string, string]>([
  [null, 'done', 'Test line delivered in 12 ms.'],
  ['The server refused it.', 'failed', 'The server refused it.'],
])('a test that ends with the error %s is reported', async (error, kind, message) => {
  const { sent } = await openList([createDrain()], 'Send test to Loki', {
    testLogDrain: { log_drain: createDrain(), error, status: null, duration_ms: 12 },
  })
  expect(sent).toEqual([{ operation: 'testLogDrain', params }])
  await waitFor(() => expect(toasts()).toEqual([[kind, message]]))
})

test.each<[LogDrain['kind'], string]>([
  ['http', 'It gets no more lines. Lines that are not delivered yet are not sent.'],
  ['file', 'Its files are deleted too.'],
])('a drain of the type %s is deleted after a question', async (kind, question) => {
  const { user, sent, text } = await openList([createDrain({ kind })], 'Delete Loki', { deleteLogDrain: { ok: true } })
  expect(text()).toContain(`Delete “Loki”? ${question} Cancel`)
  await user.click(screen.getByRole('button', { name: 'Delete log drain' }))
  expect(sent).toEqual([{ operation: 'deleteLogDrain', params }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(toasts()).toEqual([['done', 'Log drain deleted.']])
})

test.each<[string, [readonly string[], unknown][], string]>([
  ['another instance is loading', [], 'Loading'],
  [
    'a hosted account has none',
    [[queryKeys.session, null]],
    'No log drains This instance does not send logs. A newer Homeport on your own machine does.',
  ],
])('the page of %s', (_, data, expected) => {
  useConnection.setState({ current: { ...localConnection, id: 'rem_1' } })
  expect(renderPart(<LogDrainsPage slug="shop" />, { data }).text()).toBe(expected)
})

test('a page that cannot be loaded is tried again', async () => {
  const answers: { listLogDrains: Response } = { listLogDrains: problemResponse('project_not_found', 'It is gone.') }
  const { user, text } = renderPart(<LogDrainsPage slug="shop" />, { data: [[queryKeys.project('shop'), { name: 'Shop' }]], answers })
  const again = await screen.findByRole('button', { name: 'Try again' })
  answers.listLogDrains = Response.json({ log_drains: [] })
  await user.click(again)
  await waitFor(() => expect(text()).toContain('No log drains yet'))
  expect(document.title).toBe('Log drains · Shop · Homeport')
})

test('adds an HTTP drain with headers and shows its secret once', async () => {
  const { user, sent, text } = await openList([], 'Add log drain', { createLogDrain: { log_drain: createDrain(), signing_secret: 'whsec_1' } })
  const add = within(screen.getByRole('dialog')).getByRole<HTMLButtonElement>('button', { name: 'Add log drain' })
  expect(add.disabled).toBe(true)
  expect(screen.queryByRole('switch')).toBeNull()
  await user.type(screen.getByLabelText('URL'), ' https://logs.example.com/in ')
  await user.type(screen.getByLabelText('Headers'), 'none')
  expect(text()).toContain('Write one header on each line, such as Authorization: Bearer 123.')
  await user.clear(screen.getByLabelText('Headers'))
  await user.type(screen.getByLabelText('Headers'), 'X-Key: 1{enter}{enter} Authorization :  Bearer a:b ')
  await user.selectOptions(screen.getByLabelText('Format'), 'One JSON array for each request')
  await user.type(screen.getByLabelText('Name'), ' Loki ')
  await user.click(screen.getByLabelText('Build logs'))
  await user.click(add)
  expect(sent).toEqual([
    {
      operation: 'createLogDrain',
      params: { slug: 'shop' },
      body: {
        kind: 'http',
        address: 'https://logs.example.com/in',
        name: 'Loki',
        format: 'json',
        environments: 'all',
        sources: ['app'],
        headers: [
          { name: 'X-Key', value: '1' },
          { name: 'Authorization', value: 'Bearer a:b' },
        ],
      },
    },
  ])
  await waitFor(() => expect(text()).toContain('Signing secret of “Loki”'))
  expect(text()).toContain('whsec_1')
})

test('adds a syslog drain without the fields of HTTP', async () => {
  const { user, sent, text } = await openList([], 'Add log drain', { createLogDrain: { log_drain: createDrain(), signing_secret: null } })
  await user.type(screen.getByLabelText('Headers'), 'X-Key: 1')
  await user.selectOptions(screen.getByLabelText('Type'), 'Syslog')
  expect(screen.queryByLabelText('Headers')).toBeNull()
  expect(screen.queryByLabelText('Format')).toBeNull()
  const address = screen.getByLabelText<HTMLInputElement>('Address')
  expect([address.placeholder, address.required]).toEqual(['tls://logs.example.com:6514', true])
  await user.type(address, 'tls://logs.example.com:6514')
  await user.selectOptions(screen.getByLabelText('Environments'), 'Previews')
  await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Add log drain' }))
  const body = { kind: 'syslog', address: 'tls://logs.example.com:6514', environments: 'previews', sources: ['app', 'build'] }
  expect(sent).toEqual([{ operation: 'createLogDrain', params: { slug: 'shop' }, body }])
  await waitFor(() => expect(text()).toContain('Log drain added Loki gets lines from now on. Send a test line to see that it works.'))
  await user.click(screen.getByRole('button', { name: 'Done' }))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test.each([
  [true, ['HTTP', 'Syslog', 'File']],
  [false, ['HTTP', 'Syslog']],
])('the types that an owner (%s) may choose', async (is_instance_owner, types) => {
  const { user } = renderPart(<DrainList slug="shop" drains={[]} />, { data: [[queryKeys.session, { user: { is_instance_owner } }]] })
  await user.click(screen.getByRole('button', { name: 'Add log drain' }))
  expect([...screen.getByLabelText<HTMLSelectElement>('Type').options].map(({ text }) => text)).toEqual(types)
})

test('an address that is not allowed is explained at its field', async () => {
  const { user, text } = await openList([createDrain()], 'Edit Loki', { updateLogDrain: problemResponse('forbidden', 'Use a public address.') })
  await user.click(screen.getByRole('button', { name: 'Save log drain' }))
  await waitFor(() => expect(text()).toContain('URL Use a public address.'))
  expect(text()).not.toContain('forbidden')
})

test('another problem is shown below the fields', async () => {
  const { user, text } = await openList([createDrain()], 'Edit Loki', { updateLogDrain: problemResponse('log_drain_not_found', 'It is gone.') })
  await user.click(screen.getByRole('button', { name: 'Save log drain' }))
  await waitFor(() => expect(text()).toContain('It is gone. log_drain_not_found'))
})

test('a drain is changed, and keeps what is left empty', async () => {
  const { user, sent } = await openList([createDrain({ format: 'json' })], 'Edit Loki', { updateLogDrain: { log_drain: createDrain() } })
  expect(screen.queryByLabelText('Type')).toBeNull()
  const address = screen.getByLabelText<HTMLInputElement>('URL')
  expect([address.value, address.placeholder, address.required]).toEqual(['', 'logs.example.com', false])
  await user.click(screen.getByLabelText('App logs'))
  await user.click(screen.getByLabelText('Request log'))
  expect(isDisabled('Save log drain')).toBe(true)
  await user.click(screen.getByLabelText('Build logs'))
  await user.click(screen.getByLabelText('Send logs'))
  await user.clear(screen.getByLabelText('Name'))
  await user.click(screen.getByRole('button', { name: 'Save log drain' }))
  expect(sent).toEqual([
    { operation: 'updateLogDrain', params, body: { environments: 'production', sources: ['build'], format: 'json', is_enabled: false } },
  ])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(toasts()).toEqual([['done', 'Log drain saved.']])
})

test.each<[string[], string, string]>([
  [[], '', 'Optional, one on each line.'],
  [['X-Key', 'Authorization'], '', 'Leave empty to keep X-Key, Authorization.'],
  [['X-Key', 'Authorization'], 'https://new.example.com', 'A new URL removes X-Key, Authorization. Enter them again.'],
])('the headers %j with the new address “%s”', async (header_names, address, hint) => {
  const { user, text, sent } = await openList([createDrain({ header_names })], 'Edit Loki')
  if (address !== '') await user.type(screen.getByLabelText('URL'), address)
  expect(text()).toContain(`Headers ${hint} Format`)
  await user.click(screen.getByRole('button', { name: 'Save log drain' }))
  expect(sent).toMatchObject([{ operation: 'updateLogDrain', body: address === '' ? {} : { address } }])
})
