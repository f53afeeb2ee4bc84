import { expect, test, vi } from 'vitest'

test('an invalid flag exits with a message and code 2, before Electron is used', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`)
  })
  const { argv } = process
  process.argv = [argv[0]!, '/checkout', '--port', 'none']
  await expect(import('../../main/index.ts')).rejects.toThrow('exit 2')
  process.argv = argv
  expect(said.mock.calls.map(([text]) => text).join('')).toMatch(/^[^\n]*port[^\n]*\n$/)
  vi.restoreAllMocks()
})
