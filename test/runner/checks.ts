import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildChanged } from '../../server/cli/prepare.mjs'
import { type CommandResult, runScript, packageScript } from './command.ts'
import type { Totals } from './totals.ts'

type Check = [name: string, run: () => Promise<CommandResult>]

const scriptCheck = (name: string, ...args: string[]): Check => [name, () => runScript(args)]

/**
 * The static checks, in two lanes of about equal duration, because most checks use one core. The linter computes all types anyway, so it also reports
 * what the compiler would; the compiler itself runs in the full tier.
 */
const checkLanes = (out: string, isFull: boolean): Check[][] => [
  [
    scriptCheck('types, lint', packageScript('oxlint/bin/oxlint'), '--type-aware', '--type-check', '--quiet', '--threads', '2'),
    // Each checker of a project checks the types that the others need once more.
    ...(isFull ? [scriptCheck('compiler', packageScript('typescript/bin/tsc'), '-b', '--checkers', '1')] : []),
  ],
  [
    ['build', build],
    ['openapi', () => lintOpenApi(join(out, 'openapi.json'))],
    scriptCheck(
      'unused code',
      packageScript('knip/bin/knip.js'),
      '--include',
      'files,dependencies,unlisted,unresolved,binaries',
      '--no-progress',
      '--no-config-hints',
    ),
    scriptCheck('format', packageScript('oxfmt/bin/oxfmt'), '--check', '--threads', '2'),
  ],
]

/** Types, lint, build, OpenAPI, unused code and format. The output of a check is printed if it fails. `isFull`: also what takes twice as long. */
export async function runChecks(totals: Totals, out: string, { isFull = false } = {}): Promise<void> {
  await Promise.all(
    checkLanes(out, isFull).map(async (lane) => {
      for (const [name, run] of lane) {
        const { code, output, seconds } = await run()
        console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${seconds.toFixed(1).padStart(6)} s  ${name}`)
        if (code === 0) totals.add({ passed: 1, failed: 0, failures: [], skipped: {} })
        else {
          totals.fail(name)
          console.log(output.trimEnd().replace(/^/gm, '    '))
        }
      }
    }),
  )
}

async function build(): Promise<CommandResult> {
  const started = performance.now()
  const result = await buildChanged().then(
    () => ({ code: 0, output: '' }),
    (error: unknown) => ({ code: 1, output: String(error) }),
  )
  return { ...result, seconds: (performance.now() - started) / 1000 }
}

/** Generates the OpenAPI document and lints it as any client would read it. */
async function lintOpenApi(path: string): Promise<CommandResult> {
  const { openApiDocument } = await import('../../server/api/openapi/document.ts')
  writeFileSync(path, JSON.stringify(openApiDocument(), null, 2))
  const rules = ['--extends', 'recommended', '--skip-rule', 'operation-4xx-response', '--format', 'stylish']
  return runScript([packageScript('@redocly/cli/bin/cli.js'), 'lint', ...rules, path])
}
