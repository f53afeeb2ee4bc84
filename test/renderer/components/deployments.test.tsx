import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { deploymentTitle, hasNumber, numberedTitle } from '../../../renderer/components/deployment-line.tsx'
import { DeploymentRows } from '../../../renderer/components/deployment-rows.tsx'
import { DurationBar } from '../../../renderer/components/duration-bar.tsx'
import { ProjectStatusBadges } from '../../../renderer/components/project-status-badges.tsx'
import { deploymentBadge, stepBadge } from '../../../renderer/components/status.tsx'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { project, type Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const past = '2026-01-31T09:00:00.000Z'
const createDeployment = (own: Partial<Deployment> = {}) =>
  createExample(deployment, {
    id: 'dpl_1',
    number: 3,
    source: 'git',
    source_name: null,
    commit_message: 'Add cart\n\nWith tests',
    commit_sha: null,
    commit_author: null,
    branch: null,
    is_dirty: false,
    source_bytes: null,
    files_changed: null,
    status: 'ready',
    trigger: 'push',
    target: 'production',
    is_current: false,
    can_rollback: false,
    queue_position: null,
    parent_id: null,
    started_at: past,
    finished_at: '2026-01-31T09:00:12.000Z',
    created_at: past,
    ...own,
  })
const openRows = (deployments: Deployment[], onRollback?: (chosen: Deployment) => void) =>
  renderPart(<DeploymentRows slug="my-shop" deployments={deployments} onRollback={onRollback} />)

test.each<[string, Partial<Deployment>, string, string]>([
  ['a commit', {}, 'Add cart', '#3 Add cart'],
  ['a commit of an older instance', { number: undefined }, 'Add cart', 'Add cart'],
  ['a repository without a message', { commit_message: null, trigger: 'hook' }, 'Deploy hook', '#3 Deploy hook'],
  ['a folder', { commit_message: '', source: 'folder' }, 'Working folder #3', 'Working folder #3'],
  ['an archive of an older instance', { commit_message: null, source: 'upload', source_name: 'shop.zip', number: undefined }, 'shop.zip', 'shop.zip'],
])('the title of %s', (_, own, title, numbered) => {
  expect(deploymentTitle(createDeployment(own))).toBe(title)
  expect(numberedTitle(createDeployment(own))).toBe(numbered)
})

test('a title has its number at its end only', () => {
  expect(hasNumber(createDeployment(), 'Fix #3')).toBe(true)
  expect(hasNumber(createDeployment(), '#3 Fix')).toBe(false)
  expect(hasNumber(createDeployment({ number: undefined }), 'Fix #undefined')).toBe(false)
})

test.each<[string, Partial<Deployment>, string]>([
  ['a commit', {}, 'Ready Add cart#3Jan 31, 2026Git push12 s'],
  [
    'a commit with everything',
    { commit_sha: '0123456789', commit_author: 'Ada', branch: 'main', is_dirty: true, source_bytes: 2000, files_changed: 2 },
    'Ready Add cart#30123456uncommitted changesmainAda2 kB2 files changedJan 31, 2026Git push12 s',
  ],
  ['a folder', { commit_message: null, source: 'folder', files_changed: 0 }, 'Ready Working folder #3no files changedJan 31, 2026Git push12 s'],
  ['one changed file', { files_changed: 1 }, 'Ready Add cart#31 file changedJan 31, 2026Git push12 s'],
  ['a preview', { target: 'preview', status: 'failed' }, 'Failed Add cart#3Jan 31, 2026Git push · preview12 s'],
  ['the current one', { is_current: true }, 'Ready Add cart#3Jan 31, 2026Git push12 sCurrent'],
  [
    'one in the queue',
    { status: 'queued', queue_position: 2, started_at: null, finished_at: null },
    'Queued Add cart#3Jan 31, 2026Git pushPosition 2 in queue',
  ],
  ['one that has not started', { status: 'queued', started_at: null, finished_at: null }, 'Queued Add cart#3Jan 31, 2026Git push'],
])('a row of %s', (_, own, expected) => {
  openRows([createDeployment(own)])
  expect(screen.getByRole('listitem').textContent?.replace(/^(Ready|Failed|Queued)/, '$1 ')).toBe(expected)
  expect(screen.getByRole('link').getAttribute('href')).toBe('/projects/my-shop/deployments/dpl_1')
})

test('a rollback to the deployment that was current is a restart', () => {
  const before = createDeployment({ id: 'dpl_0', created_at: '2026-01-30T09:00:00.000Z' })
  openRows([createDeployment({ trigger: 'rollback', parent_id: 'dpl_0' }), before])
  expect(screen.getAllByRole('listitem')[0]?.textContent).toContain('Restart')
})

test.each<[string, Partial<Deployment>, boolean]>([
  ['one that can be rolled back to', { can_rollback: true }, true],
  ['one whose build is gone', {}, false],
  ['the current one', { can_rollback: true, is_current: true }, false],
])('whether a rollback is offered for %s', async (_, own, isOffered) => {
  const onRollback = vi.fn()
  const shown = createDeployment(own)
  const { user } = openRows([shown], onRollback)
  const button = screen.queryByRole('button', { name: 'Roll back to Add cart' })
  expect(button !== null).toBe(isOffered)
  if (!button) return
  await user.click(button)
  expect(onRollback.mock.calls).toEqual([[shown]])
})

test('a list without rollbacks offers none', () => {
  openRows([createDeployment({ can_rollback: true })])
  expect(screen.queryByRole('button')).toBeNull()
})

const serving = createDeployment()
const building = createDeployment({ status: 'building', finished_at: null })
test.each<[string, Partial<Project>, Deployment | null, Deployment | null | undefined, RegExp]>([
  ['is live', { status: 'live' }, serving, serving, /^Live$/],
  ['is live and asleep', { status: 'live', is_cold: true }, serving, serving, /^Live, asleep$/],
  ['failed', { status: 'failed' }, null, null, /^Failed$/],
  ['is built for the first time', { status: 'building' }, null, building, /^Building\d.*$/],
  ['is built again', { status: 'building' }, serving, building, /^LiveBuilding\d.*$/],
  ['is built, while its deployment is loading', { status: 'building' }, null, undefined, /^Building0 s$/],
  ['is built, without a deployment', { status: 'building' }, null, null, /^Building$/],
  ['is built, while its last deployment has ended', { status: 'building' }, null, serving, /^Building$/],
  ['is built, while a preview is built', { status: 'building' }, null, { ...building, status: 'deploying', target: 'preview' }, /^Building$/],
  ['is being deployed', { status: 'building' }, null, { ...building, status: 'deploying' }, /^Deploying\d.*$/],
  ['waits in the queue', { status: 'building' }, null, { ...building, status: 'queued', started_at: null }, /^Queued$/],
  ['is built for a few seconds', { status: 'building' }, null, { ...building, finished_at: '2026-01-31T09:00:09.999Z' }, /^Building9 s$/],
  ['is built for longer', { status: 'building' }, null, { ...building, finished_at: '2026-01-31T09:00:10.000Z' }, /^Building10 s$/],
])('the badges of a project that %s', (_, own, current, latest, expected) => {
  const shown = createExample(project, { is_cold: false, ...own })
  renderPart(<ProjectStatusBadges project={shown} serving={current} latest={latest} />)
  expect(document.querySelector('main')?.textContent).toMatch(expected)
})

test('badges of deployments and of steps', () => {
  expect(deploymentBadge('canceled')).toEqual({ label: 'Canceled', shape: 'dash', tone: 'idle' })
  expect(stepBadge('skipped')).toEqual({ label: 'Skipped', shape: 'dash', tone: 'idle' })
  expect(stepBadge('skipped', false)).toEqual({ label: 'Not reached', shape: 'dash', tone: 'idle' })
})

test.each<[number[], string | null, string[]]>([
  [[0, 0], null, []],
  [[], null, []],
  [[3000, 0, 1000], 'Build: Step 1 3.0 s, Step 3 1.0 s', ['0.75', '0.25']],
  [[100_000, 100], 'Build: Step 1 1 min 40 s, Step 2 0.1 s', ['0.999', '0.012']],
])('the bar of the durations %j', (durations, label, shares) => {
  renderPart(<DurationBar label="Build" segments={durations.map((ms, index) => ({ name: `Step ${index + 1}`, ms, state: 'done' }))} />)
  const bar = screen.queryByRole('img')
  expect(bar?.getAttribute('aria-label') ?? null).toBe(label)
  const shown = [...(bar?.children ?? [])].map((part) => (part instanceof HTMLElement ? Number(part.style.flexGrow) : 0))
  expect(shown.map((share) => String(Number(share.toFixed(3))))).toEqual(shares)
})
