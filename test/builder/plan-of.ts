import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { planBuild } from '../../server/builder/index.ts'
import type { BuildSettings } from '../../server/contract/build-plan.ts'

const auto: BuildSettings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' }

/** A package.json that depends on these packages. */
export const needs = (dependencies: Record<string, string>, more: object = {}) => JSON.stringify({ name: 'x', dependencies, ...more })

export const isStatic = (output_directory: string, spa_fallback: boolean) => ({ kind: 'static', output_directory, spa_fallback })
export const isServer = (...start_command: string[]) => ({ kind: 'server', start_command })

/** Plans a source of these files, in a folder that is removed with the test. */
export function usePlanOf() {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'homeport-detect-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  return async (files: Record<string, string>, settings: Partial<BuildSettings> = {}, more: { builds_dockerfiles?: boolean } = {}) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    return planBuild({ folder, settings: { ...auto, ...settings }, ...more })
  }
}
