import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { AddDomainDialog } from '../../../renderer/features/domains/add-domain-dialog.tsx'
import { DnsRecordCheck } from '../../../renderer/features/domains/dns-record-check.tsx'
import { type Domain, type DomainCheck, domain } from '../../../server/contract/domains.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

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
const session = { instance: { edge_url: 'http://127.0.0.1:4680' } }
const renderCheck = (own: Partial<Domain> = {}, { platformIp = '203.0.113.10', answers = {} } = {}) =>
  renderPart(<DnsRecordCheck domain={createDomain(own)} platformIp={platformIp} onClose={() => {}} />, {
    answers,
    data: [[queryKeys.session, session]],
  })
const renderAdd = (answers = {}) => renderPart(<AddDomainDialog slug="my-shop" platformIp="203.0.113.10" onClose={() => {}} />, { answers })
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })

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

test('a failed check is repeated by itself, but not a successful one', async () => {
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
