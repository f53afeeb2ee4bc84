import { screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ProjectActions } from '../../../renderer/features/project/project-actions.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { uploadKey, useUploads } from '../../../renderer/stores/uploads.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const { instance, ...others } = createExample(instanceOperations.getSession.success.json)
const session = { ...others, instance: { ...instance, edge_url: 'http://localhost:4780', apps_url: null } }
const remote = { ...localConnection, id: 'remote_1', name: 'Server' }
const showActions = (isLive = true) => {
  const serving = isLive ? createExample(deployment, { id: 'dpl_2', status: 'ready' }) : null
  return renderPart(<ProjectActions project={createExample(project)} />, {
    data: [
      [queryKeys.session, session],
      [queryKeys.latest('my-shop'), serving],
      [queryKeys.serving('my-shop'), serving],
    ],
  })
}

afterEach(() => {
  useUploads.setState({ uploads: {} })
  vi.restoreAllMocks()
})

test('the key D deploys once', async () => {
  const { user, sent } = showActions()
  await user.keyboard('dd')
  expect(sent).toEqual([{ operation: 'deployProject', params: { slug: 'my-shop' } }])
})

test.each([
  [true, [['http://my-shop.localhost:4780/', '_blank', 'noopener']]],
  [false, []],
])('the key O opens an app that is live: %s', async (isLive, expected) => {
  const open = vi.spyOn(window, 'open').mockReturnValue(null)
  const { user } = showActions(isLive)
  await user.keyboard('o')
  expect(open.mock.calls).toEqual(expected)
})

test.each([
  ['Promote…', localConnection, '?do=promote'],
  ['Pull to this machine…', remote, '?do=pull'],
])('“%s” has an address', async (name, current, search) => {
  useConnection.setState({ connections: [localConnection, remote], current })
  const { user } = showActions()
  await user.click(screen.getByRole('button', { name: 'More actions' }))
  await user.click(screen.getByRole('menuitem', { name }))
  expect(location.search).toBe(search)
})

test('an address opens the promotion, which leaves the address when it closes', async () => {
  history.replaceState(null, '', '/app/?do=promote')
  useConnection.setState({ connections: [localConnection, remote] })
  const { user } = showActions()
  expect(await screen.findByRole('dialog')).toBeTruthy()
  await user.keyboard('{Escape}')
  expect([screen.queryByRole('dialog'), location.search]).toEqual([null, ''])
})

test.each([
  ['is being sent', true],
  ['was refused', false],
])('another archive cannot be uploaded while one %s: %s', async (_, isSending) => {
  const upload = isSending
    ? ({ state: 'sending', transfer: { name: 'a.zip', sent: 0, total: 1, rate: null, remaining_ms: null }, cancel() {} } as const)
    : ({ state: 'refused', name: 'a.zip', problem: { message: 'Too large.' } } as const)
  useUploads.setState({ uploads: { [uploadKey(localConnection, 'my-shop')]: upload } })
  const { user } = showActions()
  await user.click(screen.getByRole('button', { name: 'More actions' }))
  expect(screen.getByRole('menuitem', { name: 'Upload archive…' }).getAttribute('aria-disabled')).toBe(isSending ? 'true' : null)
})
