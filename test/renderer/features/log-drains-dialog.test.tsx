import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { DrainList } from '../../../renderer/features/log-drains/drain-list.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type LogDrain, logDrain } from '../../../server/contract/log-drains.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

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

afterEach(() => useUi.setState({ toasts: [] }))

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
