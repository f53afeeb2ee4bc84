import { fireEvent, screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { InstanceNotFound } from '../../../renderer/features/instances/instance-not-found.tsx'
import { useInstanceShortcuts } from '../../../renderer/features/instances/use-instance-shortcuts.ts'
import { useConnection } from '../../../renderer/stores/connection.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const remote = { ...createExample(allOperations.updateRemote.success.json).remote, id: 'rem_1' }

afterEach(() => useConnection.getState().reset())

const outdated =
  'Instance not found The link may be outdated, or the instance was removed from this dashboard. The instance itself is not affected. Back to this machine'
const owner = { user: { is_instance_owner: true } }
test.each<[string, boolean, Error | null, object | undefined, string]>([
  ['before the list is loaded', false, null, owner, 'Loading'],
  ['for an owner', true, null, owner, `${outdated}All instances`],
  ['for a user who is not known', true, null, undefined, outdated],
  [
    'for a member',
    true,
    null,
    { user: { is_instance_owner: false } },
    'Instance not found Only the owner can open other instances. You can use the one that you are signed in to. Back to this machine',
  ],
])('an unknown instance %s', (_, isListed, error, session, expected) => {
  const { text } = renderPart(<InstanceNotFound isListed={isListed} error={error} onRetry={() => {}} />, {
    data: session ? [[queryKeys.session, session]] : [],
  })
  expect(text()).toBe(expected)
})

test('an unknown instance whose list cannot be loaded is tried again', async () => {
  const retries: string[] = []
  const { user, text } = renderPart(<InstanceNotFound isListed={false} error={new Error('No.')} onRetry={() => retries.push('again')} />)
  expect(text()).toMatch(/^The dashboard hit an unexpected error\. .*Try again$/)
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  expect(retries).toEqual(['again'])
})

test('an unknown instance says why the session is unknown', async () => {
  const { text } = renderPart(<InstanceNotFound isListed={false} error={null} onRetry={() => {}} />, {
    answers: { getSession: problemResponse('forbidden', 'Not for you.') },
  })
  expect(text()).toBe('Loading')
  await waitFor(() => expect(text()).toMatch(/^Not for you\. forbidden .*Try again$/))
})

function Shortcuts() {
  useInstanceShortcuts()
  return null
}

test.each([
  ['2', '/app/on/rem_1/', true],
  ['1', '/app/', true],
  ['3', '/app/projects', false],
])('“g” and “%s” switch to %s', (key, path, isHandled) => {
  history.replaceState(null, '', '/app/projects')
  useConnection.getState().setRemotes([remote])
  if (key === '1') history.replaceState(null, '', '/app/on/rem_1/projects')
  renderPart(<Shortcuts />)
  fireEvent.keyDown(document.body, { key: 'g' })
  expect(fireEvent.keyDown(document.body, { key })).toBe(!isHandled)
  expect(location.pathname).toBe(path)
})
