import type { Page } from '@playwright/test'
import type { DatabaseUpgrade } from '../../server/contract/database-upgrades.ts'

/** The seeded platform has only a database of the current version. */
export async function withUpgrade(page: Page, change: Partial<DatabaseUpgrade>): Promise<void> {
  const upgrade: DatabaseUpgrade = { version: 18, upgrade_to: null, previous_version: null, is_upgrading: false, ...change }
  await page.route('**/instance/projects/*/database/upgrade', (route) => route.fulfill({ json: { upgrade } }))
}
