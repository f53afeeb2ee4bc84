import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ForksCard } from '../../../renderer/features/previews/forks-card.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Fork, fork, type ForkSource } from '../../../server/contract/forks.ts'
import { preview } from '../../../server/contract/previews.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const readToasts = () => useUi.getState().toasts.map(({ text }) => text)

const shop = createExample(project, { repo_url: 'https://git.example.com/shop.git' })
const notes = { name: 'notes', size_bytes: 12_000_000 }
const createFork = (own: Partial<Fork> = {}) =>
  createExample(fork, {
    branch: 'docs',
    from_branch: null,
    volumes: [notes],
    database_bytes: null,
    is_copying: false,
    url: 'http://docs--my-shop.localhost',
    ...own,
  })
const production: ForkSource = { volumes: [notes], has_database: true }
const showForks = (
  forks: Fork[],
  source: ForkSource = production,
  { branches = [], answers = {} }: { branches?: string[]; answers?: PartOptions['answers'] } = {},
) =>
  renderPart(<ForksCard project={shop} previews={branches.map((branch) => createExample(preview, { branch }))} />, {
    data: [[queryKeys.forks('my-shop'), { forks, production: source }]],
    answers,
  })

test.each<[string, Fork[], ForkSource, string]>([
  ['none, of a project without data', [], { volumes: [], has_database: false }, ''],
  [
    'none, of a project with a database',
    [],
    { volumes: [], has_database: true },
    'Copies of production data Copy production data Give a branch its own copy of PostgreSQL, to work on it without changing production. How it works',
  ],
  [
    'none, of a project with a volume',
    [],
    { volumes: [notes], has_database: false },
    'Copies of production data Copy production data Give a branch its own copy of notes (12 MB), to work on it without changing production. How it works',
  ],
  [
    'one with a preview',
    [createFork()],
    production,
    'Copies of production data Copy production data docs notes (12 MB)Copied from production Jan 31, 2026 [Copy again to docs] Copy again [Remove data of docs] Remove',
  ],
  [
    'one of a project that lost its data',
    [createFork()],
    { volumes: [], has_database: false },
    'Copies of production data Copy production data docs notes (12 MB)Copied from production Jan 31, 2026 [Copy again to docs] Copy again [Remove data of docs] Remove',
  ],
  [
    'one of another branch, without a preview',
    [createFork({ from_branch: 'next', url: null, database_bytes: 5_000_000 })],
    production,
    'Copies of production data Copy production data docs notes (12 MB), PostgreSQL (5.0 MB)Copied from next Jan 31, 2026. Waits for a preview [Copy again to docs] Copy again [Remove data of docs] Remove',
  ],
  [
    'one that is copied',
    [createFork({ is_copying: true, url: null })],
    production,
    'Copies of production data Copy production data docs notes (12 MB)Copying… [Copy again to docs] Copy again [Remove data of docs] Remove',
  ],
])('the copies of production data: %s', (_, forks, source, expected) => {
  expect(showForks(forks, source).text()).toBe(expected)
})

test('a copy cannot be changed while it is copied', () => {
  showForks([createFork({ is_copying: true })])
  expect(screen.getAllByRole<HTMLButtonElement>('button').map(({ disabled }) => disabled)).toEqual([false, true, true])
})

test('copies that are not loaded are left out', () => expect(renderPart(<ForksCard project={shop} previews={[]} />).text()).toBe(''))

const openCopy = async (name: string, forks: Fork[], options = {}) => {
  const part = showForks(forks, production, options)
  await part.user.click(screen.getByRole('button', { name }))
  const dialog = within(screen.getByRole('dialog', { name: 'Copy production data' }))
  return {
    ...part,
    field: dialog.getByRole<HTMLInputElement>('combobox'),
    submit: dialog.getByRole<HTMLButtonElement>('button', { name: 'Copy production data' }),
  }
}

test.each<[string, string, Fork[], string[], string]>([
  [
    'a branch without data',
    'docs',
    [],
    [],
    'notes (12 MB), PostgreSQL | Nothing. Without a preview, the data is kept for it; a development server of the branch uses the database when it starts.',
  ],
  [
    'a branch with a preview',
    'docs',
    [],
    ['docs'],
    'notes (12 MB), PostgreSQL | The volumes and the database that docs has, while its preview is stopped. Snapshots and a dump of them are taken first.',
  ],
  [
    'a branch with data',
    'docs',
    [createFork()],
    ['next'],
    'notes (12 MB), PostgreSQL | The volumes and the database that docs has. Snapshots and a dump of them are taken first.',
  ],
])('copying production data to %s replaces this', async (_, branch, forks, branches, expected) => {
  const { user, field } = await openCopy('Copy production data', forks, { branches })
  await user.type(field, ` ${branch} `)
  expect([...document.querySelectorAll('[role=dialog] dd')].map(({ textContent }) => textContent).join(' | ')).toBe(expected)
})

test('production data is copied to another branch than that of production', async () => {
  const { user, sent, field, submit } = await openCopy('Copy production data', [])
  expect(submit.disabled).toBe(true)
  await user.type(field, 'main')
  expect([submit.disabled, screen.getByRole('alert').textContent]).toEqual([true, 'main is the production branch. Name another one.'])
  await user.type(field, '-2 ')
  expect(submit.disabled).toBe(false)
  await user.click(submit)
  expect(sent).toEqual([{ operation: 'forkEnvironment', params: { slug: 'my-shop' }, body: { branch: 'main-2' } }])
})

test.each([
  ['without a database', null, null, 'Copied notes (12 MB) to docs.'],
  ['with a database', 5_000_000, 'dpl_9', 'Copied notes (12 MB), PostgreSQL to docs. Its preview is redeployed.'],
])('production data %s is copied again, and the dialog closes', async (_, database_bytes, deployment_id, message) => {
  const answers = { forkEnvironment: { fork: createFork({ database_bytes }), replaced: [], dump_id: null, deployment_id } }
  const { user, field, submit } = await openCopy('Copy again to docs', [createFork()], { answers })
  expect(field.value).toBe('docs')
  await user.click(submit)
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(readToasts()).toEqual([message])
})

test('a copy that fails is explained in the dialog', async () => {
  const answers = { forkEnvironment: problemResponse('build_in_progress', 'The branch is being built.') }
  const { user, submit } = await openCopy('Copy again to docs', [createFork()], { answers })
  await user.click(submit)
  expect((await screen.findByRole('alert')).textContent).toContain('The branch is being built.')
})

test.each<[string, Fork, string | null, string, string]>([
  [
    'with a preview',
    createFork(),
    'dpl_9',
    'The preview continues with empty volumes and without a database. Snapshots of its volumes are taken first.',
    'Removed the data of docs. Its preview is redeployed.',
  ],
  [
    'without a preview',
    createFork({ url: null }),
    null,
    'The copied volumes and the copied database are deleted, with their snapshots.',
    'Removed the data of docs.',
  ],
])('the data of a branch %s is removed after a question', async (_, removed, deployment_id, expected, message) => {
  const { user, sent } = showForks([removed], production, { answers: { removeFork: { deployment_id } } })
  await user.click(screen.getByRole('button', { name: 'Remove data of docs' }))
  expect(screen.getByRole('dialog', { name: 'Remove data of docs?' }).querySelector('p')?.textContent).toBe(expected)
  await user.click(screen.getByRole('button', { name: 'Remove data' }))
  expect(sent).toEqual([{ operation: 'removeFork', params: { slug: 'my-shop' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(readToasts()).toEqual([message])
})
