import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from '@playwright/test'
import { requires } from '../../support/requirements.ts'
import { type StoryContext, recordRequestUrls, readClipboard, goTo, createReadyProject } from './story-context.ts'

const run = promisify(execFile)

/** Responds only with its DATABASE_URL. */
const databaseUrlApp = {
  'package.json': JSON.stringify({ name: 'told', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const http = require('node:http')
http.createServer((request, response) => response.end(process.env.DATABASE_URL ? new URL(process.env.DATABASE_URL).protocol : 'none')).listen(process.env.PORT)
process.on('SIGTERM', () => process.exit(0))
`,
}

/** A database is created, the app gets it, and the copied psql command connects to it. */
export async function connectWithPsql(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, createRepository } = story
  await createReadyProject(story, { slug: 'told', name: 'Told', repo_url: createRepository(databaseUrlApp).url })
  const addresses = recordRequestUrls(dashboard)
  await goTo(story, 'projects/told')
  await inputDriver.openTab('Storage', { name: 'Database', words: 'database connection' })
  await expect(dashboard).toHaveURL(/\/projects\/told\/database$/)
  await expect(dashboard.getByText('when it is redeployed, right after the database is created')).toBeVisible()
  await inputDriver.press(dashboard.getByRole('button', { name: 'Create database' }))
  await expect(dashboard.getByRole('heading', { name: 'Connection', exact: true })).toBeVisible()
  await expect(dashboard.getByText('The app is running with DATABASE_URL.')).toBeVisible()
  expect((await platform.fetchEdge('told.localhost')).body).toBe('postgresql:')

  // Hidden until revealed, but copied completely.
  await inputDriver.press(dashboard.getByRole('button', { name: 'Copy connection string' }))
  await expect.poll(() => readClipboard(dashboard)).toContain('postgresql://')
  const connection = new URL(await readClipboard(dashboard))
  expect(await dashboard.content()).not.toContain(connection.password)
  await inputDriver.press(dashboard.getByRole('button', { name: 'Copy password' }))
  await expect.poll(() => readClipboard(dashboard)).toBe(connection.password)
  await inputDriver.press(dashboard.getByRole('button', { name: 'Show password' }))
  await expect(dashboard.getByRole('group', { name: 'Connection string' })).toContainText(connection.href)
  await inputDriver.press(dashboard.getByRole('button', { name: 'Hide password' }))
  await expect(dashboard.getByRole('group', { name: 'Connection string' })).not.toContainText(connection.password)
  expect(await dashboard.content()).not.toContain(connection.password)

  // The command as pasted; psql asks for the password, which is not part of it.
  await inputDriver.press(dashboard.getByRole('button', { name: 'Copy psql command' }))
  await expect.poll(() => readClipboard(dashboard)).toContain('psql -h 127.0.0.1')
  const line = await readClipboard(dashboard)
  expect(line).not.toContain(connection.password)
  if (requires('psql').ok) {
    const [program = '', ...given] = line.split(' ')
    const ask = async (sql: string) => {
      const env = { ...process.env, PGPASSWORD: connection.password }
      return (await run(program, [...given, '--no-psqlrc', '--tuples-only', '--no-align', '--command', sql], { env })).stdout.trim()
    }
    await ask(`CREATE TABLE boats (name text); INSERT INTO boats VALUES ('Skjold'), ('Fram')`)
    expect(await ask('SELECT name FROM boats ORDER BY name')).toBe('Fram\nSkjold')
    await expect(run(program, [...given, '--no-password', '--command', 'SELECT 1'])).rejects.toThrow('password')
  }
  expect(addresses.filter((address) => address.includes(connection.password))).toEqual([])
  expect(platform.log.filter((text) => text.includes(connection.password))).toEqual([])
}
