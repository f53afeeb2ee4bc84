import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { explainFailure, type FailedStep } from '../../server/builder/index.ts'
import { failurePatterns } from '../../server/builder/failure-patterns.ts'

/**
 * Output as tools print it, each below `## STEP · NAME · parts of the message · of the hint · and of the line that are told`, with the
 * code where it is not the step's own; or below `## good · NAME`, where nothing has failed. `\e` is the escape character.
 */
const samples = readFileSync(new URL('failures.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split(/\n\n(?=## )/)
  .map((sample) => {
    const [head = '', ...output] = sample.replaceAll('\\e', '\u001b').split('\n')
    const [step = '', name = '', message = '', hint = '', line = '', code = `${step}_failed`] = head.slice('## '.length).split(' · ')
    return { step, name, message, hint, line, code, output }
  })

describe('what tools print is explained', () => {
  test.for(samples.filter(({ step }) => step !== 'good'))('$step: $name', ({ step, output, code, message, hint, line }) => {
    const told = explainFailure(output, step as FailedStep, 1)
    expect(told.message.toLowerCase()).toContain(message.toLowerCase())
    expect(told.hint).toContain(hint)
    expect(told.line).toContain(line)
    expect(told.code).toBe(code)
    expect(`${told.message} ${told.hint}`, 'no group of a pattern is left open').not.toMatch(/\$\d|undefined|: \.|\(\)/)
  })
})

describe('a good build has no failure in it', () => {
  test.for(samples.filter(({ step }) => step === 'good'))('$name', ({ output }) => {
    const fitting = output.flatMap((line) => failurePatterns.filter(({ pattern }) => pattern.test(line)).map(({ name }) => `${name}: ${line}`))
    expect(fitting).toEqual([])
  })
})

describe('what no pattern knows', () => {
  test('the last line that sounds like a reason is told, not the frames after it', () => {
    const told = explainFailure(['building', 'Error: the flux is off', '    at run (/app/a.js:1:1)', '', 'Node.js v24.21.0'], 'build', 3)
    expect(told).toMatchObject({
      code: 'build_failed',
      message: 'The build failed with exit code 3: Error: the flux is off',
      line: 'Error: the flux is off',
    })
  })

  test('an empty log', () => {
    expect(explainFailure([], 'start', null)).toEqual({ code: 'start_failed', message: 'The app failed.', hint: 'The log of the step says more.' })
  })

  test('exit code 137 is a lack of memory', () => {
    expect(explainFailure(['building'], 'build', 137)).toMatchObject({ code: 'out_of_memory' })
  })

  test('a line of a megabyte is cut', () => {
    expect(explainFailure([`Error: ${'x'.repeat(1_000_000)}`], 'build', 1).message.length).toBeLessThan(600)
  })
})
