import { fireEvent, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import VolumesPage from '../../../renderer/features/volumes/page.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { preview } from '../../../server/contract/previews.ts'
import { project } from '../../../server/contract/projects.ts'
import { service, type Service } from '../../../server/contract/services.ts'
import { unsavedFiles } from '../../../server/contract/unsaved-files.ts'
import { volume, type Volume } from '../../../server/contract/volumes.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const addedVolume = { volume: 'data', path: '/app/data', deployment_id: 'dpl_9' }
interface PageState {
  search?: string
  volumes?: Volume[] | null
  services?: Service[]
  branches?: string[]
  answers?: Answers
}
function openPage({ search = '', volumes = [], services = [], branches = [], answers = {} }: PageState = {}) {
  history.replaceState(null, '', `/projects/my-shop/volumes${search}`)
  const branch = new URLSearchParams(search).get('branch')
  return renderPart(<VolumesPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), createExample(project, { slug: 'my-shop', name: 'My shop' })],
      [[...queryKeys.volumes('my-shop'), branch], volumes],
      [queryKeys.previews('my-shop'), branches.map((one) => createExample(preview, { branch: one }))],
      [queryKeys.unsavedFiles('my-shop'), [createExample(unsavedFiles)]],
      [queryKeys.services('my-shop', null), { services, release_command: null, deployment_id: null }],
    ],
    answers,
  })
}
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)

test.each<[string, PageState, string[], boolean]>([
  ['production without volumes', {}, ['Add volume'], true],
  ['production with a volume', { volumes: [createExample(volume, { name: 'data' })] }, ['Add volume', 'Browse'], true],
  ['a preview without volumes', { search: '?branch=docs' }, [], false],
  ['a preview with a volume', { search: '?branch=docs', volumes: [createExample(volume, { name: 'data' })] }, ['Browse'], false],
])('the actions of %s', (_, state, names, hasUnsaved) => {
  openPage(state)
  expect(screen.queryAllByRole('button', { name: /^(Add|Browse)/ }).map(({ textContent }) => textContent)).toEqual(names)
  expect(screen.queryByText('Files that are not kept') !== null).toBe(hasUnsaved)
  expect(screen.queryByText('No volumes') !== null).toBe((state.volumes ?? []).length === 0)
  expect(document.title).toContain('Volumes · My shop')
})

test('a hosted account has no volumes', () => {
  expect(openPage({ volumes: null }).text()).toBe('No volumes This account has none. Homeport on your own machine has them.')
})

test('the page is loading until its sections are', async () => {
  expect(renderPart(<VolumesPage slug="my-shop" />, { data: [[[...queryKeys.volumes('my-shop'), null], []]] }).text()).toBe('Loading')
})

test('why the volumes cannot be loaded', async () => {
  const answers = { listVolumes: problemResponse('project_not_found', 'No project has this name.') }
  renderPart(<VolumesPage slug="my-shop" />, { answers })
  expect((await screen.findByRole('alert')).textContent).toContain('No project has this name.')
})

test('another environment is chosen', async () => {
  const { user } = openPage({ branches: ['docs'], search: '?do=add' })
  await user.click(button('Close'))
  await user.selectOptions(screen.getByLabelText('Environment'), 'docs')
  expect(location.search).toBe('?branch=docs')
})

const web = createExample(service, { name: 'web', kind: 'web', is_main: true })
const worker = createExample(service, { name: 'worker', kind: 'worker', is_main: false })
const cron = createExample(service, { name: 'report', kind: 'cron', is_main: false })
test.each<[string, Service[], string[] | null, string | null, object]>([
  ['one app', [web, cron], null, null, { path: 'uploads' }],
  ['several services', [web, worker, cron], ['web', 'worker'], 'worker', { path: 'uploads', service: 'worker' }],
  ['the main service of several', [web, worker], ['web', 'worker'], '', { path: 'uploads' }],
  ['a cron job as the main service', [{ ...cron, is_main: true }, worker], ['report', 'worker'], '', { path: 'uploads' }],
])('a volume is added to %s', async (_, services, choices, choice, body) => {
  const { sent, user } = openPage({ services, answers: { addVolume: addedVolume } })
  await user.click(button('Add volume'))
  expect(location.search).toBe('?do=add')
  fireEvent.change(screen.getByLabelText('Path'), { target: { value: ' uploads ' } })
  const select = screen.queryByLabelText('Service')
  expect(select && [...select.querySelectorAll('option')].map(({ textContent }) => textContent)).toEqual(choices)
  if (select && choice !== null) fireEvent.change(select, { target: { value: choice } })
  await user.click(button('Add volume'))
  expect(sent).toEqual([{ operation: 'addVolume', params: { slug: 'my-shop' }, body }])
  await expect.poll(toasts).toEqual(['done: Added the volume data at /app/data.'])
  expect(location.search).toBe('')
})

test('a volume that cannot be added', async () => {
  const { user } = openPage({ search: '?do=add', answers: { addVolume: problemResponse('volume_in_use', 'Another volume is there.') } })
  fireEvent.change(screen.getByLabelText('Path'), { target: { value: 'uploads' } })
  await user.click(button('Add volume'))
  expect((await screen.findByRole('alert')).textContent).toContain('Another volume is there.')
  expect(toasts()).toEqual([])
})
