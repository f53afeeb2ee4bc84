import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from '@playwright/test'
import { requires } from '../../support/requirements.ts'
import { type Teller, addressesOf, copied, goTo, serving } from './teller.ts'

const run = promisify(execFile)

/** Says where its database is, and nothing else. */
const told = {
  'package.json': JSON.stringify({ name: 'told', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const http = require('node:http')
http.createServer((request, response) => response.end(process.env.DATABASE_URL ? new URL(process.env.DATABASE_URL).protocol : 'none')).listen(process.env.PORT)
process.on('SIGTERM', () => process.exit(0))
`,
}

/** A database is made, the app has it, and the line that was copied leads psql into it. */
export async function databaseToPsql(teller: Teller): Promise<void> {
  const { desk, home, hand, repository } = teller
  await serving(teller, { slug: 'told', name: 'Told', repo_url: repository(told).url })
  const addresses = addressesOf(desk)
  await goTo(teller, 'projects/told')
  await hand.openTab('Database', 'database connection')
  await expect(desk).toHaveURL(/\/projects\/told\/database$/)
  await expect(desk.getByText('it is deployed again, so that it has it')).toBeVisible()
  await hand.press(desk.getByRole('button', { name: 'Make a database' }))
  await expect(desk.getByRole('heading', { name: 'Connection', exact: true })).toBeVisible()
  await expect(desk.getByText('The app runs and has DATABASE_URL.')).toBeVisible()
  expect((await home.edge('told.localhost')).body).toBe('postgresql:')

  // Hidden until it is asked for, but copied whole.
  await hand.press(desk.getByRole('button', { name: 'Copy the connection string' }))
  await expect.poll(() => copied(desk)).toContain('postgresql://')
  const connection = new URL(await copied(desk))
  expect(await desk.content()).not.toContain(connection.password)
  await hand.press(desk.getByRole('button', { name: 'Copy the password' }))
  await expect.poll(() => copied(desk)).toBe(connection.password)
  await hand.press(desk.getByRole('button', { name: 'Show the password' }))
  await expect(desk.getByRole('group', { name: 'Connection string' })).toContainText(connection.href)
  await hand.press(desk.getByRole('button', { name: 'Hide the password' }))
  await expect(desk.getByRole('group', { name: 'Connection string' })).not.toContainText(connection.password)
  expect(await desk.content()).not.toContain(connection.password)

  // The line, as one pastes it; psql asks for the password, which stands in no command.
  await hand.press(desk.getByRole('button', { name: 'Copy the psql line' }))
  await expect.poll(() => copied(desk)).toContain('psql -h 127.0.0.1')
  const line = await copied(desk)
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
  expect(home.log.filter((text) => text.includes(connection.password))).toEqual([])
}
