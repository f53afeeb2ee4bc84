import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { ConfigFailure, readProjectConfig } from '../../../server/builder/index.ts'
import type { ProjectConfig, ServiceConfig } from '../../../server/contract/project-config.ts'

/** A source of these files, in a folder that is removed with the test. Content that starts with `-> ` is a symlink. */
export function useSource() {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'homeport-config-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  return async (files: Record<string, string>): Promise<string> => {
    const source = await mkdtemp(join(folder, 'source-'))
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(source, path)), { recursive: true })
      if (path.endsWith('/')) await mkdir(join(source, path), { recursive: true })
      else if (text.startsWith('-> ')) await symlink(text.slice(3), join(source, path))
      else await writeFile(join(source, path), text)
    }
    return source
  }
}

/** The problems of a source as `line: message`, or an empty list. */
export async function problemsOf(folder: string): Promise<string[]> {
  try {
    await readProjectConfig(folder)
    return []
  } catch (error) {
    if (!(error instanceof ConfigFailure)) throw error
    return error.problems.map(({ line, message, hint }) => `${line ?? '-'}: ${message} ${hint}`)
  }
}

export function serviceOf(config: ProjectConfig, name: string): ServiceConfig {
  const service = config.services.find((one) => one.name === name)
  if (!service) throw new Error(`no service ${name} in ${config.services.map((one) => one.name).join(', ')}`)
  return service
}
