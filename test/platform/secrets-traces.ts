import { expect } from 'vitest'
import { until } from '../support/until.ts'

/** Reads the trace in which the app has sent secrets in every field; `ask` records the responses. */
export async function readSecretSpan(
  ask: (method: string, path: string) => Promise<{ status: number }>,
  readRuntimeLog: () => string | undefined,
): Promise<void> {
  const path = `/instance/projects/teller/traces/${'ab'.repeat(16)}`
  await until(async () => (await ask('GET', path)).status === 200 || undefined, { what: 'the trace' })
  expect(JSON.stringify(await ask('GET', `${path}/spans/${'cd'.repeat(8)}`)).split('••••••').length).toBeGreaterThan(20)
  await ask('GET', '/instance/projects/teller/traces')
  await until(() => readRuntimeLog()?.includes('sent with x-homeport-token ••••••') || undefined, { what: 'the token' })
}
