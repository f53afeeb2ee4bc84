import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { SourceForm } from '../../../renderer/features/projects/source-form.tsx'
import { useUploads } from '../../../renderer/stores/uploads.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = (is_instance_owner: boolean) => {
  const { user, instance, ...others } = createExample(instanceOperations.getSession.success.json)
  return { ...others, user: { ...user, is_instance_owner }, instance: { ...instance, edge_url: 'http://localhost:4780', apps_url: null } }
}
const shop = createExample(project, { slug: 'shop', name: 'shop' })
const queued = { deployment_id: 'dpl_9', status: 'queued', deployment: createExample(deployment, { id: 'dpl_9' }) } as const
const accepted: PartOptions['answers'] = {
  createProject: { project: shop },
  deployProject: queued,
  deployFolder: { project: shop, deployment: queued.deployment },
}

afterEach(() => {
  for (const upload of Object.values(useUploads.getState().uploads)) if (upload.state === 'sending') upload.cancel()
  useUploads.setState({ uploads: {} })
})

const showForm = (isOwner: boolean, answers: PartOptions['answers'] = accepted) => {
  const onDone = vi.fn()
  return { onDone, ...renderPart(<SourceForm onDone={onDone} />, { data: [[queryKeys.session, createSession(isOwner)]], answers }) }
}
const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name })
const deploy = () => screen.getByRole('button', { name: 'Deploy' })
/** Uploads that do not end before they are canceled. */
const stubUploads = () => {
  const sent: [string, string][] = []
  class PendingRequest extends EventTarget {
    upload = new EventTarget()
    address = ''
    open(_: string, address: string) {
      this.address = address
    }
    setRequestHeader() {}
    abort() {
      this.dispatchEvent(new Event('abort'))
    }
    send({ name }: File) {
      sent.push([this.address, name])
    }
  }
  vi.stubGlobal('XMLHttpRequest', PendingRequest)
  return sent
}

test.each([
  ['the owner of the instance', true, 'Local folder', 'Local folder, Git URL, Archive, Sample'],
  ['another user', false, 'Git URL', 'Git URL, Archive, Sample'],
])('the sources of %s', (_, isOwner, first, all) => {
  showForm(isOwner)
  const sources = screen.getAllByRole('radio')
  expect(sources.map(({ textContent }) => textContent).join(', ')).toBe(all)
  expect(screen.getByRole('radio', { checked: true }).textContent).toBe(first)
})

test.each([
  ['https://git.example.com/me/shop.git', 'https://git.example.com/me/shop.git'],
  ['git@git.example.com:me/shop.git', 'ssh://git@git.example.com/me/shop.git'],
  ['/srv/git/shop.git', 'file:///srv/git/shop.git'],
  [' ssh://git@git.example.com/shop ', 'ssh://git@git.example.com/shop'],
])('a repository at %s is deployed', async (address, repo_url) => {
  const { user, sent, onDone } = showForm(false)
  await user.type(field('Git URL'), address)
  await user.click(deploy())
  await waitFor(() => expect(location.pathname).toBe('/projects/shop/deployments/dpl_9'))
  expect(sent).toEqual([
    { operation: 'createProject', params: {}, body: { name: 'shop', slug: 'shop', repo_url } },
    { operation: 'deployProject', params: { slug: 'shop' } },
  ])
  expect(onDone).toHaveBeenCalledOnce()
})

test('a name gives the slug and the URL, and a branch is sent', async () => {
  const { user, sent, text } = showForm(false)
  expect(text()).toContain('Choose a name to get a URL.')
  await user.type(field('Git URL'), 'https://git.example.com/me/app.git')
  await user.clear(field('Name'))
  await user.type(field('Name'), 'Tide Clock')
  await user.type(field('Branch'), ' next ')
  expect(field('Slug').value).toBe('tide-clock')
  expect(text()).toContain('URL: tide-clock.localhost:4780')
  await user.click(deploy())
  expect(sent[0]?.body).toEqual({ name: 'Tide Clock', slug: 'tide-clock', repo_url: 'https://git.example.com/me/app.git', repo_branch: 'next' })
})

test('a project whose deployment cannot start opens', async () => {
  const { user } = showForm(false, { ...accepted, deployProject: problemResponse('runtime_not_isolated', 'Docker is needed.') })
  await user.type(field('Git URL'), 'https://git.example.com/me/shop.git')
  await user.click(deploy())
  await waitFor(() => expect(location.pathname).toBe('/projects/shop'))
})

test.each([
  ['slug_taken', 'The slug is taken.', 'The slug is taken.'],
  ['plan_limit_reached', 'Your plan is full.', 'Your plan is full.plan_limit_reachedreq_00000000000000000000000000How to fix it'],
] as const)('a refusal with %s is shown once', async (code, message, expected) => {
  const { user } = showForm(false, { createProject: problemResponse(code, message) })
  await user.type(field('Git URL'), 'https://git.example.com/me/shop.git')
  await user.click(deploy())
  expect((await screen.findAllByRole('alert')).map(({ textContent }) => textContent).join(' | ')).toBe(expected)
  expect(location.pathname).toBe('/app/')
})

test('a folder is deployed', async () => {
  const { user, sent, onDone } = showForm(true)
  await user.type(field('Folder'), ' /srv/shop')
  await user.click(deploy())
  await waitFor(() => expect(location.pathname).toBe('/projects/shop/deployments/dpl_9'))
  expect(sent).toEqual([{ operation: 'deployFolder', params: {}, body: { path: '/srv/shop', slug: 'shop', name: 'shop' } }])
  expect(onDone).toHaveBeenCalledOnce()
})

test('an archive is chosen, removed, and uploaded to a new project', async () => {
  const uploads = stubUploads()
  const { user, sent, text } = showForm(false)
  await user.click(screen.getByRole('radio', { name: 'Archive' }))
  await user.type(field('Name'), 'shop')
  await user.click(deploy())
  expect(text()).toContain('Choose an archive first.')
  await user.upload(screen.getByLabelText('Archive'), new File(['PK12'], 'tide.zip'))
  expect(await screen.findByText('tide.zip')).toBeTruthy()
  expect(text()).toContain('tide.zip4 B')
  await user.click(screen.getByRole('button', { name: 'Remove archive' }))
  expect(screen.queryByText('tide.zip')).toBeNull()
  await user.upload(screen.getByLabelText('Archive'), new File(['PK12'], 'tide.zip'))
  await screen.findByText('tide.zip')
  expect(sent).toEqual([])
  await user.click(deploy())
  await waitFor(() => expect(location.pathname).toBe('/projects/shop'))
  expect(sent).toEqual([{ operation: 'createProject', params: {}, body: { name: 'shop', slug: 'shop' } }])
  expect(uploads).toEqual([['/v1/projects/shop/upload?name=tide.zip', 'tide.zip']])
})

test('a sample has to be chosen', async () => {
  const { user, sent } = showForm(false)
  await user.click(screen.getByRole('radio', { name: 'Sample' }))
  const tideClock = await screen.findByRole<HTMLInputElement>('radio', { name: /^Tide clock/ })
  await user.type(field('Name'), 'Clock')
  await user.click(deploy())
  expect([sent, tideClock.checkValidity()]).toEqual([[], false])
})

test('a sample is chosen and uploaded', async () => {
  const uploads = stubUploads()
  const { user, sent } = showForm(false)
  await user.click(screen.getByRole('radio', { name: 'Sample' }))
  await user.click(await screen.findByRole('radio', { name: /^Tide clock/ }))
  expect(field('Slug').value).toBe('tide-clock')
  await user.click(deploy())
  await waitFor(() => expect(uploads.map(([, name]) => name)).toEqual(['tide-clock.tar.gz']))
  expect(sent).toEqual([{ operation: 'createProject', params: {}, body: { name: 'Tide clock', slug: 'tide-clock' } }])
})

test.each([
  ['a repository', false, 'Git URL', 'repo_url'],
  ['a folder', true, 'Folder', 'path'],
])('a problem with the address of %s is shown at its field', async (_, isOwner, label, path) => {
  const body = { error: 'invalid_input', message: 'The body is invalid.', issues: [{ path, message: 'It cannot be read.' }], request_id: 'req_1' }
  const refused = Response.json(body, { status: 400 })
  const { user } = showForm(isOwner, { createProject: refused, deployFolder: refused })
  await user.type(field(label), '/srv/shop')
  await user.click(deploy())
  expect((await screen.findAllByRole('alert')).map(({ textContent }) => textContent)).toEqual(['It cannot be read.'])
  expect(field(label).getAttribute('aria-invalid')).toBe('true')
})
