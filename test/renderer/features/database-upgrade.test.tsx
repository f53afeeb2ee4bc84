import { screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { UpgradeDatabase } from '../../../renderer/features/database/upgrade.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type DatabaseUpgrade, databaseUpgrade } from '../../../server/contract/database-upgrades.ts'
import { database } from '../../../server/contract/databases.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createUpgrade = (own: Partial<DatabaseUpgrade>) =>
  createExample(databaseUpgrade, { version: 17, upgrade_to: null, previous_version: null, is_upgrading: false, ...own })
const changed = { database: createExample(database), upgrade: createUpgrade({}), deployment_id: 'dpl_1' }
const available = { upgrade_to: 18 }
const upgraded = { version: 18, previous_version: 17 }
function renderUpgrade(own: Partial<DatabaseUpgrade> | null, answers: PartOptions['answers'] = {}) {
  const onRedeploying = vi.fn()
  const data: PartOptions['data'] = [[queryKeys.databaseUpgrade('shop'), own && createUpgrade(own)]]
  return { ...renderPart(<UpgradeDatabase slug="shop" onRedeploying={onRedeploying} />, { data, answers }), onRedeploying }
}
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ text }) => text)

test.each<[string, Partial<DatabaseUpgrade> | null, string]>([
  ['no database', null, ''],
  ['nothing to do', {}, ''],
  [
    'a newer version',
    available,
    'Upgrade to PostgreSQL 18 How upgrades work This database is on PostgreSQL 17. An upgrade copies it to a new server, and keeps the old data until you delete it. The app cannot connect while the data is copied. Upgrade database…',
  ],
  [
    'the data from before',
    upgraded,
    'Upgraded to PostgreSQL 18 How upgrades work The data on PostgreSQL 17 is kept as it was before the upgrade. Delete it when the app works on the new version. Go back… Delete old data…',
  ],
  [
    'an upgrade that runs',
    { ...available, is_upgrading: true },
    'Upgrade to PostgreSQL 18 How upgrades work Copying the database to the new server [Copying the database to the new server]',
  ],
])('with %s', (_, own, expected) => expect(renderUpgrade(own).text()).toBe(expected))

interface Case {
  state: Partial<DatabaseUpgrade>
  open: string
  question: string
  confirm: string
  progress: string
  operation: 'upgradeDatabase' | 'revertDatabaseUpgrade' | 'finishDatabaseUpgrade'
  message: string
  redeploys: string[]
}
const cases: Record<string, Case> = {
  'an upgrade': {
    state: available,
    open: 'Upgrade database…',
    question:
      'Upgrade to PostgreSQL 18? Copies all data to PostgreSQL 18 and compares it, then redeploys the app. The app cannot connect during the copy. If anything fails, the database is not changed.',
    confirm: 'Upgrade database',
    progress: 'Copying and comparing the data',
    operation: 'upgradeDatabase',
    message: 'Database upgraded.',
    redeploys: ['dpl_1'],
  },
  'going back': {
    state: upgraded,
    open: 'Go back…',
    question:
      'Go back to PostgreSQL 17? The app gets the data from before the upgrade. Changes since then are saved in a dump, which is listed on this page.',
    confirm: 'Go back to PostgreSQL 17',
    progress: 'Saving a dump, then going back',
    operation: 'revertDatabaseUpgrade',
    message: 'The data from before the upgrade is back.',
    redeploys: ['dpl_1'],
  },
  'deleting the old data': {
    state: upgraded,
    open: 'Delete old data…',
    question: 'Delete the data on PostgreSQL 17? The database on PostgreSQL 18 stays. You can no longer go back to the data from before the upgrade.',
    confirm: 'Delete old data',
    progress: 'Deleting the old data',
    operation: 'finishDatabaseUpgrade',
    message: 'Old data deleted.',
    redeploys: [],
  },
}
const table = Object.entries(cases)

test.each(table)('%s is confirmed', async (_, { state, open, question, confirm, operation, message, redeploys }) => {
  const answer = operation === 'finishDatabaseUpgrade' ? new Response(null, { status: 204 }) : Response.json(changed)
  const { user, sent, text, onRedeploying } = renderUpgrade(state, { [operation]: answer })
  await user.click(button(open))
  expect(text()).toBe(`${question} Cancel ${confirm} [Close]`)
  expect(button(confirm).className).toContain(operation === 'upgradeDatabase' ? 'button-primary' : 'button-danger')
  await user.click(button(confirm))
  expect(sent).toEqual([{ operation, params: { slug: 'shop' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(toasts()).toEqual([message])
  expect(onRedeploying.mock.calls.flat()).toEqual(redeploys)
})

test.each(table)('%s cannot be closed while it runs', async (_, { state, open, confirm, progress }) => {
  const { user, text } = renderUpgrade(state)
  await user.click(button(open))
  await user.click(button(confirm))
  expect(text()).toContain(progress)
  await user.click(button('Cancel'))
  expect(text()).toContain(progress)
})

test.each(table)('%s that fails says why, until the dialog closes', async (_, { state, open, confirm, operation }) => {
  const { user, text } = renderUpgrade(state, { [operation]: problemResponse('storage_full', 'The disk is full.') })
  await user.click(button(open))
  await user.click(button(confirm))
  expect(await screen.findByText('The disk is full.')).toBeTruthy()
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(button(open))
  expect(text()).not.toContain('The disk is full.')
})
