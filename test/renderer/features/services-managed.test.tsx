import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ManagedServices } from '../../../renderer/features/services/managed-services.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { managedService, type ManagedService } from '../../../server/contract/managed-services.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const createManaged = (own: Partial<ManagedService> = {}) =>
  createExample(managedService, {
    name: 'redis',
    label: 'Redis',
    summary: 'A cache.',
    variables: ['REDIS_URL'],
    is_added: false,
    has_data: false,
    ...own,
  })
const openManaged = (services: ManagedService[] | null, unavailable: string | null = null, answers: Answers = {}) =>
  renderPart(<ManagedServices slug="my-shop" />, {
    data: [
      [queryKeys.managedServices('my-shop'), services && { services, unavailable }],
      [queryKeys.deployment('my-shop', 'dpl_9'), createExample(deployment, { id: 'dpl_9', status: 'building' })],
    ],
    answers,
  })
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)

const managed = 'Managed services How they work'
test.each<[string, ManagedService[] | null, string | null, string]>([
  ['none on a hosted account', null, null, ''],
  ['one that can be added', [createManaged()], null, `${managed} Redis A cache.Apps get REDIS_URL and its parts. [Add Redis] Add`],
  [
    'one with data',
    [createManaged({ has_data: true })],
    null,
    `${managed} Redis A cache.Apps get REDIS_URL and its parts. Its data was kept and is used again when you add it. [Add Redis] Add`,
  ],
  [
    'one that is added',
    [createManaged({ is_added: true })],
    null,
    `${managed} Redis A cache.Apps get REDIS_URL and its parts. [Remove Redis] Remove`,
  ],
  ['none that can run', [], 'They need Docker.', `${managed} They need Docker.`],
])('managed services: %s', (_, services, unavailable, expected) => expect(openManaged(services, unavailable).text()).toBe(expected))

test('a service cannot be added where none can run', () => {
  openManaged([createManaged()], 'They need Docker.')
  expect(screen.getByRole('button', { name: 'Add Redis' })).toHaveProperty('disabled', true)
})

test('a service is added, and its deployment is shown until it is dismissed', async () => {
  const { sent, text, user } = openManaged([createManaged()], null, { addManagedService: { service: createManaged(), deployment_id: 'dpl_9' } })
  await user.click(screen.getByRole('button', { name: 'Add Redis' }))
  expect(sent).toEqual([{ operation: 'addManagedService', params: { slug: 'my-shop' }, body: { name: 'redis' } }])
  await expect.poll(toasts).toEqual(['done: Added Redis.'])
  expect(text()).toContain('Redeploying with the changed services…')
  await user.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(text()).not.toContain('Redeploying')
})

test('a service is removed after a question', async () => {
  const answers = { removeManagedService: { service: createManaged(), deployment_id: 'dpl_9' } }
  const { sent, text, user } = openManaged([createManaged({ is_added: true })], null, answers)
  await user.click(screen.getByRole('button', { name: 'Remove Redis' }))
  expect(text()).toBe(
    'Remove Redis? The project is redeployed without Redis, and its apps no longer get REDIS_URL. The data is kept until the project is deleted. Cancel Remove Redis [Close]',
  )
  await user.click(screen.getByRole('button', { name: 'Remove Redis' }))
  expect(sent).toEqual([{ operation: 'removeManagedService', params: { slug: 'my-shop', name: 'redis' } }])
  await expect.poll(toasts).toEqual(['done: Removed Redis.'])
  expect(text()).toContain('Redeploying with the changed services…')
  expect(screen.queryByRole('dialog')).toBeNull()
})
