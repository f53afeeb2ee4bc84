import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Page } from '@playwright/test'
import pg from 'pg'
import type { Database, DatabaseDump } from '../../server/contract/databases.ts'
import { expect, expectAccessible, test } from './fixtures.ts'

/** Responds only with its DATABASE_URL. */
const databaseUrlApp = {
  'package.json': JSON.stringify({ name: 'told', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const http = require('node:http')
http.createServer((request, response) => response.end(process.env.DATABASE_URL ? new URL(process.env.DATABASE_URL).protocol : 'none')).listen(process.env.PORT)
process.on('SIGTERM', () => process.exit(0))
`,
}

async function query<Row extends pg.QueryResultRow>(connectionString: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

const dumpRows = (dashboard: Page) => dashboard.getByRole('list', { name: 'Dumps' }).getByRole('listitem')

test('a database is dumped, restored, replaced by a file and dropped', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'told', name: 'Told', repo_url: createRepository(databaseUrlApp).url })
  const { body: made } = await platform.api<{ database: Database }>('POST', '/v1/projects/told/database')
  const { connection_string: connection, password } = made.database
  expect((await platform.waitForEnd('told', (await platform.deploy('told')).id)).status).toBe('ready')
  const addresses: string[] = []
  dashboard.on('request', (request) => addresses.push(request.url()))
  await dashboard.goto(`${platform.handle.dashboard_url}projects/told/database`)
  await expect(dashboard.getByRole('heading', { name: 'Connection', exact: true })).toBeVisible()
  expect(await dashboard.content()).not.toContain(password)

  await query(connection, `CREATE TABLE boats (name text); INSERT INTO boats VALUES ('Skjold'), ('Fram')`)

  // A dump, downloaded as a file.
  await dashboard.getByRole('button', { name: 'Create dump…' }).click()
  const creating = dashboard.getByRole('dialog', { name: 'Create dump' })
  await creating.getByLabel('Name (optional)').fill('Two boats')
  await creating.getByRole('button', { name: 'Create dump' }).click()
  await expect(creating).toBeHidden()
  await expect(dumpRows(dashboard)).toHaveCount(1)
  await expect(dumpRows(dashboard)).toContainText(/Two boats.*now.*B/)
  await dumpRows(dashboard)
    .getByRole('button', { name: /^Actions for the dump/ })
    .click()
  await dashboard.getByRole('menuitem', { name: 'Rename…' }).click()
  const renaming = dashboard.getByRole('dialog', { name: 'Rename dump' })
  await renaming.getByLabel('Name (optional)').fill('Both boats')
  await renaming.getByRole('button', { name: 'Rename dump' }).click()
  await expect(dumpRows(dashboard)).toContainText('Both boats')
  const [download] = await Promise.all([dashboard.waitForEvent('download'), dumpRows(dashboard).getByRole('button', { name: 'Download' }).click()])
  expect(download.suggestedFilename()).toMatch(/\.sql\.gz$/)
  expect(gunzipSync(await readFile(await download.path())).toString()).toContain('Skjold')

  // Restored, after the data was lost.
  await query(connection, 'DELETE FROM boats')
  await dumpRows(dashboard)
    .getByRole('button', { name: /^Actions for the dump/ })
    .click()
  await dashboard.getByRole('menuitem', { name: 'Restore this dump…' }).click()
  const restoring = dashboard.getByRole('dialog', { name: 'Restore this dump?' })
  await restoring.getByLabel('Type told to confirm').fill('tol')
  await expect(restoring.getByRole('button', { name: 'Restore database' })).toBeDisabled()
  await restoring.getByLabel('Type told to confirm').fill('told')
  await restoring.getByRole('button', { name: 'Restore database' }).click()
  await expect(restoring).toBeHidden()
  expect(await query(connection, 'SELECT name FROM boats ORDER BY name')).toEqual([{ name: 'Fram' }, { name: 'Skjold' }])
  await expect(dumpRows(dashboard)).toHaveCount(2)
  await expect(dumpRows(dashboard).first()).toContainText('Before restore')

  // A file: checked before it is sent, restored all or nothing.
  await dashboard.getByRole('button', { name: 'Import SQL…' }).click()
  const importing = dashboard.getByRole('dialog', { name: 'Import SQL file' })
  const choose = (name: string, content: string) =>
    importing.getByLabel('SQL file').setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) })
  await choose('old.dump', 'PGDMP\u0001\u000e')
  await expect(importing.getByRole('alert')).toContainText('pg_restore -O -x -f dump.sql')
  await expectAccessible(dashboard, 'a file that cannot be imported')
  await choose('wrong.sql', 'CREATE TABLE ships (name text); SELECT nothing FROM nowhere;')
  await importing.getByLabel('Type told to confirm').fill('told')
  await importing.getByRole('button', { name: 'Replace database' }).click()
  await expect(importing.getByText('restore_failed')).toBeVisible()
  expect(await query(connection, 'SELECT name FROM boats ORDER BY name')).toEqual([{ name: 'Fram' }, { name: 'Skjold' }])
  // While the next file is slow to open, the previous one is not sent in its place.
  const reading = await dashboard.evaluateHandle(() => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const read = Blob.prototype.arrayBuffer
    Blob.prototype.arrayBuffer = async function () {
      await promise
      return read.call(this)
    }
    return { goOn: resolve }
  })
  await choose('ships.sql', "CREATE TABLE ships (name text);\nINSERT INTO ships VALUES ('Gjøa');\n")
  await expect(importing.getByRole('button', { name: 'Replace database' })).toBeDisabled()
  await reading.evaluate(({ goOn }) => goOn())
  await importing.getByRole('button', { name: 'Replace database' }).click()
  await expect(importing).toBeHidden()
  expect(await query(connection, 'SELECT name FROM ships')).toEqual([{ name: 'Gjøa' }])
  await expect(query(connection, 'SELECT name FROM boats')).rejects.toThrow('does not exist')

  // Dropped: connections are refused, the last dump stays and is where the page says.
  await dashboard.getByRole('button', { name: 'Drop database…' }).click()
  const dropping = dashboard.getByRole('dialog', { name: 'Drop the database of Told?' })
  await dropping.getByLabel('Type told to confirm').fill('told')
  await dropping.getByRole('button', { name: 'Drop database' }).click()
  await expect(dashboard.getByRole('heading', { name: 'Database dropped', exact: true })).toBeVisible()
  await expect(query(connection, 'SELECT 1')).rejects.toThrow()
  await expect(dumpRows(dashboard).first()).toContainText('Before drop')
  const last = (await platform.api<{ dumps: DatabaseDump[] }>('GET', '/instance/projects/told/database/dumps')).body.dumps[0]
  expect(gunzipSync(await readFile(join(platform.data_dir, 'dumps', last?.file ?? ''))).toString()).toContain('Gjøa')
  await expect(dashboard.getByText(last?.file ?? 'a file')).toBeVisible()
  await expect(dashboard.getByText('The app is running without DATABASE_URL.')).toBeVisible()
  expect((await platform.fetchEdge('told.localhost')).body).toBe('none')
  await expectAccessible(dashboard, 'a dropped database')

  // It also outlives its project, in the list of backups.
  await platform.api('DELETE', '/v1/projects/told')
  await dashboard.goto(`${platform.handle.dashboard_url}instance/backups?at=every-dump`)
  const every = dashboard.getByRole('list', { name: 'Database dumps' }).getByRole('listitem')
  await expect(every.first()).toContainText('told')
  const count = await every.count()
  await every.first().getByRole('button', { name: 'Delete dump of told…' }).click()
  await dashboard.getByRole('dialog', { name: 'Delete this dump?' }).getByRole('button', { name: 'Delete dump' }).click()
  await expect(every).toHaveCount(count - 1)

  expect(addresses.filter((address) => address.includes(password))).toEqual([])
  expect(platform.log.filter((line) => line.includes(password))).toEqual([])
})

test('explains why a database is not available', async ({ dashboard, platform }) => {
  await platform.createProject({ slug: 'poor', name: 'Poor' })
  await platform.api('PATCH', '/instance/settings', { plan: 'starter', payment_method: false })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/poor/database`)
  await dashboard.getByRole('button', { name: 'Create database' }).click()
  await expect(dashboard.getByText('payment_method_required')).toBeVisible()
  await expectAccessible(dashboard, 'a database that needs a card')
  await dashboard.getByRole('link', { name: 'instance settings' }).click()
  await expect(dashboard).toHaveURL(/\/app\/instance\/settings$/)
  await platform.api('PATCH', '/instance/settings', { plan: 'enterprise', payment_method: true })
})

test('a large file shows its progress, and can be canceled', async ({ dashboard, platform }, info) => {
  await platform.createProject({ slug: 'long', name: 'Long' })
  await platform.api('POST', '/v1/projects/long/database')
  await dashboard.goto(`${platform.handle.dashboard_url}projects/long/database?do=import`)
  const dialog = dashboard.getByRole('dialog', { name: 'Import SQL file' })
  // A slow connection, so that the progress is visible.
  const line = await dashboard.context().newCDPSession(dashboard)
  await line.send('Network.enable')
  await line.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 2e5 })
  const file = info.outputPath('long.sql')
  writeFileSync(file, '-- nothing\n'.repeat(1_000_000))
  await dialog.getByLabel('SQL file').setInputFiles(file)
  await dialog.getByLabel('Type long to confirm').fill('long')
  await dialog.getByRole('button', { name: 'Replace database' }).click()
  const bar = dialog.getByRole('progressbar', { name: 'Uploading long.sql' })
  await expect.poll(async () => Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(0)
  await expect(dialog).toContainText(/left/)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(bar).toBeHidden()
  await expect(dialog.getByRole('alert')).toHaveCount(0)
  await expect(dialog.getByRole('button', { name: 'Replace database' })).toBeEnabled()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(dialog).toBeHidden()
  await expect(dashboard.getByRole('heading', { name: 'Connection', exact: true })).toBeVisible()
})
