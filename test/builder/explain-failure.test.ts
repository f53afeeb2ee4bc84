import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { explainFailure, type FailedStep } from '../../server/builder/index.ts'
import { failurePatterns } from '../../server/builder/failure-patterns.ts'

/**
 * Output of real tools, each below `## STEP · NAME · parts of the message · of the hint · and of the quoted line`, with the
 * code if it is not the step's own; or below `## good · NAME`, if nothing failed. `\e` is the escape character.
 */
const samples = readFileSync(new URL('failures.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split(/\n\n(?=## )/)
  .map((sample) => {
    const [head = '', ...output] = sample.replaceAll('\\e', '\u001b').split('\n')
    const [step = '', name = '', message = '', hint = '', line = '', code = `${step}_failed`] = head.slice('## '.length).split(' · ')
    return { step, name, message, hint, line, code, output }
  })

const ended = { code: 'build_failed', message: '`make` ended with exit code 3 after 1.0 s.', hint: 'Look at it.' } as const

describe('explains the output of known tools', () => {
  test.for(samples.filter(({ step }) => step !== 'good'))('$step: $name', ({ step, output, code, message, hint, line }) => {
    const explained = explainFailure(output, step as FailedStep, { ...ended, code: `${step as FailedStep}_failed` })
    expect(explained.message.toLowerCase()).toContain(message.toLowerCase())
    // The command, or the line of the Dockerfile, stays.
    expect(explained.message).toMatch(/^`make` ended with exit code 3 after 1\.0 s\. /)
    expect(explained.hint).toContain(hint)
    expect(explained.line).toContain(line)
    expect(explained.code).toBe(code)
    expect(`${explained.message} ${explained.hint}`, 'no group of a pattern is left open').not.toMatch(/\$\d|undefined|: \.|\(\)/)
  })
})

describe('finds no failure in a successful build', () => {
  test.for(samples.filter(({ step }) => step === 'good'))('$name', ({ output }) => {
    const fitting = output.flatMap((line) => failurePatterns.filter(({ pattern }) => pattern.test(line)).map(({ name }) => `${name}: ${line}`))
    expect(fitting).toEqual([])
  })
})

describe('output without a known pattern', () => {
  test('reports how the command ended, with the last lines as output and without stack frames', () => {
    const explained = explainFailure(['step 1 ok', 'Error: the flux is off', '    at run (/app/a.js:1:1)', '', 'Node.js v24.21.0'], 'build', ended)
    expect(explained).toEqual({ ...ended, hint: 'Look at it. Last output:\nstep 1 ok\nError: the flux is off' })
  })

  test('leaves out the progress lines of Docker’s builder', () => {
    const lines = ['[stage-0 1/4] FROM node:24', 'CACHED [stage-0 2/4] WORKDIR /app', '[3/4] COPY . .', '[build 4/4] RUN make', 'flux is off']
    expect(explainFailure(lines, 'build', ended).hint).toBe('Look at it. Last output:\nflux is off')
  })

  test('an empty log', () => {
    expect(explainFailure([], 'build', ended)).toEqual(ended)
  })

  test('quotes the error, not the source line that Node prints above it', () => {
    const lines = [
      '/app/server.js:2',
      "throw new Error('DATABASE_URL is not set')",
      '^',
      '',
      'Error: DATABASE_URL is not set',
      '    at /app/server.js:2:7',
    ]
    expect(explainFailure(lines, 'start', ended).line).toBe('Error: DATABASE_URL is not set')
  })

  test('truncates a line of a megabyte, and shows at most five lines', () => {
    const lines = Array.from({ length: 100 }, (_, n) => `line ${n} ${'x'.repeat(1_000_000)}`)
    const { hint } = explainFailure(lines, 'build', ended)
    expect(hint.length).toBeLessThan(1_200)
    expect(hint.split('\n').map((line) => line.slice(0, 7))).toEqual(['Look at', ...[95, 96, 97, 98, 99].map((n) => `line ${n}`)])
  })
})
