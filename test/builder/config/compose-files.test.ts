import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readProjectConfig } from '../../../server/builder/index.ts'
import type { ProjectConfig } from '../../../server/contract/project-config.ts'
import { composeCases, rejectedComposeCases } from './compose-cases.ts'
import { problemsOf, useSource } from './read-source.ts'

const createSource = useSource()

async function createCase(name: string, files: readonly string[] = []): Promise<string> {
  const text = await readFile(join(import.meta.dirname, 'compose', `${name}.yaml`), 'utf8')
  return createSource({ ...Object.fromEntries(files.map((file) => [file, 'FROM scratch\n'])), 'compose.yaml': text })
}

function summarize({ main, services }: ProjectConfig): string {
  const parts = services.map(({ name, kind, is_public, port }) => `${name}:${kind}${is_public ? '*' : ''}${port === null ? '' : `:${port}`}`)
  return [`${main} >`, ...parts].join(' ')
}

test.each(composeCases)('accepted: $name', async ({ name, files, expected }) => {
  const config = await readProjectConfig(await createCase(name, files))
  expect(config.file).toBe('compose.yaml')
  expect(summarize(config)).toBe(expected)
  // Every sentence about something that has no effect names its line.
  for (const sentence of config.explanation)
    expect(sentence).toMatch(/^(Services are read from|[\w-]+ \((web|worker|image|cron)\): |compose\.yaml( line \d+)?: )/)
})

test.each(rejectedComposeCases)('rejected: $name', async ({ name, problems }) => {
  const found = await problemsOf(await createCase(name))
  expect(found.map((problem) => problem.slice(0, 52))).toEqual(problems)
})
