import { expect, test } from 'vitest'
import { readProjectConfig } from '../../../server/builder/index.ts'
import { hostileComposeFiles } from './hostile-compose.ts'
import { problemsOf, useSource } from './read-source.ts'

const createSource = useSource()

test.each(hostileComposeFiles)('rejected: %s', async (_name, text) => {
  const folder = await createSource({ 'compose.yaml': text, Dockerfile: 'FROM scratch\n', outside: '-> /etc' })
  const problems = await problemsOf(folder)
  expect(problems.length).toBeGreaterThan(0)
  // No message contains text of a file outside of the source.
  expect(problems.join('\n')).not.toMatch(/root:/)
})

test('does not read a compose file that is a symlink out of the source', async () => {
  const folder = await createSource({ 'compose.yaml': '-> /etc/passwd' })
  await expect(readProjectConfig(folder)).rejects.toThrow(/is a link that leaves the source/)
})
