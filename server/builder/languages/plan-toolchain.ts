import { createHash } from 'node:crypto'
import type { BuildPlan, PlanFact } from '../../contract/build-plan.ts'
import { explain } from '../plan-facts.ts'
import { joinInside, type SourceFolder } from '../source-folder.ts'
import { type LanguageBuild, replaceShell } from './language.ts'

/** The plan that builds an app of another language with the toolchains of the machine. */
export async function planToolchain(
  source: SourceFolder,
  directory: string,
  language: LanguageBuild,
  entries: (PlanFact | string)[],
): Promise<BuildPlan> {
  const { steps } = language
  const inputs = steps.inputs?.map((path) => joinInside(directory, path)) ?? ['.']
  const hash = createHash('sha256').update(JSON.stringify([steps.tools, steps.install, steps.variables ?? {}]))
  for (const path of inputs) hash.update(`\0${path}\0${(await source.read(path)) ?? ''}`)
  return {
    framework: language.framework,
    ...explain([...entries, 'Built with the toolchains of this machine']),
    work: {
      kind: 'toolchain',
      app_directory: directory,
      tools: steps.tools,
      install_command: steps.install,
      build_command: steps.build,
      start_command: replaceShell(steps.start),
      start_directory: steps.start_directory ?? '.',
      program_directories: steps.program_directories ?? [],
      variables: steps.variables ?? {},
      install_inputs: inputs,
      install_key: hash.digest('hex'),
      dependency_directories: steps.dependency_directories ?? [],
      discarded: steps.discarded ?? [],
    },
  }
}
