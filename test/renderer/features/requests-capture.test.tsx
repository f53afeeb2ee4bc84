import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { CaptureControl } from '../../../renderer/features/requests/capture-control.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import type { RequestCaptureSettings } from '../../../server/contract/request-captures.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const send = () => fireEvent.submit(document.querySelector('form') ?? document.body)
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)

const off: RequestCaptureSettings = { until: null, path: null, method: null, status: null, masked_fields: ['email', 'phone'] }
const openControl = (capture: RequestCaptureSettings | null, answers: Answers = {}) =>
  renderPart(<CaptureControl slug="my-shop" />, { data: capture ? [[queryKeys.requestCapture('my-shop'), capture]] : [], answers })

test.each<[string, RequestCaptureSettings | null, RegExp]>([
  ['not known', null, /^$/],
  ['off', off, /^Headers and bodies are not captured\. Capture requests…$/],
  ['on', { ...off, until: '2026-01-31T09:00:00.000Z' }, /^Capturing headers and bodies until Jan 31, 2026, \S+ Stop capture$/],
  [
    'on with filters',
    { ...off, until: '2026-01-31T09:00:00.000Z', method: 'post', path: '/a', status: '5xx' },
    /^Capturing headers and bodies of POST \/a 5xx until Jan 31, 2026, \S+ Stop capture$/,
  ],
])('capture is %s', (_, capture, expected) => expect(openControl(capture).text()).toMatch(expected))

test('capture is stopped', async () => {
  const { sent, user } = openControl({ ...off, until: '2026-01-31T09:00:00.000Z' }, { stopRequestCapture: { capture: off } })
  await user.click(button('Stop capture'))
  expect(sent).toEqual([{ operation: 'stopRequestCapture', params: { slug: 'my-shop' } }])
  await expect.poll(toasts).toEqual(['done: Capture is off.'])
})

test.each<[string, [string, string][], object]>([
  ['everything', [], { path: null, method: null, status: null, masked_fields: ['email', 'phone'], hours: 1 }],
  [
    'some',
    [
      ['Capture for', '4'],
      ['Path', ' /a '],
      ['Method', 'POST'],
      ['Status', '5xx'],
      ['Also mask', 'name, \n age'],
    ],
    { path: '/a', method: 'POST', status: '5xx', masked_fields: ['name', 'age'], hours: 4 },
  ],
])('capture of %s is started', async (_, changes, { hours, ...body }: { hours?: number }) => {
  const { sent, user } = openControl(off, { startRequestCapture: { capture: off } })
  await user.click(button('Capture requests…'))
  for (const [label, value] of changes) fill(label, value)
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-01-31T09:00:00.000Z'))
  send()
  now.mockRestore()
  await expect
    .poll(() => sent)
    .toEqual([
      { operation: 'startRequestCapture', params: { slug: 'my-shop' }, body: { until: `2026-01-31T${hours === 4 ? 13 : 10}:00:00.000Z`, ...body } },
    ])
  await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
})

test('captured data is deleted', async () => {
  const { sent, user } = openControl(off, { stopRequestCapture: { capture: off } })
  await user.click(button('Capture requests…'))
  await user.click(button('Delete captured data'))
  expect(sent).toEqual([{ operation: 'stopRequestCapture', params: { slug: 'my-shop' } }])
  await expect.poll(toasts).toEqual(['done: Deleted the captured headers and bodies.'])
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('why capture was not started', async () => {
  const { text, user } = openControl(off, { startRequestCapture: problemResponse('project_not_found', 'It was deleted.') })
  await user.click(button('Capture requests…'))
  expect(text()).toContain('Keeps headers and the first 64 kB of bodies, encrypted on this instance; the newest 64 MB.')
  send()
  expect((await screen.findByRole('alert')).textContent).toContain('It was deleted.')
  expect(toasts()).toEqual([])
})
