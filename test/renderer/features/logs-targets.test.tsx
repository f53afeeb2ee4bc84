import { screen, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import LogsPage from '../../../renderer/features/logs/page.tsx'
import { TargetSelects } from '../../../renderer/features/logs/index.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { previewOperations } from '../../../server/contract/previews.ts'
import { project } from '../../../server/contract/projects.ts'
import { serviceOperations } from '../../../server/contract/services.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

const [service] = createExample(serviceOperations.listServices.success.json).services
const createService = (name: string, is_main: boolean, replicas: number[] = []) => ({
  ...service!,
  name,
  is_main,
  replicas: replicas.map((replica) => ({ ...service!.replicas[0]!, replica })),
})
const [preview] = createExample(previewOperations.listPreviews.success.json).previews

afterEach(() => history.replaceState(null, '', '/app/'))

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
