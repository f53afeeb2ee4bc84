import { expect, test } from 'vitest'
import { createTempFolder, startInstance } from '../support/instance-process.ts'

test('of several concurrent starts on one folder exactly one succeeds', async () => {
  const folder = createTempFolder('serve')
  const starts = await Promise.allSettled(Array.from({ length: 4 }, () => startInstance({ data: folder.path })))
  for (const one of starts) if (one.status === 'rejected') expect(String(one.reason)).toContain('ended with 2')
  const winners = starts.filter((one) => one.status === 'fulfilled')
  await Promise.all(winners.map(({ value }) => value.stop('SIGKILL')))
  folder.remove()
  expect(winners).toHaveLength(1)
})
