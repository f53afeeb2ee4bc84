import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { createSeededRandom } from '../support/seeded-random.ts'
import { listFiles } from './imports.ts'

/** One of Stryker's mutations (equality, conditions, arithmetic, booleans, removed blocks ...) at a position of a file. */
export interface Mutant {
  file: string
  mutator: string
  /** Zero-based. */
  start: Position
  end: Position
  original: string
  replacement: string
  /** The whole file without the mutation. */
  source: string
}
interface Position {
  line: number
  column: number
}

/** Mutated strings do not change behavior, and mutated regular expressions may be equivalent. */
const excludedMutators = ['StringLiteral', 'Regex', 'ObjectLiteral', 'ArrayDeclaration', 'ArrowFunction']

/** Mutants of the checkout `copy` in random order: an area, one of its files, one mutation per file. `area`: restricts them to a folder. */
export async function* chooseMutants(copy: string, seed: number, area?: string): AsyncGenerator<Mutant> {
  const { pick } = createSeededRandom(seed)
  const files = listFiles().filter(
    (file) => /^(server|main|renderer|preload)\/.*\.tsx?$/.test(file) && existsSync(join(copy, file)) && file.startsWith(area ?? ''),
  )
  const areas = Map.groupBy(files, (file) =>
    file
      .split('/')
      .slice(0, file.startsWith('renderer/features/') ? 3 : 2)
      .join('/'),
  )
  while (areas.size > 0) {
    const name = pick([...areas.keys()])
    const file = pick(areas.get(name)!)
    const others = areas.get(name)!.filter((one) => one !== file)
    if (others.length > 0) areas.set(name, others)
    else areas.delete(name)
    const mutants = await mutantsOf(copy, file)
    if (mutants.length > 0) yield pick(mutants)
  }
}

async function mutantsOf(copy: string, file: string): Promise<Mutant[]> {
  const source = readFileSync(join(copy, file), 'utf8')
  const { mutants } = await instrument(file, source)
  // The instrumenter reports excluded mutations too, as ignored.
  return mutants
    .filter(({ status }) => status !== 'Ignored')
    .map(({ mutatorName, replacement, location: { start, end } }) => {
      const original = source.slice(offsetOf(source, start), offsetOf(source, end))
      return { file, mutator: mutatorName, start: { ...start }, end: { ...end }, original, replacement, source }
    })
}

/** The file of a mutant, unmutated, with calls of Stryker's `stryCov_9fa48` at the mutant's position. */
export async function instrumentMutant({ file, source, start, end }: Mutant): Promise<string> {
  const { files } = await instrument(file, source, [{ start, end }])
  return files[0]!.content
}

function instrument(file: string, content: string, mutate: true | { start: Position; end: Position }[] = true) {
  const isNot = () => false
  const silent = { debug() {}, info() {}, warn() {}, error() {}, trace() {}, fatal() {} }
  const levels = {
    isDebugEnabled: isNot,
    isTraceEnabled: isNot,
    isInfoEnabled: isNot,
    isWarnEnabled: isNot,
    isErrorEnabled: isNot,
    isFatalEnabled: isNot,
  }
  const options = { plugins: null, excludedMutations: excludedMutators, ignorers: [] }
  return new Instrumenter({ ...silent, ...levels }).instrument([{ name: file, content, mutate }], options)
}

export function sourceWithMutant({ source, start, end, replacement }: Mutant): string {
  return source.slice(0, offsetOf(source, start)) + replacement + source.slice(offsetOf(source, end))
}

function offsetOf(text: string, { line, column }: Position): number {
  const lines = text.split('\n')
  return lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + column
}
