import { QueryClient } from '@tanstack/react-query'
import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { PromoteDialog } from '../../../renderer/features/promotion/promote-dialog.tsx'
import { type InstanceConnection, localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { usePromotions } from '../../../renderer/stores/promotions.ts'
import { emptyInventory } from '../../../server/client/promotion/inventory.ts'
import type { SourceProject, TargetProject } from '../../../server/client/promotion/sides.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { project, type Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

const createRemote = (id: string, own: Partial<InstanceConnection> = {}): InstanceConnection => ({
  ...localConnection,
  cache: new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } }),
  id,
  name: id,
  origin: `https://${id}.example.com`,
  ...own,
})
const createProject = (own: Partial<Project> = {}) =>
  createExample(project, { slug: 'my-shop', name: 'My shop', status: 'live', is_cold: false, repo_url: null, ...own })
const ready = createExample(deployment, {
  id: 'dpl_1',
  number: 3,
  commit_message: 'Add cart',
  commit_sha: 'abc',
  commit_author: null,
  is_dirty: false,
})
const side = { variables: [], domains: [], inventory: emptyInventory, runtime: null, is_instance: true }
const createSource = (own: Partial<SourceProject> = {}): SourceProject => ({ ...side, project: createProject(), deployment: ready, ...own })
const createTarget = (own: Partial<TargetProject> = {}): TargetProject => ({
  ...side,
  project: null,
  plan: 'pro',
  is_full: false,
  follows_pushes: false,
  ...own,
})
interface DialogState {
  kind?: 'promote' | 'pull'
  remotes?: InstanceConnection[]
  source?: SourceProject | null
  target?: TargetProject | null
  answers?: PartOptions['answers']
}
function openDialog({
  kind = 'promote',
  remotes = [createRemote('server')],
  source = createSource(),
  target = createTarget(),
  answers = {},
}: DialogState = {}) {
  const current = kind === 'pull' ? (remotes[0] ?? localConnection) : localConnection
  useConnection.setState({ connections: [localConnection, ...remotes], current })
  const to = kind === 'pull' ? localConnection : remotes[0]
  current.cache.setQueryData(['promote-source', current.id, 'my-shop', null], source ?? undefined)
  to?.cache.setQueryData(['promote-target', to.id, 'my-shop'], target ?? undefined)
  to?.cache.setQueryData(['promote-projects', to.id], [createProject(), createProject({ id: 'prj_2', slug: 'docs', name: 'Docs' })])
  const onOpenChange = vi.fn()
  const part = renderPart(<PromoteDialog slug="my-shop" name="My shop" kind={kind} deploymentId={null} onOpenChange={onOpenChange} />, { answers })
  return { ...part, onOpenChange }
}
const submit = () => fireEvent.submit(document.querySelector('form') ?? document.body)
const started = () => usePromotions.getState().promotions.map(({ key, to, steps }) => ({ key, to: to.slug, steps: steps.map(({ name }) => name) }))

afterEach(() => {
  useConnection.setState({ connections: [localConnection], current: localConnection })
  usePromotions.setState({ promotions: [] })
  localStorage.clear()
  history.replaceState(null, '', '/app/')
})

test('a promotion starts with its steps, and the dialog closes', async () => {
  const variables = [{ key: 'API_URL', environment: null }]
  const { user, onOpenChange } = openDialog({ source: createSource({ variables }) })
  await user.click(screen.getByRole('checkbox', { name: 'API_URL' }))
  submit()
  await expect.poll(started).toEqual([{ key: 'local my-shop', to: 'my-shop', steps: ['source', 'project', 'variables', 'upload'] }])
  expect(onOpenChange.mock.calls).toEqual([[false]])
  const [stored] = JSON.parse(localStorage.getItem('homeport.promotions') ?? '[]')
  expect(stored).toMatchObject({
    request: {
      source: { kind: 'archive', deployment_id: 'dpl_1', commit: { commit_sha: 'abc', commit_message: 'Add cart' } },
      new_name: 'My shop',
      variables: ['API_URL'],
    },
  })
})

const git = 'https://git.example.com/shop.git'
test.each<[string, Partial<SourceProject>, Partial<TargetProject>, object]>([
  [
    'of a folder',
    { deployment: { ...ready, commit_sha: null, commit_message: null, commit_author: 'Ada' } },
    {},
    { kind: 'archive', deployment_id: 'dpl_1', commit: { commit_message: 'Promoted from This machine', commit_author: 'Ada' } },
  ],
  ['to a hosted account', {}, { is_instance: false, project: createProject() }, { kind: 'archive', deployment_id: 'dpl_1' }],
  [
    'of a repository',
    { is_instance: false, project: createProject({ repo_url: git, repo_branch: 'main' }) },
    { project: createProject({ repo_url: git }) },
    { kind: 'git', repo_url: git, repo_branch: 'main' },
  ],
])('the source of a promotion %s', async (_, from, to, expected) => {
  openDialog({ source: createSource(from), target: createTarget(to) })
  submit()
  await expect.poll(started).toHaveLength(1)
  const [stored] = JSON.parse(localStorage.getItem('homeport.promotions') ?? '[]')
  expect(stored.request.source).toEqual(expected)
  expect(stored.request.new_name).toBe(to.project ? null : 'My shop')
})
