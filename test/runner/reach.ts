import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runScript } from './command.ts'
import { type Mutant, instrumentMutant } from './mutations.ts'

/**
 * The test files that execute the position of each mutant, from one run of `commands` (vitest, then Playwright) in `copy` with every position
 * instrumented. All browser tests count as the one entry `test/e2e/`. Code that runs while a module is loaded counts for the first file of a worker
 * that loads it.
 */
export async function findTestsByMutant(copy: string, mutants: readonly Mutant[], commands: string[][]): Promise<Map<Mutant, Set<string>>> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-reach-'))
  const setup = join(copy, 'test/support/setup.ts')
  const saved = [{ path: setup, source: readFileSync(setup, 'utf8') }, ...mutants.map(({ file, source }) => ({ path: join(copy, file), source }))]
  try {
    appendFileSync(setup, "\nimport { noteTestFile } from '../runner/reach-setup.mjs'\nnoteTestFile()\n")
    for (const [index, mutant] of mutants.entries()) {
      const code = await instrumentMutant(mutant)
      writeFileSync(join(copy, mutant.file), code.replaceAll(/\bstryCov_9fa48\([^()]*\)(?! \{)/g, `globalThis.reachedFault?.(${index})`))
    }
    const recorder = pathToFileURL(join(copy, 'test/runner/reach-recorder.mjs')).href
    const notes = join(folder, 'reached')
    for (const command of commands) {
      await runScript(command, { cwd: copy, is_shown: true, env: { NODE_OPTIONS: `--import=${recorder}`, FAULT_REACH: folder } })
      if (!existsSync(notes)) throw new Error('No test executed the position of a fault: the run above failed as a whole.')
    }
    const reached = new Map(mutants.map((mutant) => [mutant, new Set<string>()]))
    for (const line of readFileSync(notes, 'utf8').split('\n').filter(Boolean)) {
      const [index, file] = line.split(' ') as [string, string]
      reached.get(mutants[Number(index)]!)!.add(file)
    }
    return reached
  } finally {
    for (const { path, source } of saved) writeFileSync(path, source)
    rmSync(folder, { recursive: true, force: true })
  }
}
