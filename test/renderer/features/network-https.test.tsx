import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { HostsFile } from '../../../renderer/features/network/hosts-file.tsx'
import { Https } from '../../../renderer/features/network/https.tsx'
import { PublicNamesCard } from '../../../renderer/features/network/public-names.tsx'
import { settings } from '../../../server/contract/instance.ts'
import {
  type HostsFileStatus,
  hostsFileStatus,
  type HttpsStatus,
  httpsStatus,
  networkOperations,
  publicCertificate,
  type PublicNames,
} from '../../../server/contract/network.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

type Settings = Parameters<typeof createSettings>[0]
const createSettings = (own: { https_redirect?: boolean; hosts_file?: boolean }) =>
  createExample(settings, { https_redirect: false, hosts_file: false, ...own })
const store = (status: HttpsStatus['trust'][number]['status'], command: string | null = null) => ({ store: `Store ${status}`, status, command })
const createHttps = (own: Partial<HttpsStatus> = {}) =>
  createExample(httpsStatus, { edge_https_url: 'https://localhost:4443', trust: [store('not_trusted')], ...own })
const withoutTimes = (text: string | undefined | null) => text?.replace(/, \d\d:\d\d:\d\d/g, '')

const showHttps = (own: Partial<HttpsStatus> = {}, saved: Settings | null = {}, answers: PartOptions['answers'] = {}) =>
  renderPart(<Https />, {
    data: [
      [queryKeys.https, createHttps(own)],
      [queryKeys.settings, saved === null ? undefined : createSettings(saved)],
    ],
    answers,
  })

test.each<[string, Partial<HttpsStatus>, string]>([
  [
    'without an authority',
    { authority: null, trust: [] },
    'HTTPS Trust on this machine Every app is also served over HTTPS, with a certificate signed by this instance’s certificate authority. Browsers accept it once this machine trusts the authority. Its private key never leaves this machine. HTTPS addresshttps://localhost:4443 AuthorityNone yet; it is created when first needed Redirect HTTP to HTTPS Trust the authority first, otherwise browsers warn on every page.',
  ],
  [
    'that is trusted',
    { trust: [store('trusted', 'sudo trust'), store('not_trusted', 'sudo trust'), store('unavailable')] },
    'HTTPS Remove… Trust again Every app is also served over HTTPS, with a certificate signed by this instance’s certificate authority. Browsers accept it once this machine trusts the authority. Its private key never leaves this machine. HTTPS addresshttps://localhost:4443 Authority subject fingerprint_sha256 created Jan 31, 2026, valid until Jan 31, 2026 Trusted Store trusted Not trusted Store not_trustedsudo trust [Copy command for Store not_trusted] Not available Store unavailable Redirect HTTP to HTTPS For every app of this instance.',
  ],
  [
    'without a port',
    { edge_https_url: null },
    'HTTPS Remove… Trust on this machine Every app is also served over HTTPS, with a certificate signed by this instance’s certificate authority. Browsers accept it once this machine trusts the authority. Its private key never leaves this machine. HTTPS addressNone: the HTTPS port is in use Authority subject fingerprint_sha256 created Jan 31, 2026, valid until Jan 31, 2026 Not trusted Store not_trusted Redirect HTTP to HTTPS Trust the authority first, otherwise browsers warn on every page.',
  ],
])('HTTPS %s', (_, own, expected) => expect(withoutTimes(showHttps(own).text())).toBe(expected))

test.each<[string, Partial<HttpsStatus>, Settings | null, boolean, boolean]>([
  ['off', {}, {}, false, false],
  ['on', {}, { https_redirect: true }, true, false],
  ['disabled without a port', { edge_https_url: null }, {}, false, true],
  ['disabled while the settings load', {}, null, false, true],
])('the redirect to HTTPS is %s', (_, own, saved, isOn, isDisabled) => {
  showHttps(own, saved)
  const redirect = screen.getByRole<HTMLButtonElement>('switch')
  expect([redirect.getAttribute('aria-checked'), redirect.disabled]).toEqual([String(isOn), isDisabled])
})

test('the redirect to HTTPS is turned on at once', async () => {
  const { user, sent } = showHttps()
  await user.click(screen.getByRole('switch'))
  expect(sent).toEqual([{ operation: 'updateSettings', params: {}, body: { https_redirect: true } }])
  expect(screen.getByRole('switch').getAttribute('aria-checked')).toBe('true')
})

test('the authority is trusted, and the page says what happened', async () => {
  const https = createHttps({ trust: [store('trusted')] })
  const { user, sent } = showHttps({}, {}, { trustAuthority: { https, messages: ['Added to the keychain.', 'Restart Firefox.'] } })
  expect(screen.queryByRole('status')).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Trust on this machine' }))
  expect(sent).toEqual([{ operation: 'trustAuthority', params: {} }])
  expect((await screen.findByRole('status')).textContent).toBe('Just nowAdded to the keychain.Restart Firefox.')
  expect(screen.getByRole('button', { name: 'Trust again' })).toBeTruthy()
})

test('the authority is removed after a question', async () => {
  const https = createHttps({ authority: null })
  const { user, sent } = showHttps({}, {}, { removeAuthority: { https, messages: ['Removed.'] } })
  await user.click(screen.getByRole('button', { name: 'Remove…' }))
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Remove…' }))
  await user.click(screen.getByRole('button', { name: 'Remove authority' }))
  expect(sent).toEqual([{ operation: 'removeAuthority', params: {} }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(screen.getByRole('status').textContent).toBe('Just nowRemoved.')
  expect(screen.queryByRole('button', { name: 'Remove…' })).toBeNull()
})

test('HTTPS that is not known cannot be trusted', async () => {
  renderPart(<Https />, { answers: { getHttps: problemResponse('forbidden', 'Only the owner may see this.') } })
  expect(screen.getByRole('status').textContent).toBe('Loading')
  expect((await screen.findByRole('alert')).textContent).toContain('Only the owner may see this.')
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Trust on this machine' }).disabled).toBe(true)
})

const showHosts = (own: Partial<HostsFileStatus> = {}, saved: Settings | null = { hosts_file: true }, answers: PartOptions['answers'] = {}) =>
  renderPart(<HostsFile />, {
    data: [
      [
        queryKeys.hostsFile,
        createExample(hostsFileStatus, { path: '/etc/hosts', in_sync: false, writable: false, command: 'sudo tee', block: '# homeport', ...own }),
      ],
      [queryKeys.settings, saved === null ? undefined : createSettings(saved)],
    ],
    answers,
  })

test.each<[string, Partial<HostsFileStatus>, Settings | null, string, boolean]>([
  ['is off', {}, {}, 'Off', false],
  ['is not known while the settings load', { in_sync: true }, null, 'Off', false],
  ['is in sync', { in_sync: true }, { hosts_file: true }, 'In sync', false],
  ['cannot be written', {}, { hosts_file: true }, 'Out of sync', true],
  ['is being written', { writable: true }, { hosts_file: true }, 'Out of sync', false],
  ['has no command', { command: null }, { hosts_file: true }, 'Out of sync', false],
])('a hosts file that %s', (_, own, saved, label, hasCommand) => {
  const { text } = showHosts(own, saved)
  expect(screen.getByRole('heading').nextElementSibling?.textContent).toBe(label)
  expect(text().includes('Homeport is not allowed to write /etc/hosts. Run this once in a terminal: sudo tee [Copy command]')).toBe(hasCommand)
  expect(screen.getByRole<HTMLButtonElement>('switch').disabled).toBe(saved === null)
})

test('the hosts file is kept in sync at once', async () => {
  const { user, sent } = showHosts({}, {})
  await user.click(screen.getByRole('switch'))
  expect(sent).toEqual([{ operation: 'updateSettings', params: {}, body: { hosts_file: true } }])
  expect(screen.getByText('Out of sync')).toBeTruthy()
})

test('a hosts file that cannot be read is explained', async () => {
  renderPart(<HostsFile />, { answers: { getHostsFile: problemResponse('forbidden', 'Only the owner may see this.') } })
  expect(screen.getByRole('status').textContent).toBe('Loading')
  expect((await screen.findByRole('alert')).textContent).toContain('Only the owner may see this.')
  expect(screen.queryByRole('switch')).toBeNull()
})

const noNames: PublicNames = {
  ...createExample(networkOperations.getPublicNames.success.json).public_names,
  apps_domain: null,
  apps_url: null,
  authority: null,
  certificates: [],
}
const named = { apps_domain: 'example.com', apps_url: 'https://example.com' } as const
const certificate = createExample(publicCertificate, { name: '*.example.com', status: 'issued', last_error: null, next_attempt_at: null })
test.each<[string, Partial<PublicNames>, string]>([
  ['none', {}, ''],
  [
    'a domain without an authority',
    named,
    'Public names Apps domainhttps://NAME.example.com AuthorityNone, so browsers warn. Start Homeport with --acme-email',
  ],
  [
    'an authority without a domain',
    { authority: 'https://acme.example.com/directory', challenge: 'http-01' },
    'Public names Authority acme.example.comOne certificate for each name, by HTTP',
  ],
  [
    'certificates',
    {
      ...named,
      authority: 'my authority',
      challenge: 'dns-01',
      certificates: [
        certificate,
        { ...certificate, name: 'a.example.com', status: 'pending', expires_at: null },
        { ...certificate, name: 'b.example.com', status: 'failed', last_error: 'No DNS record.', next_attempt_at: '2026-02-01T12:00:00.000Z' },
      ],
    },
    'Public names Apps domainhttps://NAME.example.com Authority my authorityOne wildcard certificate, by DNS Issued *.example.comvalid until Jan 31, 2026 Ordering a.example.com Failed b.example.comvalid until Jan 31, 2026, next attempt Feb 1, 2026 No DNS record.',
  ],
])('public names: %s', (_, own, expected) => {
  expect(withoutTimes(renderPart(<PublicNamesCard names={{ ...noNames, ...own }} />).text())).toBe(expected)
})
