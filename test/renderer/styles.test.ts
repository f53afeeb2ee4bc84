import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../renderer')

/** Every file of styles is on the page in the end, whichever page asked for it: two that name a class alike paint over each other. */
test('a class is described in one file; contrast themes add theirs', () => {
  const files = globSync('**/*.css', { cwd: root }).filter((file) => basename(file) !== 'forced-colors.css')
  expect(files.length).toBeGreaterThan(20)
  const described = new Map<string, Set<string>>()
  for (const file of files)
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(/^ {0,2}\.([a-z][\w-]*) *[,{]/gm))
      described.set(name, (described.get(name) ?? new Set()).add(file))
  expect([...described].filter(([, where]) => where.size > 1).map(([name, where]) => `${name}: ${[...where].join(', ')}`)).toEqual([])
})
