import { expect } from '@playwright/test'
import pg from 'pg'
import type { Database } from '../../../server/contract/databases.ts'
import { until } from '../../support/until.ts'
import { type StoryContext, goTo } from './story-context.ts'

/** A row is found, changed by a statement that is shown before, and read again by a query; a query that takes too long is canceled. */
export async function browseDatabase(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver } = story
  await platform.createProject({ slug: 'harbour', name: 'Harbour' })
  const { body } = await platform.api<{ database: Database }>('POST', '/v1/projects/harbour/database')
  const client = new pg.Client({ connectionString: body.database.connection_string })
  await client.connect()
  await client.query(`CREATE TABLE boats (id bigserial PRIMARY KEY, name text NOT NULL, length_m numeric);
    INSERT INTO boats (name, length_m) VALUES ('Skjold', 24), ('Fram', 39), ('Maud', 36)`)

  await goTo(story, 'projects/harbour')
  await inputDriver.openTab('Storage', { name: 'Tables', words: 'database tables rows' })
  const rows = dashboard.getByRole('table', { name: 'Rows of boats' })
  await expect(rows.getByRole('row')).toHaveCount(4)
  await inputDriver.press(rows.getByRole('button', { name: /^Edit row 2: 2/ }))
  const dialog = dashboard.getByRole('dialog', { name: 'Row of boats' })
  await inputDriver.fill(dialog.getByRole('textbox', { name: 'name', exact: true }), 'Gjøa')
  await inputDriver.press(dialog.getByRole('button', { name: 'Show SQL…' }))
  await expect(dialog.getByLabel('SQL')).toHaveText(/^UPDATE "public"\."boats" SET "name" = 'Gjøa' WHERE "id" = 2 AND "name" = 'Fram'/)
  await inputDriver.press(dialog.getByRole('button', { name: 'Apply change' }))
  await inputDriver.expectClosed(dialog)
  await expect(rows.getByRole('row', { name: /Gjøa/ })).toBeVisible()

  await inputDriver.openTab('Storage', { name: 'SQL', words: 'database sql console' })
  const write = async (sql: string) => {
    await dashboard.locator('.cm-content').focus()
    await dashboard.keyboard.press('ControlOrMeta+a')
    await dashboard.keyboard.insertText(sql)
  }
  await write('SELECT name FROM boats ORDER BY name')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Run', exact: true }))
  const result = dashboard.getByRole('region', { name: 'Result', exact: true })
  await expect(result.getByText(/^3 rows in/)).toBeVisible()
  await expect(result.getByRole('cell')).toHaveText(['Gjøa', 'Maud', 'Skjold'])

  // Statements only read, unless changes are allowed.
  await write('DELETE FROM boats')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Run', exact: true }))
  await expect(result.getByRole('alert')).toContainText('Turn on “Allow changes”')

  await write('SELECT count(*) FROM generate_series(1, 1000000000000)')
  await inputDriver.press(dashboard.getByRole('button', { name: 'Run', exact: true }))
  // A statement that is canceled before it starts gets another answer.
  await until(
    async () => (await client.query(`SELECT 1 FROM pg_stat_activity WHERE query LIKE '%1000000000000)' AND pid <> pg_backend_pid()`)).rows[0],
    {
      what: 'the statement to run',
    },
  )
  await inputDriver.press(dashboard.getByRole('button', { name: 'Cancel', exact: true }))
  await expect(result.getByText('Canceled.')).toBeVisible()
  await expect(dashboard.getByRole('button', { name: 'Run', exact: true })).toBeVisible()
  await client.end()
}
