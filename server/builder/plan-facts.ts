import { isDeepStrictEqual } from 'node:util'
import type { BuildPlan, PlanFact, ToolRequirement } from '../contract/build-plan.ts'
import { type DetectionContext, getStartCommand } from './detector.ts'
import type { LanguageBuild } from './languages/language.ts'
import { joinInside } from './source-folder.ts'

/** Facts, and sentences without a fact, in the order of the build log. */
export function explain(entries: readonly (PlanFact | string)[]): Pick<BuildPlan, 'facts' | 'explanation'> {
  return {
    facts: entries.filter((entry) => typeof entry !== 'string'),
    explanation: entries.flatMap((entry) => (typeof entry === 'string' ? [entry] : entry.sentence === null ? [] : [entry.sentence])),
  }
}

/** The first sentence of a detection names what was found in parentheses; the rest are notes. */
export function frameworkEntries(framework: string, [sentence = '', ...notes]: readonly string[]): (PlanFact | string)[] {
  const evidence = /\(([^()]+(?:\([^()]*\)[^()]*)*)\)/.exec(sentence)?.[1]
  return [{ name: 'framework', value: framework, origin: evidence ?? 'the files of the source', sentence }, ...notes]
}

/** The origin of a Node app's start command. */
export function findStartOrigin(app: DetectionContext, command: readonly string[], framework: string): string {
  const manifest = joinInside(app.directory, 'package.json')
  const script = ['start:prod', 'start:production', 'start', 'serve:prod'].find((name) => isDeepStrictEqual(getStartCommand(app, name), command))
  if (script !== undefined) return `${manifest} scripts.${script}`
  const [program, file] = command
  if (program === 'node' && file !== undefined && command.length === 2 && framework === 'node')
    return file === app.manifest.main ? `${manifest} main` : joinInside(app.directory, file)
  return `default of ${framework}`
}

/** The facts of a Dockerfile, with their lines. */
export function readDockerfileFacts(text: string, file: string): PlanFact[] {
  const lines = text.split(/\r?\n/)
  const findLast = (instruction: RegExp) => {
    const index = lines.findLastIndex((line) => instruction.test(line))
    const value = lines[index]?.replace(instruction, '').trim()
    return index === -1 || value === undefined ? undefined : { value, origin: `${file} line ${index + 1}` }
  }
  const image = findLast(/^\s*FROM\s+/i)
  const start = findLast(/^\s*(?:CMD|ENTRYPOINT)\s+/i)
  const port = findLast(/^\s*EXPOSE\s+/i)
  return [
    ...(image ? [{ name: 'base_image' as const, ...image, sentence: null }] : []),
    ...(start ? [{ name: 'start_command' as const, ...start, sentence: null }] : []),
    ...(port ? [{ name: 'port' as const, ...port, sentence: null }] : []),
  ]
}

/** An app that is built by the commands of its language. */
export function languageEntries(
  { framework, explanation, steps }: LanguageBuild,
  origins: SettingOrigins,
  settings: { install: boolean; build: boolean },
) {
  const commands: PlanFact[] = [
    { name: 'install_command', value: steps.install, origin: settings.install ? origins.install_command : `default of ${framework}`, sentence: null },
    { name: 'build_command', value: steps.build, origin: settings.build ? origins.build_command : `default of ${framework}`, sentence: null },
    {
      name: 'start_command',
      value: steps.start,
      origin: explanation.some((line) => /Procfile/.test(line)) ? 'Procfile' : `default of ${framework}`,
      sentence: null,
    },
  ]
  return [...frameworkEntries(framework, explanation), ...steps.tools.map(toToolFact), ...commands]
}

const toToolFact = ({ tool, range, from }: ToolRequirement): PlanFact => ({
  name: 'tool',
  value: range === '*' ? tool : `${tool} ${range}`,
  origin: from ?? 'default',
  sentence: null,
})

/** The name of a setting's origin: the project, or the file that sets it. */
export type SettingOrigins = Record<'node_version' | 'install_command' | 'build_command', string>
export const projectOrigins: SettingOrigins = {
  node_version: 'project setting',
  install_command: 'project setting',
  build_command: 'project setting',
}
