import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { CpuField } from '../../../renderer/features/settings/cpu-field.tsx'
import SettingsPage from '../../../renderer/features/settings/page.tsx'
import { ReplicasFields } from '../../../renderer/features/settings/replicas-fields.tsx'
import { WatchPathsField } from '../../../renderer/features/settings/watch-paths-field.tsx'
import type { Autoscaling } from '../../../server/contract/autoscaling.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { projectSettings } from '../../../server/contract/project-settings.ts'
import { project, type Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = (runtime: string) => {
  const session = createExample(allOperations.getSession.success.json)
  return { ...session, instance: { ...session.instance, runtime: { ...session.instance.runtime, name: runtime } } }
}
const createProject = (own: Partial<Project> = {}) => createExample(project, { slug: 'my-shop', name: 'My shop', ...own })
const settings = { settings: createExample(projectSettings), cpus: 8 }
const field = (label: string) => screen.getByLabelText(label)

const cpuHint = '0.1 to 8, for the app and for builds. Leave empty for 1 core for the app and all cores for builds.'
test.each([
  ['is not known', undefined, cpuHint],
  ['is Docker', 'docker', cpuHint],
  ['is one of another version', 'other', cpuHint],
  ['is processes', 'process', 'Has no effect here: apps and builds that run as processes can use every core. It applies with Docker.'],
])('the CPU field when the runtime %s', (_, runtime, hint) => {
  renderPart(<CpuField cpus={8} value={null} onChange={vi.fn()} error={undefined} />, {
    data: runtime === undefined ? [] : [[queryKeys.session, createSession(runtime)]],
  })
  expect(screen.getByText(/Leave empty|Has no effect/).textContent).toBe(hint)
  expect(field('CPU (cores)')).toHaveProperty('value', '')
})

test('CPU cores are a number or empty, and an error replaces the hint', () => {
  const onChange = vi.fn()
  const { text } = renderPart(<CpuField cpus={8} value={0.5} onChange={onChange} error="Too many cores." />)
  expect(text()).toBe('CPU (cores) 0.5 Too many cores.')
  fireEvent.change(field('CPU (cores)'), { target: { value: '1.5' } })
  fireEvent.change(field('CPU (cores)'), { target: { value: '' } })
  expect(onChange.mock.calls).toEqual([[1.5], [null]])
})

function openReplicas(replicas: number, range: Autoscaling | null) {
  const onReplicas = vi.fn()
  const onAutoscaling = vi.fn()
  const part = renderPart(
    <ReplicasFields
      replicas={{ value: replicas, onChange: onReplicas, error: undefined }}
      autoscaling={{ value: range, onChange: onAutoscaling, error: undefined }}
      sticky={{ checked: false, onChange: vi.fn() }}
    />,
  )
  return { ...part, onReplicas, onAutoscaling, labels: [...document.querySelectorAll('label')].map(({ textContent }) => textContent) }
}

test('a fixed number of replicas', () => {
  const { labels, onReplicas } = openReplicas(2, null)
  expect(labels).toEqual(['Replicas', 'Autoscaling', 'Sticky sessions'])
  fireEvent.change(field('Replicas'), { target: { value: '4' } })
  expect(onReplicas.mock.calls).toEqual([[4]])
})

test('an empty number of replicas stays empty', () => {
  openReplicas(Number.NaN, null)
  expect(field('Replicas')).toHaveProperty('value', '')
})

test.each([
  [1, { min: 1, max: 3, target_concurrency: 20 }],
  [3, { min: 3, max: 3, target_concurrency: 20 }],
  [5, { min: 5, max: 5, target_concurrency: 20 }],
])('autoscaling begins with %i replicas', async (replicas, range) => {
  const { user, onAutoscaling } = openReplicas(replicas, null)
  expect(screen.getByRole('switch', { name: 'Autoscaling' }).getAttribute('aria-checked')).toBe('false')
  await user.click(screen.getByRole('switch', { name: 'Autoscaling' }))
  expect(onAutoscaling.mock.calls).toEqual([[range]])
})

test('the range of autoscaling', async () => {
  const { labels, user, onAutoscaling } = openReplicas(2, { min: 2, max: 4, target_concurrency: 10 })
  expect(labels).toEqual(['Autoscaling', 'Minimum replicas', 'Maximum replicas', 'Target concurrency', 'Sticky sessions'])
  fireEvent.change(field('Minimum replicas'), { target: { value: '1' } })
  fireEvent.change(field('Maximum replicas'), { target: { value: '6' } })
  fireEvent.change(field('Target concurrency'), { target: { value: '50' } })
  await user.click(screen.getByRole('switch', { name: 'Autoscaling' }))
  expect(onAutoscaling.mock.calls).toEqual([
    [{ min: 1, max: 4, target_concurrency: 10 }],
    [{ min: 2, max: 6, target_concurrency: 10 }],
    [{ min: 2, max: 4, target_concurrency: 50 }],
    [null],
  ])
})

test.each<[string, string, string | null]>([
  ['.', '', null],
  ['./', '', null],
  ['', '', null],
  ['apps/web', 'src/**', null],
  [' ./apps/web/ ', ' \n', 'apps/web'],
  ['apps/web', '', 'apps/web'],
])('for the root directory %j and the paths %j, the watched folder %j is suggested', async (rootDirectory, value, folder) => {
  const onChange = vi.fn()
  const { user } = renderPart(<WatchPathsField rootDirectory={rootDirectory} value={value} onChange={onChange} error={undefined} />)
  expect(screen.queryAllByRole('button').map(({ textContent }) => textContent)).toEqual(folder === null ? [] : [`Watch ${folder} and the lock file`])
  if (folder === null) return
  await user.click(screen.getByRole('button'))
  expect(onChange.mock.calls).toEqual([[`/${folder}/**\n/package.json\n/*lock*`]])
})

test.each<[string, Project | undefined, typeof settings | undefined]>([
  ['the project', undefined, settings],
  ['its settings', createProject(), undefined],
])('the page is loading without %s', (_, opened, more) => {
  const { text } = renderPart(<SettingsPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), opened],
      [queryKeys.projectSettings('my-shop'), more],
    ],
  })
  expect(text()).toBe('Loading')
})

test('without its other settings, which failed to load, the page has those of the project', async () => {
  renderPart(<SettingsPage slug="my-shop" />, {
    data: [[queryKeys.project('my-shop'), createProject()]],
    answers: { getProjectSettings: problemResponse('project_not_found', 'No project has this name.') },
  })
  expect(await screen.findByLabelText('Branch')).toBeTruthy()
  expect(screen.queryByLabelText('Watch paths')).toBeNull()
  expect(document.title).toContain('Settings · My shop')
})

test.each([
  ['a framework', 'nextjs', 'Detected (Next.js)'],
  ['no framework', null, 'Detected'],
])('the placeholder of detected settings for a latest deployment with %s', (_, framework, placeholder) => {
  renderPart(<SettingsPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), createProject({ node_version: 'auto', install_command: 'pnpm i', memory_limit_mb: 512 })],
      [queryKeys.projectSettings('my-shop'), settings],
      [queryKeys.latest('my-shop'), createExample(deployment, { framework })],
    ],
  })
  expect(field('Node version')).toMatchObject({ placeholder, value: '' })
  expect(field('Install command')).toMatchObject({ placeholder, value: 'pnpm i' })
  for (const label of ['Memory (MB)', 'Timeout (seconds)']) {
    fireEvent.change(field(label), { target: { value: '' } })
    expect(field(label)).toHaveProperty('value', '')
  }
})

test('an instance without more settings has fewer fields', () => {
  const { text } = renderPart(<SettingsPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), createProject({ is_connected: true })],
      [queryKeys.projectSettings('my-shop'), null],
    ],
  })
  const labels = [...document.querySelectorAll('label')].map(({ textContent }) => textContent)
  const runtime = ['Memory (MB)', 'Always warm', 'Edge cache']
  expect(labels).toEqual(['Name', 'Slug', 'Repository', 'Branch', 'Root directory', 'Node version', 'Install command', 'Build command', ...runtime])
  expect(text()).not.toContain('Build cache')
  expect(screen.queryByText('Health check')).toBeNull()
})

test.each([
  ['swarm', true],
  ['docker', false],
])('whether the runtime %s has node labels', (runtime, hasNodeLabels) => {
  renderPart(<SettingsPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), createProject()],
      [queryKeys.projectSettings('my-shop'), settings],
      [queryKeys.session, createSession(runtime)],
    ],
  })
  expect(screen.queryByLabelText('Node labels') !== null).toBe(hasNodeLabels)
})
