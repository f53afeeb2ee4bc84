import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { Lan } from '../../../renderer/features/network/lan.tsx'
import NetworkPage from '../../../renderer/features/network/page.tsx'
import { httpsStatus, hostsFileStatus, type LanStatus, lanStatus, networkOperations } from '../../../server/contract/network.ts'
import { instanceOperations, settings } from '../../../server/contract/instance.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = (is_instance_owner: boolean, is_local = true) => {
  const { user, instance, ...others } = createExample(instanceOperations.getSession.success.json)
  return { ...others, user: { ...user, is_instance_owner, email: 'ada@example.com' }, instance: { ...instance, is_local } }
}
const createLan = (own: Partial<LanStatus> = {}) =>
  createExample(lanStatus, { open: false, has_owner_password: true, warning: null, dashboard_urls: ['http://10.0.0.2:4600/'], projects: [], ...own })

interface State {
  lan?: Partial<LanStatus>
  /** The setting; null while it loads. */
  setting?: boolean | null
  isLocal?: boolean
  answers?: PartOptions['answers']
}
const showLan = ({ lan = {}, setting = false, isLocal = true, answers = {} }: State = {}) =>
  renderPart(<Lan />, {
    data: [
      [queryKeys.session, createSession(true, isLocal)],
      [queryKeys.lan, createLan(lan)],
      [queryKeys.settings, setting === null ? undefined : createExample(settings, { lan: setting })],
    ],
    answers,
  })
const access = () => screen.getByRole<HTMLButtonElement>('switch')

test.each<[string, State, string]>([
  [
    'closed',
    {},
    'Local network Change password… Allow access from the local network Only this machine can reach the dashboard and apps. Allowing access requires a password for signing in from other devices.',
  ],
  [
    'closed, without a password',
    { lan: { has_owner_password: false, warning: 'Not encrypted.' } },
    'Local network Set password… Allow access from the local network Only this machine can reach the dashboard and apps. Allowing access requires a password for signing in from other devices.',
  ],
  [
    'open',
    { lan: { open: true, dashboard_urls: ['http://10.0.0.2:4600/', 'http://10.0.0.3:4600/'] }, setting: true },
    'Local network Change password… Allow access from the local network The dashboard and live apps are reachable at this machine’s private IP addresses. Public addresses stay closed. [QR code for This dashboard: http://10.0.0.2:4600/] This dashboard10.0.0.2:4600 [Copy URL of This dashboard] 10.0.0.3:4600 [Copy URL of This dashboard]',
  ],
  [
    'open, with projects and a warning',
    {
      lan: {
        open: true,
        warning: 'Not encrypted.',
        projects: [
          { slug: 'shop', name: 'Shop', urls: ['http://10.0.0.2:4801'] },
          { slug: 'blog', name: 'Blog', urls: [] },
        ],
      },
      setting: true,
    },
    'Local network Change password… Allow access from the local network The dashboard and live apps are reachable at this machine’s private IP addresses. Public addresses stay closed. Not encrypted. [QR code for This dashboard: http://10.0.0.2:4600/] This dashboard10.0.0.2:4600 [Copy URL of This dashboard] [QR code for Shop: http://10.0.0.2:4801] Shop10.0.0.2:4801 [Copy URL of Shop]',
  ],
  [
    'open, without an address',
    { lan: { open: true, dashboard_urls: [] }, setting: true },
    'Local network Change password… Allow access from the local network The dashboard and live apps are reachable at this machine’s private IP addresses. Public addresses stay closed. This machine has no private IP address right now. Homeport keeps checking.',
  ],
])('the local network is %s', (_, state, expected) => expect(showLan(state).text()).toBe(expected))

test.each<[string, State, boolean, boolean]>([
  ['is off', {}, false, false],
  ['is on', { setting: true }, true, false],
  ['is not known while the settings load, so it follows the network', { setting: null, lan: { open: true } }, true, true],
])('the setting %s', (_, state, isOn, isDisabled) => {
  showLan(state)
  expect([access().getAttribute('aria-checked'), access().disabled]).toEqual([String(isOn), isDisabled])
})

test.each([
  [false, true],
  [true, false],
])('with a password, access that is %s becomes %s at once', async (setting, lan) => {
  const { user, sent } = showLan({ setting })
  await user.click(access())
  expect(sent).toEqual([{ operation: 'updateSettings', params: {}, body: { lan } }])
  expect([access().getAttribute('aria-checked'), access().disabled]).toEqual([String(lan), true])
})

test('without a password, access can be closed', async () => {
  const { user, sent } = showLan({ lan: { has_owner_password: false }, setting: true })
  await user.click(access())
  expect(sent).toEqual([{ operation: 'updateSettings', params: {}, body: { lan: false } }])
})

test('a local network that is not known is loaded again', async () => {
  renderPart(<Lan />, { answers: { getLan: problemResponse('forbidden', 'Only the owner may see this.') } })
  expect(screen.getByRole('status').textContent).toBe('Loading')
  expect((await screen.findByRole('alert')).textContent).toContain('Only the owner may see this.')
  expect(screen.queryByRole('button', { name: /password/ })).toBeNull()
})

const publicNames = createExample(networkOperations.getPublicNames.success.json).public_names
test.each<[string, PartOptions['data'], string]>([
  ['whose session loads', [], 'Loading'],
  ['who is not the owner', [[queryKeys.session, createSession(false)]], 'Only the instance owner can see network settings.'],
  [
    'who is the owner, while a part loads',
    [
      [queryKeys.session, createSession(true)],
      [queryKeys.lan, createLan()],
    ],
    'Loading',
  ],
  [
    'who is the owner',
    [
      [queryKeys.session, createSession(true)],
      [queryKeys.lan, createLan()],
      [queryKeys.https, createExample(httpsStatus)],
      [queryKeys.hostsFile, createExample(hostsFileStatus)],
      [queryKeys.publicNames, publicNames],
    ],
    'Local network, HTTPS, Public names, Hosts file',
  ],
])('the network of a user %s', (_, data, expected) => {
  renderPart(<NetworkPage />, { data })
  const headings = screen.queryAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent)
  const message = document.querySelector('.page > p, .page > [role=status]')?.textContent
  expect(headings.length > 0 ? headings.join(', ') : message).toBe(expected)
})

test('a QR code has the corners of its modules', () => {
  showLan({ lan: { open: true }, setting: true })
  const code = screen.getByRole('img', { name: 'QR code for This dashboard: http://10.0.0.2:4600/' })
  expect(code.getAttribute('viewBox')).toBe('0 0 31 31')
  expect(code.querySelector('path')?.getAttribute('d')?.slice(0, 39)).toBe('M3 3h1v1h-1zM4 3h1v1h-1zM5 3h1v1h-1zM6 ')
})

const dialog = () => screen.queryByRole('dialog')
const typePasswords = async ({ user }: ReturnType<typeof showLan>, password: string, repeated = password) => {
  await user.type(screen.getByLabelText('Password'), password)
  if (repeated !== '') await user.type(screen.getByLabelText('Confirm password'), repeated)
}
const saved = { setOwnerPassword: { ok: true } } as const

test('without a password, access asks for one first', async () => {
  const part = showLan({ lan: { has_owner_password: false }, answers: saved })
  await part.user.click(access())
  expect(part.sent).toEqual([])
  expect(dialog()?.textContent).toContain('Set your passwordSigns in ada@example.com from other devices.Password')
  await typePasswords(part, 'correct horse')
  await part.user.click(screen.getByRole('button', { name: 'Save and allow access' }))
  await waitFor(() => expect(dialog()).toBeNull())
  expect(part.sent).toEqual([
    { operation: 'setOwnerPassword', params: {}, body: { password: 'correct horse' } },
    { operation: 'updateSettings', params: {}, body: { lan: true } },
  ])
})

test('a changed password changes nothing else', async () => {
  const part = showLan({ answers: saved })
  await part.user.click(screen.getByRole('button', { name: 'Change password…' }))
  expect(dialog()?.textContent).toContain('Change your passwordSigns in ada@example.com from other devices. Your other sessions are signed out.')
  await typePasswords(part, 'correct horse')
  await part.user.click(screen.getByRole('button', { name: 'Save password' }))
  await waitFor(() => expect(dialog()).toBeNull())
  expect(part.sent.map(({ operation }) => operation)).toEqual(['setOwnerPassword'])
})

const openPassword = async (state: State = {}) => {
  const part = showLan(state)
  await part.user.click(screen.getByRole('button', { name: 'Change password…' }))
  return { ...part, save: screen.getByRole<HTMLButtonElement>('button', { name: 'Save password' }) }
}

test.each([
  ['of nine characters', '123456789', '123456789', true, null],
  ['of ten characters', '1234567890', '1234567890', false, null],
  ['that is not repeated', '1234567890', '', true, null],
  ['that is repeated differently', '1234567890', '1234567891', true, 'The passwords do not match.'],
])('a password %s', async (_, password, repeated, isDisabled, problem) => {
  const part = await openPassword()
  await typePasswords(part, password, repeated)
  expect([part.save.disabled, screen.queryByRole('alert')?.textContent ?? null]).toEqual([isDisabled, problem])
})

test('a password is shown and hidden', async () => {
  const { user } = await openPassword()
  const types = () => ['Password', 'Confirm password'].map((name) => screen.getByLabelText<HTMLInputElement>(name).type)
  expect(types()).toEqual(['password', 'password'])
  await user.click(screen.getByRole('button', { name: 'Show password' }))
  expect(types()).toEqual(['text', 'text'])
  await user.click(screen.getByRole('button', { name: 'Hide password' }))
  expect(types()).toEqual(['password', 'password'])
})

test('another machine needs a setup code', async () => {
  const part = await openPassword({ isLocal: false })
  await typePasswords(part, 'correct horse')
  expect(part.save.disabled).toBe(true)
  await part.user.type(screen.getByLabelText('Setup code'), ' 123-456 ')
  expect(part.save.disabled).toBe(false)
  await part.user.click(part.save)
  expect(part.sent).toEqual([{ operation: 'setOwnerPassword', params: {}, body: { password: 'correct horse', setup_code: '123-456' } }])
})

test('a refused request asks for a setup code', async () => {
  const part = await openPassword({ answers: { setOwnerPassword: problemResponse('forbidden', 'A code is needed.') } })
  expect(screen.queryByLabelText('Setup code')).toBeNull()
  await typePasswords(part, 'correct horse')
  await part.user.click(part.save)
  expect(await screen.findByLabelText('Setup code')).toBeTruthy()
  expect(screen.getByRole('alert').textContent).toContain('A code is needed.')
})

test('a password dialog is canceled', async () => {
  const { user } = await openPassword()
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(dialog()).toBeNull()
})
