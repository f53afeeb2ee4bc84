import { screen, waitFor, within } from '@testing-library/react'
import type { ReactElement } from 'react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import {
  DeleteDomainDialog,
  DomainDetailsDialog,
  KeepDomainDialog,
  TransferDomainDialog,
} from '../../../renderer/features/domains/domain-dialogs.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Domain, domain, type DomainCheck } from '../../../server/contract/domains.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'
import { AddDomainDialog } from '../../../renderer/features/domains/add-domain-dialog.tsx'
import { DnsRecordCheck } from '../../../renderer/features/domains/dns-record-check.tsx'

const past = '2026-01-31T12:00:00.000Z'
const createDomain = (own: Partial<Domain> = {}) =>
  createExample(domain, {
    id: 'dom_1',
    hostname: 'shop.example.com',
    status: 'pending',
    last_check_at: null,
    last_check_error: null,
    account_owned_domain_id: null,
    expires_at: null,
    ...own,
  })
const renderDialog = (createElement: (onClose: () => void) => ReactElement, answers = {}) => {
  const onClose = vi.fn<() => void>()
  return { onClose, ...renderPart(createElement(onClose), { answers }) }
}
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const toasts = () => useUi.getState().toasts.map(({ text }) => text)

const details = { ...createDomain(), verified_at: null, auto_renew: null, transfer_requested_at: null, registrar: null, registrant: null }
const registrant = {
  name: 'Ada',
  email: 'ada@example.com',
  address: '1 Street',
  city: 'Berlin',
  country: 'DE',
  postal_code: '10115',
  phone: '+49 30',
}
test.each<[string, object, string[]]>([
  ['an external domain', details, ['Added', 'Registrar: External']],
  [
    'a bought domain',
    {
      ...details,
      verified_at: past,
      last_check_at: past,
      registrar: { name: 'Names Inc.', reference: 'A-1' },
      expires_at: past,
      auto_renew: true,
      transfer_requested_at: past,
      registrant,
    },
    [
      'Added',
      'Verified',
      'Last checked',
      'Registrar: Names Inc., A-1',
      'Expires: Jan 31, 2026',
      'Renewal: Automatic, 30 days before expiry',
      'Transfer started',
      'Registrant: Ada\n1 Street\n10115 Berlin\nDE\nada@example.com\n+49 30',
    ],
  ],
  ['a domain that is not renewed', { ...details, auto_renew: false }, ['Added', 'Renewal: Off', 'Registrar: External']],
])('the details of %s', (_, detail, facts) => {
  renderPart(<DomainDetailsDialog domain={createDomain()} onClose={() => {}} />, { data: [[queryKeys.domain('dom_1'), { domain: detail }]] })
  const dated = ['Added', 'Verified', 'Last checked', 'Transfer started']
  const shown = within(screen.getByRole('dialog'))
    .getAllByRole('term')
    .map((term) => {
      const name = term.textContent
      return dated.includes(name) ? name : `${name}: ${term.nextElementSibling?.textContent}`
    })
  expect(shown).toEqual(facts)
})

test('details that cannot be loaded', async () => {
  const { text } = renderDialog((onClose) => <DomainDetailsDialog domain={createDomain()} onClose={onClose} />, {
    getDomain: problemResponse('domain_not_found', 'It is gone.'),
  })
  await waitFor(() => expect(text()).toContain('It is gone. domain_not_found'))
  expect(text()).not.toContain('Loading')
})

test.each<[string, (onClose: () => void) => ReactElement, string, object, string]>([
  [
    'transferred',
    (onClose) => <TransferDomainDialog domain={createDomain()} onClose={onClose} />,
    'Start transfer',
    { operation: 'transferDomain' },
    'You get a transfer code for the new registrar. Anyone with the code can transfer the domain. It stops pointing to My shop immediately.',
  ],
  [
    'kept',
    (onClose) => <KeepDomainDialog domain={createDomain()} onClose={onClose} />,
    'Cancel transfer',
    { operation: 'verifyDomain' },
    'Cancels the transfer. The domain points here again once its record is correct, and is renewed as before.',
  ],
  [
    'removed',
    (onClose) => <DeleteDomainDialog domain={createDomain()} onClose={onClose} />,
    'Remove domain',
    { operation: 'deleteDomain' },
    'It stops pointing to My shop immediately. You can add it again later; it is then verified again.',
  ],
])('a domain that cannot be %s', async (_, createElement, action, request, description) => {
  const problem = problemResponse('domain_not_found', 'It is gone.')
  const { user, sent, text, onClose } = renderDialog(createElement, { transferDomain: problem, verifyDomain: problem, deleteDomain: problem })
  expect(text()).toContain(description)
  await user.click(button(action))
  expect(sent).toEqual([{ ...request, params: { id: 'dom_1' } }])
  await waitFor(() => expect(text()).toContain('It is gone. domain_not_found'))
  expect([toasts(), onClose.mock.calls.length]).toEqual([[], 0])
})

test('a transfer shows its code', async () => {
  const { user, text } = renderDialog((onClose) => <TransferDomainDialog domain={createDomain()} onClose={onClose} />, {
    transferDomain: { domain: createDomain(), auth_code: 'x9-code' },
  })
  await user.click(button('Start transfer'))
  await waitFor(() => expect(text()).toContain('Transfer code for shop.example.com'))
  expect(text()).toContain('x9-code [Copy code]')
})

test.each<[string, Partial<Domain>, string]>([
  ['points elsewhere', { status: 'failed', last_check_error: 'It names `x`.' }, 'It names x. Keep transferring'],
  ['is not verified for an unknown reason', { status: 'failed' }, 'The domain does not point here. Keep transferring'],
])('a transfer is not canceled if the domain %s', async (_, own, expected) => {
  const { user, text, onClose } = renderDialog((close) => <KeepDomainDialog domain={createDomain()} onClose={close} />, {
    verifyDomain: { domain: createDomain(own), checks: [] },
  })
  await user.click(button('Cancel transfer'))
  await waitFor(() => expect(text()).toContain(expected))
  expect([toasts(), onClose.mock.calls.length]).toEqual([[], 0])
})

test('a canceled transfer and a removal close their dialogs', async () => {
  const { user, onClose } = renderDialog((close) => <KeepDomainDialog domain={createDomain()} onClose={close} />, {
    verifyDomain: { domain: createDomain({ status: 'verified' }), checks: [] },
  })
  await user.click(button('Cancel transfer'))
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(toasts()).toEqual(['Transfer canceled. shop.example.com points here again.'])
})

test('a bought domain that is removed stays with its owner', async () => {
  const { user, text, onClose } = renderDialog(
    (close) => <DeleteDomainDialog domain={createDomain({ account_owned_domain_id: 'own_1', expires_at: past })} onClose={close} />,
    { deleteDomain: new Response(null, { status: 204 }) },
  )
  expect(text()).toContain('The domain stays yours until Jan 31, 2026: you can add it again to any project.')
  await user.click(button('Remove domain'))
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(toasts()).toEqual(['shop.example.com removed.'])
})
const session = { instance: { edge_url: 'http://127.0.0.1:4680' } }
const renderCheck = (own: Partial<Domain> = {}, { platformIp = '203.0.113.10', answers = {} } = {}) =>
  renderPart(<DnsRecordCheck domain={createDomain(own)} platformIp={platformIp} onClose={() => {}} />, {
    answers,
    data: [[queryKeys.session, session]],
  })
const renderAdd = (answers = {}) => renderPart(<AddDomainDialog slug="my-shop" platformIp="203.0.113.10" onClose={() => {}} />, { answers })

afterEach(() => void vi.useRealTimers())

const record = (name: string, value: string) =>
  `At your DNS provider, create this record and remove other A, AAAA and CNAME records of the same name: [DNS record] Type A Name ${name} [Copy name] Value ${value} [Copy value] Some registrars expect only the part before the domain:`

test.each<[string, Partial<Domain>, string, string]>([
  ['a new subdomain', {}, '203.0.113.10', `${record('shop.example.com', '203.0.113.10')} shop. Later Check now`],
  [
    'a domain on this machine',
    { hostname: 'example.com', last_check_at: past },
    '127.0.0.1',
    `${record('example.com', '127.0.0.1')} @, which means the domain itself. The value is this machine’s loopback address, so the domain works only on this machine. Last checked Jan 31, 2026. Later Check now`,
  ],
  [
    'a domain in the network that failed',
    { status: 'failed', last_check_at: past, last_check_error: 'No `A` record.' },
    '10.0.0.2',
    `${record('shop.example.com', '10.0.0.2')} shop. The value is a private address, so the domain works only within your network. Last checked Jan 31, 2026: No A record. Later Check now`,
  ],
  [
    'a verified domain',
    { status: 'verified', last_check_at: past },
    '203.0.113.10',
    'shop.example.com points here and serves the project. Last checked Jan 31, 2026. Open domain Done Check again',
  ],
])('the record of %s', (_, own, platformIp, expected) => expect(renderCheck(own, { platformIp }).text()).toBe(expected))

test('a check shows what was found, and that it continues', async () => {
  const check: DomainCheck = {
    type: 'A',
    name: 'shop.example.com',
    expected: '203.0.113.10',
    found: [],
    ok: false,
    message: 'Create the `A` record.',
  }
  const checks = [check, { ...check, type: 'AAAA', found: ['::1', '::2'], ok: true }]
  const { user, sent, text } = renderCheck(
    { last_check_at: past },
    { answers: { verifyDomain: { domain: createDomain({ status: 'failed' }), checks } } },
  )
  await user.click(button('Check now'))
  await waitFor(() => expect(text()).toContain('[DNS check results]'))
  expect(sent).toEqual([{ operation: 'verifyDomain', params: { id: 'dom_1' } }])
  expect(text()).toContain(
    '[Incorrect] A shop.example.com Expected 203.0.113.10 Found nothing Create the A record. [Correct] AAAA shop.example.com Expected 203.0.113.10 Found ::1, ::2 A new record can take a few minutes; a changed one takes as long as its previous TTL. This dialog checks again automatically.',
  )
  expect(text()).not.toContain('Last checked')
})

test('a failed check is repeated automatically, a successful one is not', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true, toFake: ['setInterval', 'clearInterval'] })
  const answers: { verifyDomain: object } = { verifyDomain: { domain: createDomain({ status: 'failed' }), checks: [] } }
  const { user, sent, text } = renderCheck({}, { answers })
  vi.advanceTimersByTime(20_000)
  expect(sent).toHaveLength(0)
  await user.click(button('Check now'))
  await waitFor(() => expect(text()).toContain('This dialog checks again automatically.'))
  answers.verifyDomain = { domain: createDomain({ status: 'verified' }), checks: [] }
  vi.advanceTimersByTime(15_000)
  await waitFor(() => expect(text()).toContain('points here and serves the project.'))
  vi.advanceTimersByTime(60_000)
  expect(sent).toHaveLength(2)
  expect(text()).not.toContain('automatically')
})

test('a check that cannot be made says why', async () => {
  const { user, text } = renderCheck({}, { answers: { verifyDomain: problemResponse('domain_not_found', 'It is gone.') } })
  await user.click(button('Check now'))
  await waitFor(() => expect(text()).toContain('It is gone. domain_not_found'))
})

test('a domain is added, and then its record is shown', async () => {
  const { user, sent, text } = renderAdd({
    addDomain: { domain: createDomain() },
  })
  expect(screen.queryByLabelText('Project')).toBeNull()
  expect(button('Add domain').disabled).toBe(true)
  const field = screen.getByLabelText('Domain')
  await user.type(field, 'shop.example.com')
  expect(text()).toContain('shop.example.com A domain or any of its subdomains.')
  await user.type(field, '/')
  expect(text()).toContain('Added as shop.example.com.')
  await user.click(button('Add domain'))
  expect(sent).toEqual([{ operation: 'addDomain', params: { slug: 'my-shop' }, body: { hostname: 'shop.example.com' } }])
  await waitFor(() => expect(text()).toContain('shop.example.com Added. Create this DNS record to finish. At your DNS provider'))
})

test('on the page of all projects, a project is chosen first', async () => {
  const pages = [
    {
      projects: [
        { slug: 'shop', name: 'Shop' },
        { slug: 'blog', name: 'blog' },
      ],
      next_cursor: null,
    },
  ]
  const { user, sent } = renderPart(<AddDomainDialog slug={null} platformIp="203.0.113.10" onClose={() => {}} />, {
    data: [[queryKeys.projects, { pages, pageParams: [null] }]],
  })
  await user.type(screen.getByLabelText('Domain'), 'a.example.com')
  expect(button('Add domain').disabled).toBe(true)
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual(['Choose a project', 'blog', 'Shop (shop)'])
  await user.selectOptions(screen.getByLabelText('Project'), 'Shop (shop)')
  await user.click(button('Add domain'))
  expect(sent).toMatchObject([{ params: { slug: 'shop' } }])
})

test.each<[Parameters<typeof problemResponse>[0], string, string]>([
  ['hostname_taken', 'A domain or any', 'Domain a.example.com That failed. Cancel'],
  ['payment_method_required', 'Added', 'payment_method_required'],
])('a domain that is not added: %s', async (code, hidden, expected) => {
  const { user, text } = renderAdd({
    addDomain: problemResponse(code, 'That failed.'),
  })
  await user.type(screen.getByLabelText('Domain'), 'a.example.com')
  await user.click(button('Add domain'))
  await waitFor(() => expect(text()).toContain('That failed.'))
  expect(text()).toContain(expected)
  expect(text()).not.toContain(hidden)
  expect(text().includes('Manage your plan and card in your account.')).toBe(code === 'payment_method_required')
})
