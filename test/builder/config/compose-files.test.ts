import { expect, test } from 'vitest'
import { readProjectConfig } from '../../../server/builder/index.ts'
import type { ProjectConfig } from '../../../server/contract/project-config.ts'
import { composeCases, rejectedComposeCases } from './compose-cases.ts'
import { createComposeCase } from './read-compose-case.ts'
import { problemsOf, useSource } from './read-source.ts'

const createSource = useSource()

function summarize({ main, services }: ProjectConfig): string {
  const parts = services.map(({ name, kind, is_public, port }) => `${name}:${kind}${is_public ? '*' : ''}${port === null ? '' : `:${port}`}`)
  return [`${main} >`, ...parts].join(' ')
}

test.each(composeCases)('accepted: $name', async ({ name, files, expected }) => {
  const config = await readProjectConfig(await createComposeCase(createSource, name, files))
  expect(config.file).toBe('compose.yaml')
  expect(summarize(config)).toBe(expected)
  // Every sentence about something without effect names its line.
  for (const sentence of config.explanation)
    expect(sentence).toMatch(/^(Services are read from|[\w-]+ \((web|worker|image|cron)\): |compose\.yaml( line \d+)?: )/)
})

test.each(rejectedComposeCases)('rejected: $name', async ({ name, problems }) => {
  const found = await problemsOf(await createComposeCase(createSource, name))
  expect(found.map((problem) => problem.slice(0, 52))).toEqual(problems)
})
