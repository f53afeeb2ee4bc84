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
import { type Domain, domain } from '../../../server/contract/domains.ts'
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
const renderDialog = (createElement: (onClose: () => void) => ReactElement, answers = {}) => {
  const onClose = vi.fn<() => void>()
  return { onClose, ...renderPart(createElement(onClose), { answers }) }
}
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const toasts = () => useUi.getState().toasts.map(({ text }) => text)

afterEach(() => useUi.setState({ toasts: [] }))

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
